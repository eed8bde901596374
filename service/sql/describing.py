"""Describing: which parameters a statement has and which columns it returns, before it is run.

The parameters are NULLs of the types that their places want, or that the client says. DuckDB tells the types
of the columns over relations without rows, so nothing is read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from engine.schema import TEXT, Schema, Type
from planner.adhoc.adhoc_query import AdhocQuery, adhoc_query
from planner.adhoc.returning import returning_query
from planner.limits import within
from planner.long_texts import long_query
from planner.parsing.parameters import Given, Parameters
from planner.parsing.script import Piece
from planner.parsing.vocabulary import with_vocabulary
from planner.statements.parameter_types import parameter_types
from planner.statements.statements import Delete, Insert, LongQuery, Merge, Select, Statement, Update
from service.reading.duck import Answer, QueryEvaluator
from service.reading.results import is_written
from service.sql.allowing import seen
from service.sql.dml import table_of
from service.sql.script_failures import numbered
from service.sql.script_run import ScriptRun

_READS = "EXPLAIN", "SHOW", "DESCRIBE", "DESC", "PREVIEW"
"""The first words of statements whose columns are known when they have run."""


@dataclass(frozen=True, eq=False)
class DescribingRun(ScriptRun):
    """Describes statements for a caller."""

    async def parameters(self, piece: Piece, given: Sequence[Type | None]) -> tuple[Type | None, ...]:
        """The types of the parameters: those that the client has given, else those that the places want."""
        principal = self.caller.principal

        def find() -> tuple[Type | None, ...]:
            definitions = seen(self.timeline.definitions(), principal)

            def schema_of(name: str) -> Schema | None:
                return definitions[name].schema if name in definitions else None

            with within(self._limits):
                known = with_vocabulary(replace(piece, names=self.names()), self.runtime.vocabulary())
                return parameter_types(known, schema_of)

        with numbered(piece):
            found = await self._lane(piece.length).run(find)
        length = max(len(found), len(given))
        both = zip(_filled(given, length), _filled(found, length), strict=True)
        return tuple(told or wanted for told, wanted in both)

    async def answer(self, piece: Piece, types: Sequence[Type | None]) -> Answer | None:
        """The columns that the statement returns, with parameters of these types."""
        nulls = {str(number): Given(None, type or TEXT) for number, type in enumerate(types, 1)}
        piece = replace(piece, parameters=Parameters(nulls, True))
        with numbered(piece):
            if piece.words(1)[:1] in {(word,) for word in _READS}:
                (result,) = await self.run([piece])
                return result.answer
            statement = await self._lane(piece.length).run(self._parsed, piece)
            await self._check_allowed(statement)
            statement = await self._counted(statement, is_described=True)
            found = await self._lane(piece.length).run(self._query, statement)
            if found is None:
                return None
            query, shown = found
            times = await self._times([query])
            system = self._system_of(query)

            def work(duck: QueryEvaluator) -> Answer:
                sight = replace(self._sight(times, duck), is_empty=not query.lists, system=system)
                return shown(sight.describe(query, is_written))

            return await self.queries.readers.in_turn(self.caller, work)

    def _query(self, statement: Statement) -> tuple[AdhocQuery, Callable[[Answer], Answer]] | None:
        """The query whose columns the statement returns, and what shows its answer."""
        match statement:
            case Select() | LongQuery():
                task = self._task(statement)
                return task.queries[0] if task.queries else self._query_of_text(statement), task.shown
            case Insert() | Update() | Delete() | Merge():
                with within(self._limits):
                    definitions = seen(self.timeline.definitions(), self.caller.principal)
                    table = table_of(statement.table, statement.tree.this, definitions)
                    query = returning_query(statement.tree, table.schema, definitions)
                    return None if query is None else (query, lambda answer: answer)
        return None

    def _query_of_text(self, statement: Select | LongQuery) -> AdhocQuery:
        """The query of a statement that is answered without one."""
        with within(self._limits):
            definitions = seen(self.timeline.definitions(), self.caller.principal)
            if isinstance(statement, LongQuery):
                return long_query(statement.piece, definitions)
            return adhoc_query(statement.query.copy(), definitions)


def _filled(types: Sequence[Type | None], length: int) -> tuple[Type | None, ...]:
    return (*types, *[None] * (length - len(types)))
