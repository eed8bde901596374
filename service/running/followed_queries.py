"""Queries that clients follow: each is maintained as long as somebody follows it.

A query is built as a new view is, beside the writer and under the same limits. Equal queries share one view.
When the last follower leaves, the view goes, and so does a build that is not finished. Belongs to the event
loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

from engine.state.snapshot import Snapshot
from service.accounts.principals import MayRead
from service.definitions.definition import Definition
from service.definitions.intended_query import IntendedQuery, intend_query
from service.errors import Overloaded, Unavailable
from service.reading.callers import Caller
from service.reading.lanes import Lane
from service.running.builds import Builds
from service.running.state import State
from service.writing.writer import Writer


@dataclass(eq=False)
class FollowedQuery:
    """`making` builds it; its result is the query's definition."""

    name: str
    meaning: Hashable
    making: asyncio.Future[Definition]
    followers: int = 0

    @property
    def definition(self) -> Definition:
        """The query as a view, once it is built."""
        return self.making.result()

    def is_usable(self, snapshot: Snapshot) -> bool:
        """Whether one more follower can have it, because it is built or being built."""
        if not self.making.done():
            return True
        there = snapshot.relations.get(self.name)
        return there is not None and there.failure is None


class FollowedQueries:
    """The queries over one timeline. Those over its branches share its lane, and count with its own."""

    def __init__(
        self, state: State, builds: Builds, writer: Writer, others: FollowedQueries | None = None
    ) -> None:
        """`others` are those of the timeline that it has parted from."""
        self._state = state
        self._builds = builds
        self._writer = writer
        self._planning: Lane = Lane("followed", 2) if others is None else others._planning
        self._counted: set[FollowedQuery] = set() if others is None else others._counted
        self._all: dict[Hashable, FollowedQuery] = {}
        self._drops: set[asyncio.Task[None]] = set()

    @property
    def number(self) -> int:
        """How many there are of the service and all its branches."""
        return len(self._counted)

    async def enter(self, sql: str, dialect: str, readable: MayRead, caller: Caller) -> FollowedQuery:
        """Follows a query over what is `readable`; returns when it can be read. Call `leave` at the end.

        Raises a PlannerError, Overloaded, CallerGone, and what ends the building of a view.
        """
        intended = await self._planning.run(intend_query, self._state.definitions, sql, dialect, readable)
        query = self._all.get(intended.meaning)
        if query is None or not query.is_usable(self._state.engine.snapshot):
            query = self._begun(intended)
        query.followers += 1
        try:
            await _made(query.making, caller)
        except BaseException:
            self.leave(query)
            raise
        return query

    def leave(self, query: FollowedQuery) -> None:
        query.followers -= 1
        if query.followers:
            return
        self._forget(query)
        if query.making.done():
            self._drop(query)
        else:
            self._builds.cancel(query.name)
            query.making.add_done_callback(lambda _: self._drop(query))

    def close(self) -> None:
        self._planning.close()

    def _begun(self, intended: IntendedQuery) -> FollowedQuery:
        most = self._state.settings.followed_queries
        if self.number >= most:
            raise Overloaded(
                f"{most} queries are followed",
                "follow a view, or raise FRESHET_FOLLOWED_QUERIES",
                code="too_many_feeds",
            )
        name = intended.definition.name
        making = asyncio.ensure_future(self._builds.make(name, lambda: intended))
        query = self._all[intended.meaning] = FollowedQuery(name, intended.meaning, making)
        self._counted.add(query)
        making.add_done_callback(partial(self._ended, query))
        return query

    def _ended(self, query: FollowedQuery, making: asyncio.Future[Definition]) -> None:
        if making.cancelled() or making.exception() is not None:
            self._forget(query)

    def _forget(self, query: FollowedQuery) -> None:
        self._counted.discard(query)
        if self._all.get(query.meaning) is query:
            del self._all[query.meaning]

    def _drop(self, query: FollowedQuery) -> None:
        """Drops the view, without waiting for that."""
        task = asyncio.ensure_future(self._dropped(query.name))
        self._drops.add(task)
        task.add_done_callback(self._drops.discard)

    async def _dropped(self, name: str) -> None:
        with suppress(Unavailable):  # the service ends, and the view with it
            await self._writer.run(partial(_drop, self._state, name))


def _drop(state: State, name: str) -> None:
    """Drops a query's view. Runs on the writer's thread."""
    state.definitions.queries.drop([name])
    state.definitions.clock.stop_unless_read()


async def _made(making: asyncio.Future[Definition], caller: Caller) -> None:
    """Waits until a query is built, or its caller leaves."""
    loop = asyncio.get_running_loop()
    over = asyncio.Event()

    def end() -> None:
        loop.call_soon_threadsafe(over.set)

    making.add_done_callback(lambda _: over.set())
    with caller.ending(end):
        await over.wait()
    caller.check()
    making.result()
