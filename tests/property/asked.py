"""A view's own text asked ad hoc: what the SQL door answers to it, by DuckDB over a snapshot."""

from __future__ import annotations

from collections.abc import Mapping

import duckdb
import pyarrow as pa

from engine.runtime.engine import Engine
from planner.adhoc.adhoc_query import adhoc_query
from planner.parsing.parse import parse_query
from planner.relation import Relation
from service.reading.duck import Answer, Duck
from service.reading.given_tables import arrow_table
from service.settings.query_limits import QueryLimits
from tests.property.duck import Bag, normalise


class SourceFailed(Exception):
    """A view that the query reads has failed: its rows are those of an earlier epoch."""


class Asker:
    """The evaluator of ad-hoc queries, over an engine's newest epoch."""

    def __init__(self, engine: Engine, relations: Mapping[str, Relation]) -> None:
        self._engine = engine
        self._relations = relations
        self._duck = Duck(QueryLimits(seconds=5))
        self._types = duckdb.connect()
        self._types.execute("SET TimeZone = 'UTC'")

    def close(self) -> None:
        self._duck.close()
        self._types.close()

    def rows(self, sql: str, dialect: str) -> Bag:
        """The answer to a query, as normalised values; raises what the SQL door answers with."""
        query = adhoc_query(parse_query(sql, dialect), self._relations)
        tables = {reference.alias: self._table(reference.relation) for reference in query.references}
        answer = self._duck.run(query, tables)
        return normalise(self._plain(answer))

    def _table(self, name: str) -> pa.Table:
        snapshot = self._engine.snapshot
        if snapshot.failure(name):
            raise SourceFailed(name)
        return arrow_table(snapshot.rows(name), snapshot.schema(name), self._engine.dictionary)

    def _plain(self, answer: Answer) -> list[tuple[object, ...]]:
        """The rows as DuckDB gives the referee's to Python: Arrow has other intervals and UUIDs."""
        names = [f"c{place}" for place in range(len(answer.types))]
        columns = ", ".join(f"CAST({name} AS {type})" for name, type in zip(names, answer.types, strict=True))
        self._types.register("answer", answer.table.rename_columns(names))
        return self._types.execute(f"SELECT {columns} FROM answer").fetchall()
