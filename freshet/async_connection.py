"""The asynchronous connection, with the tables and views that it reaches.

The calls, what is sent again, and how answers are read are those of `freshet/connection.py`: only the waiting
differs. A connection belongs to one event loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, TypeVar

from freshet.async_operations import AsyncOperations
from freshet.connection import AsOf, ValidAt
from freshet.contract import calls
from freshet.contract.api_call import ApiCall
from freshet.contract.branch_calls import on_branch
from freshet.contract.changefeed import Change
from freshet.contract.descriptions import Acknowledgement, TableDescription, ViewDescription
from freshet.contract.gathering_changes import GatheredChanges
from freshet.contract.plan import Plan
from freshet.errors import UnreachableError
from freshet.sending.following import AsyncFeed, FeedSource
from freshet.sending.retrying import ApiOutcome, Retries, conversation
from freshet.sending.senders import AsyncSender
from freshet.values import row_bodies
from freshet.values.rows import Rows, SqlRows
from freshet.values.sql_parameters import Parameters

T = TypeVar("T")


class AsyncConnection(AsyncOperations):
    """A service, as `connect_async` finds it. Leaving it as a context manager closes it."""

    def __init__(self, sender: AsyncSender, retries: Retries, branch: str | None = None) -> None:
        self._sender = sender
        self.retries = retries
        self._branch = branch

    def on_branch(self, name: str) -> AsyncConnection:
        return AsyncConnection(self._sender, self.retries, name)

    async def __aenter__(self) -> AsyncConnection:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        await self._sender.close()

    async def run(self, call: ApiCall[T]) -> T:
        """Sends a call, again if that is safe and may help, and returns its result."""
        call = on_branch(call, self._branch)
        steps = conversation(call, self.retries)
        pause = next(steps)
        while True:
            if pause:
                await asyncio.sleep(pause)
            try:
                pause = steps.send(await self._outcome(call))
            except StopIteration as end:
                return end.value

    def stream(self, call: ApiCall[Any]) -> AsyncIterator[bytes]:
        """Sends a call once, and returns the body of its answer as it comes."""
        return self._sender.stream(on_branch(call, self._branch))

    async def _outcome(self, call: ApiCall[T]) -> ApiOutcome:
        try:
            return await self._sender.send(call)
        except UnreachableError as error:
            return error

    async def status(self) -> dict[str, Any]:
        return await self.run(calls.status())

    async def tables(self) -> list[TableDescription]:
        return await self.run(calls.tables())

    async def views(self) -> list[ViewDescription]:
        return await self.run(calls.views())

    def table(self, name: str) -> AsyncTable:
        return AsyncTable(self, name)

    def view(self, name: str) -> AsyncView:
        return AsyncView(self, name)

    async def create_view(
        self,
        name: str,
        sql: str,
        *,
        dialect: str = calls.DIALECT,
        or_replace: bool = False,
        budget: Mapping[str, float] | None = None,
    ) -> AsyncView:
        await self.run(calls.create_view(name, sql, dialect, or_replace, budget))
        return self.view(name)

    async def estimate_view(
        self,
        name: str,
        sql: str,
        *,
        dialect: str = calls.DIALECT,
        budget: Mapping[str, float] | None = None,
    ) -> dict[str, Any]:
        return await self.run(calls.estimate_view(name, sql, dialect, budget))

    async def create_assertion(
        self, name: str, sql: str, *, warns: bool = False, dialect: str = calls.DIALECT
    ) -> AsyncView:
        await self.run(calls.create_assertion(name, sql, dialect, "warn" if warns else "refuse"))
        return self.view(name)

    async def sql(
        self, sql: str, parameters: Parameters | None = None, *, dialect: str = calls.DIALECT
    ) -> SqlRows:
        return await self.run(calls.statement(sql, parameters, dialect))

    async def script(
        self, sql: str, parameters: Parameters | None = None, *, dialect: str = calls.DIALECT
    ) -> list[SqlRows]:
        return await self.run(calls.script(sql, parameters, dialect))

    @asynccontextmanager
    async def changing(self, *, idempotency_key: str | None = None) -> AsyncIterator[GatheredChanges]:
        gathered = GatheredChanges()
        yield gathered
        described = {name: await self.run(calls.table(name)) for name in gathered.described}
        bodies = gathered.bodies(described.get)
        if bodies:
            gathered.epoch = (await self.run(calls.change_several(bodies, idempotency_key))).epoch


class _AsyncRelation:
    kind = ""

    def __init__(self, connection: AsyncConnection, name: str) -> None:
        self._connection = connection
        self.name = name

    async def drop(self) -> None:
        await self._connection.run(calls.drop(self.kind, self.name))

    async def _rows(self, *wishes: Any) -> Rows:
        return await self._connection.run(calls.rows(self.kind, self.name, *wishes))

    async def _changes(self, since: int, until: int | None, skip_errors: bool = False) -> list[Change]:
        columns = await self._connection.run(calls.columns(self.kind, self.name))
        return await self._connection.run(
            calls.changes(self.kind, self.name, since, until, columns, skip_errors)
        )

    def _follow(self, since: int | None, skip_errors: bool = False) -> AsyncFeed:
        return AsyncFeed(self._connection, FeedSource(self.kind, self.name, skip_errors), since)


class AsyncTable(_AsyncRelation):
    """`Table`, with methods to be awaited."""

    kind = calls.TABLES

    async def create(self, columns: object, primary_key: Sequence[str] = ()) -> AsyncTable:
        await self._connection.run(calls.create_table(self.name, columns, primary_key))
        return self

    async def describe(self) -> TableDescription:
        return await self._connection.run(calls.table(self.name))

    async def insert(self, rows: object, *, idempotency_key: str | None = None) -> Acknowledgement:
        return await self._change(row_bodies.body_of("insert", rows), idempotency_key)

    async def upsert(self, rows: object, *, idempotency_key: str | None = None) -> Acknowledgement:
        return await self._change(row_bodies.body_of("upsert", rows), idempotency_key)

    async def delete(self, rows: object, *, idempotency_key: str | None = None) -> Acknowledgement:
        return await self._change(row_bodies.body_of("delete", rows), idempotency_key)

    async def apply(self, changes: object, *, idempotency_key: str | None = None) -> Acknowledgement:
        return await self._change(row_bodies.body_of_changes(changes), idempotency_key)

    async def _change(self, body: tuple[str, bytes], idempotency_key: str | None) -> Acknowledgement:
        return await self._connection.run(calls.change(self.name, body, idempotency_key))

    async def rows(
        self,
        *,
        as_of: AsOf | None = None,
        valid_at: ValidAt | None = None,
        where: str | None = None,
        order_by: str | None = None,
        limit: int | None = None,
    ) -> Rows:
        return await self._rows(as_of, where, order_by, limit, valid_at)

    async def changes(self, since: int = 0, until: int | None = None) -> list[Change]:
        return await self._changes(since, until)

    def follow(self, since: int | None = None) -> AsyncFeed:
        return self._follow(since)


class AsyncView(_AsyncRelation):
    """`View`, with methods to be awaited."""

    kind = calls.VIEWS

    async def describe(self) -> ViewDescription:
        return await self._connection.run(calls.view(self.name))

    async def rebuild(self) -> None:
        await self._connection.run(calls.rebuild(self.name))

    async def plan(self, stage: str = "optimized") -> Plan:
        text = await self._connection.run(calls.plan_text(self.name, stage, "text"))
        return Plan(stage, text, await self._connection.run(calls.plan_text(self.name, stage, "mermaid")))

    async def why(self, as_of: AsOf | None = None, **row: object) -> dict[str, Any]:
        return await self._connection.run(calls.why(self.name, row, as_of))

    async def why_not(self, as_of: AsOf | None = None, **row: object) -> dict[str, Any]:
        return await self._connection.run(calls.why_not(self.name, row, as_of))

    async def rounds(self, name: str | None = None, as_of: AsOf | None = None) -> dict[str, Any]:
        return await self._connection.run(calls.rounds(self.name, name, as_of))

    async def why_changed(self, **row: object) -> list[dict[str, Any]]:
        return await self._connection.run(calls.why_changed(self.name, row))

    async def rows(
        self,
        *,
        as_of: AsOf | None = None,
        valid_at: ValidAt | None = None,
        where: str | None = None,
        order_by: str | None = None,
        limit: int | None = None,
        skip_errors: bool = False,
    ) -> Rows:
        return await self._rows(as_of, where, order_by, limit, valid_at, skip_errors)

    async def changes(
        self, since: int = 0, until: int | None = None, *, skip_errors: bool = False
    ) -> list[Change]:
        return await self._changes(since, until, skip_errors)

    def follow(self, since: int | None = None, *, skip_errors: bool = False) -> AsyncFeed:
        return self._follow(since, skip_errors)
