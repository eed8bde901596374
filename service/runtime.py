"""The running service without its doors: what the REST routes and the SQL door both call.

A `Runtime` is opened once a process over one data directory, by `Runtime.open`. Reading
goes to the engine's snapshot, from any thread. Everything that changes something is
awaited: it waits in the writer's queue and takes place on the writer's thread
(`service/writer.py`), durable before it is visible and visible before it is
acknowledged. Names are as the catalog has them: a door folds case before it calls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from typing import TypeVar

from engine.dictionary import Dictionary
from engine.runtime import Snapshot
from engine.schema import Schema
from planner.catalog import Relation
from service.changes import Applied, Idempotency, TableChanges
from service.core import Core
from service.definitions import Definition
from service.settings import Settings
from service.transaction import Transaction
from service.writer import Writer

T = TypeVar("T")


class Runtime:
    def __init__(self, core: Core, writer: Writer) -> None:
        self.settings = core.settings
        self.metrics = core.metrics
        self._core = core
        self._writer = writer

    @classmethod
    def open(cls, settings: Settings) -> Runtime:
        """Recovers what the data directory holds and starts the writer. Blocks until all is readable."""
        core = Core.recover(settings)
        return cls(core, Writer(core, settings))

    def close(self) -> None:
        """Finishes what waits, writes a checkpoint and lets go of the data directory. Blocks."""
        self._writer.close()
        self._core.close()

    # Reading: any thread, nothing awaited but the database.

    @property
    def snapshot(self) -> Snapshot:
        """The newest published state: immutable, `snapshot.upper - 1` is its newest epoch."""
        return self._core.engine.snapshot

    @property
    def dictionary(self) -> Dictionary:
        return self._core.engine.dictionary

    def catalog(self) -> Mapping[str, Relation]:
        """Every table and view, as the planner takes them. Immutable; replaced by each DDL statement."""
        return self._core.definitions.relations

    def definitions(self) -> Mapping[str, Definition]:
        """Every table and view with its id, SQL, plan and the epoch of its creation."""
        return self._core.definitions.all

    def definition(self, name: str, *, view: bool | None = None) -> Definition:
        """The table or view called `name`; NotFound if there is none, or it is not of the kind wished for."""
        return self._core.definitions.get(name, view=view)

    def failure(self, name: str) -> str | None:
        """Why the view is quarantined; None for a healthy one, and for a table."""
        definition = self.definition(name)
        if not definition.is_view:
            return None
        return definition.failure or self.snapshot.failure(name)

    async def epoch_at(self, time: datetime) -> int:
        """The newest epoch committed at or before `time` (aware); 0 if there is none."""
        return await self._writer.reading(partial(self._core.epoch_at, time))

    # Changing: awaited, on the writer's thread, in the order of the calls.

    async def create_table(
        self, name: str, schema: Schema, key: tuple[int, ...] | None, *, exists_ok: bool = False
    ) -> Definition:
        """A new empty table; `key` are the columns of its primary key, None makes it a bag."""
        return await self._writer.run(
            partial(self._core.definitions.create_table, name, schema, key, exists_ok=exists_ok)
        )

    async def drop_table(self, name: str, *, missing_ok: bool = False) -> Definition | None:
        """Conflict while a view reads it. None if there was none and that was fine."""
        return await self._writer.run(
            partial(self._core.definitions.drop, name, view=False, missing_ok=missing_ok)
        )

    async def create_view(
        self, name: str, sql: str, dialect: str = "postgres", *, or_replace: bool = False
    ) -> Definition:
        """A new view of the query `sql`, hydrated from the kept history of its tables: readable at its epochs."""
        return await self._writer.run(
            partial(self._core.definitions.create_view, name, sql, dialect, or_replace=or_replace)
        )

    async def drop_view(self, name: str, *, missing_ok: bool = False) -> Definition | None:
        """Conflict while another view reads it. None if there was none and that was fine."""
        return await self._writer.run(
            partial(self._core.definitions.drop, name, view=True, missing_ok=missing_ok)
        )

    async def apply(
        self, changes: Mapping[str, TableChanges], idempotency: Idempotency | None = None
    ) -> Applied:
        """The changes, by table, as one epoch, all or nothing. Conflict, Invalid or NotFound: nothing was applied."""
        return await self._writer.apply(changes, idempotency)

    async def transact(self, work: Callable[[Transaction], T]) -> tuple[Applied, T]:
        """Calls `work` on the writer's thread; what it applies becomes one epoch, nothing does if it raises.

        Work that applies nothing makes no epoch: `Applied` has the newest one and 0 changes.
        """
        return await self._writer.run(partial(self._core.transact, work))
