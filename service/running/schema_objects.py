"""Schemas, and what they have beside tables and views: types, functions, sequences and indexes.

As all changes, these are awaited, and run on the writer's thread in the order of the calls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from engine.schema import Type
from planner.parsing.sql_functions import SqlFunction
from planner.relation_names import TEMPORARY, schema_of
from planner.statements.sequences import Counting
from service.definitions.counters import counter_called, has_counter
from service.definitions.definition import Definition
from service.definitions.dropping_schemas import drop_schemas
from service.definitions.indexing import NewIndex, create_index, drop_index
from service.definitions.relabelling import NewLabel, add_label
from service.definitions.renaming_schemas import rename_schema
from service.running.leading import Leading
from service.running.process_memory import MemoryMark
from service.running.state import State


class SchemaObjects:
    """Those of a service that leads; `known` are the tables and views that readers see."""

    def __init__(
        self,
        state: State,
        leading: Leading,
        memory: MemoryMark,
        known: Callable[[], Mapping[str, Definition]],
    ) -> None:
        self._state = state
        self._leading = leading
        self._memory = memory
        self._known = known

    def drop_left_over(self) -> None:
        """Drops the temporary schemas of sessions that have ended with the last leader. Blocks."""
        left = [name for name in self._state.definitions.schemas.all if name.startswith(TEMPORARY)]
        if left:
            self._leading.writer.call(self._dropping(left, missing_ok=False, cascade=True))

    def _dropping(self, names: Sequence[str], missing_ok: bool, cascade: bool) -> Callable[[], None]:
        state = self._state
        parts = (state.types, state.functions, state.definitions.sequences)
        return partial(drop_schemas, state.definitions, parts, names, missing_ok, cascade)

    async def create_temporary_schema(self, name: str) -> None:
        """Makes the schema of a session's temporary tables. `drop_schemas` ends it; else the next start."""
        create = partial(self._state.definitions.schemas.create, name, for_system=True)
        await self._leading.writer.run(create)

    async def create_schema(self, name: str, *, exists_ok: bool = False) -> None:
        await self._leading.writer.run(partial(self._state.definitions.schemas.create, name, exists_ok))

    async def comment_on_schema(self, name: str, text: str | None) -> None:
        """Sets the comment on a schema. Removes it if there is no text."""
        await self._leading.writer.run(partial(self._state.definitions.schemas.comment, name, text))

    async def rename_schema(self, name: str, to: str) -> None:
        """Renames a schema with all that is in it; large views are built again before this returns."""
        leading, state = self._leading, self._state
        rename = partial(rename_schema, leading.alterations, state.types, state.functions, name, to)
        await leading.builds.returned(await leading.writer.run(rename))

    async def drop_schemas(self, *names: str, missing_ok: bool = False, cascade: bool = False) -> None:
        """Drops schemas, in one epoch. Raises Conflict for one that is not empty, unless `cascade` drops
        all that is in it, and all that reads this."""
        leading = self._leading
        if cascade:
            for view in leading.builds.all:
                if schema_of(view) in names:
                    leading.builds.cancel(view)
        await leading.writer.run(self._dropping(names, missing_ok, cascade))
        leading.cancel_dropped(self._known())

    async def create_index(self, wanted: NewIndex) -> None:
        """Creates an index, and returns when it can be used. If it cannot be built, there is none.

        A unique one is a constraint, which is checked before it is there.
        """
        leading, of = self._leading, self._state.definitions
        self._memory.check("an index")
        name = await leading.writer.run(partial(create_index, of, leading.alterations, wanted))
        if name is None:
            return
        try:
            await leading.writer.run(lambda: None)  # it is begun once its definition can be seen
            await leading.indexes.built(name)
        except Exception:
            await leading.writer.run(partial(drop_index, of, leading.alterations, name, True))
            raise

    async def drop_index(self, *names: str, missing_ok: bool = False) -> None:
        """Drops indexes, also those of constraints that CREATE UNIQUE INDEX has made."""
        of, alterations = self._state.definitions, self._leading.alterations
        for name in names:
            await self._leading.writer.run(partial(drop_index, of, alterations, name, missing_ok))

    async def create_type(self, name: str, type: Type, *, exists_ok: bool = False) -> None:
        """Names a type."""
        await self._leading.writer.run(partial(self._state.types.create, name, type, exists_ok))

    async def add_label(self, name: str, added: NewLabel, *, exists_ok: bool = False) -> None:
        """Adds a label to a type and to all that has its labels; large views are built again before this
        returns."""
        leading, state = self._leading, self._state

        def add() -> list[str]:
            intended = [build.intended for build in leading.builds.all.values()]
            building = [each.definition for each in intended if each.rebuilt is None]
            parts = (leading.alterations, state.types, state.functions)
            return add_label(*parts, name, added, exists_ok, building)

        await leading.builds.returned(await leading.writer.run(add))

    async def drop_type(self, *names: str, missing_ok: bool = False) -> None:
        """Drops the names of types. Columns of the types stay as they are."""
        for name in names:
            await self._leading.writer.run(partial(self._state.types.drop, name, missing_ok))

    async def create_function(
        self,
        *made: SqlFunction,
        or_replace: bool = False,
        exists_ok: bool = False,
    ) -> None:
        """Stores overloads of a function."""
        create = partial(self._state.functions.create, made, or_replace, exists_ok)
        await self._leading.writer.run(create)

    async def drop_function(
        self, name: str, parameters: int | None, *, missing_ok: bool = False, all_overloads: bool = False
    ) -> None:
        """Drops a function. What has called it keeps its body."""
        drop = partial(self._state.functions.drop_function, name, parameters, missing_ok, all_overloads)
        await self._leading.writer.run(drop)

    async def create_sequence(self, name: str, counting: Counting, *, exists_ok: bool = False) -> None:
        state = self._state
        create = partial(state.definitions.sequences.create, name, counting, exists_ok, state.definitions.all)
        await self._leading.writer.run(create)

    async def drop_sequence(self, name: str, *, missing_ok: bool = False) -> None:
        """Drops a sequence. Raises Conflict while a table counts with it."""
        of = self._state.definitions

        def drop() -> None:
            of.sequences.drop_unused(name, missing_ok, of.counted_by(name))

        await self._leading.writer.run(drop)

    async def next_number(self, name: str) -> int:
        """The next number of a sequence, or of an identity column by the name of its counter. Raises
        NotFound."""
        counter = partial(counter_called, self._state.definitions, name)
        return int((await self._leading.writer.run(lambda: counter().take(1)))[0])

    def is_counted_by_rows(self, name: str) -> bool:
        """Whether rows of a table take the numbers of a sequence."""
        of = self._state.definitions
        return bool(of.counted_by(name)) or name not in of.sequences.all

    async def set_sequence(
        self, name: str, number: int | None, *, is_taken: bool, missing_ok: bool = False
    ) -> None:
        """Lets a sequence go on after a number, or with it; by default with its first."""
        definitions = self._state.definitions

        def change() -> None:
            if missing_ok and not has_counter(definitions, name):
                return
            counter = counter_called(definitions, name)
            counter.set(counter.first if number is None else number, is_taken)

        await self._leading.writer.run(change)
