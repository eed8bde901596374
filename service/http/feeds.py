"""Feeds as event streams: which are open, how many may be, and what those of a relation's changes send.

A feed looks at the newest snapshot when the pulse beats. It keeps none of it while it waits for a beat or for
its client to read.
"""

from __future__ import annotations

import asyncio
import time
import weakref
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Protocol

import orjson
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from engine.errors import EngineError
from engine.state.snapshot import RelationSnapshot
from service.accounts.principals import ANYONE, Principal
from service.definitions.definition import Definition
from service.errors import NotFound, Overloaded, ServiceError, Unauthenticated, Unavailable, problem_of
from service.http.negotiation import EVENTS
from service.problems import members
from service.reading.feed_pages import FeedPage, FeedPages
from service.reading.followers import Follower
from service.reading.reads import check_health
from service.running.runtime import Runtime

KEEP_ALIVE = 15.0
"""Seconds of silence after which a comment shows that the stream is alive."""


class EventFeed(Follower, Protocol):
    """What an event stream sends, and to whom."""

    def events(self) -> AsyncIterator[bytes]: ...


@dataclass(frozen=True, eq=False)
class OpenFeed:
    """`opened` is in seconds since 1970."""

    feed: Follower
    opened: float


class Feeds:
    """The open feeds. Belongs to the event loop."""

    def __init__(self, runtime: Runtime, pages: FeedPages) -> None:
        self._runtime = runtime
        self._pages = pages
        self._all: dict[Follower, OpenFeed] = {}

    @property
    def open(self) -> int:
        """The number of open feeds."""
        return len(self._all)

    @property
    def all(self) -> list[OpenFeed]:
        """The open feeds, the oldest first."""
        return list(self._all.values())

    def response(
        self, definition: Definition, since: int, skip_errors: bool, principal: Principal = ANYONE
    ) -> StreamingResponse:
        """Events of the epochs after `since`, until the relation is dropped, the principal may no longer read
        it, or the service stops."""
        return self.of(_Feed(self._runtime, self._pages, definition, since, skip_errors, principal))

    def of(self, feed: EventFeed) -> StreamingResponse:
        """The events of a feed, which counts as open until they end."""
        return _FeedResponse(self, feed)

    def enter(self, feed: Follower) -> None:
        """Counts a feed. Raises Overloaded if too many are open."""
        most = self._runtime.settings.feeds
        if self.open >= most:
            raise Overloaded(
                f"{most} changefeeds are open",
                "try again later, or raise FRESHET_FEEDS",
                code="too_many_feeds",
            )
        self._all[feed] = OpenFeed(feed, time.time())

    def leave(self, feed: Follower) -> None:
        del self._all[feed]


class _FeedResponse(StreamingResponse):
    """A feed that counts from its beginning to its end, whatever ends it."""

    def __init__(self, feeds: Feeds, feed: EventFeed) -> None:
        super().__init__(feed.events(), media_type=EVENTS, headers={"Cache-Control": "no-store"})
        self._feeds = feeds
        self._feed = feed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._feeds.enter(self._feed)
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._feeds.leave(self._feed)


class _Feed:
    """The changes of a relation. `since` is the last epoch that has been sent."""

    def __init__(
        self,
        runtime: Runtime,
        pages: FeedPages,
        definition: Definition,
        since: int,
        skip_errors: bool,
        principal: Principal,
    ) -> None:
        self._runtime = runtime
        self._pages = pages
        self._definition = definition
        self.since = since
        self._skip_errors = skip_errors
        self.principal = principal
        self._asked: tuple[int, weakref.ref[RelationSnapshot]] | None = None
        """The newest epoch when the last page was asked for, and the relation as it was then."""

    @property
    def follows(self) -> str:
        return self._definition.name

    async def events(self) -> AsyncIterator[bytes]:
        pulse, clock = self._runtime.pulse, asyncio.get_running_loop().time
        beat, silent_since = pulse.waiter(), clock()
        try:
            while not self._runtime.closing:
                try:
                    task = self._begin()
                    page = None if task is None else await asyncio.shield(task)
                except (ServiceError, EngineError) as error:
                    problem = problem_of(error)
                    if problem is not None:
                        yield b"event: problem\ndata: " + orjson.dumps(members(problem)) + b"\n\n"
                    return
                if page is not None:
                    async for piece in page.pieces(self._pages.lane):
                        yield piece
                        silent_since = clock()
                    self.since = page.until
                    if self._is_behind():
                        continue
                try:
                    # Beats may come all the time without a change of this relation.
                    async with asyncio.timeout_at(silent_since + KEEP_ALIVE):
                        await beat.wait()
                    beat = pulse.waiter()
                except TimeoutError:
                    yield b": alive\n\n"
                    silent_since = clock()
        except Unavailable:
            return  # the service ends, maybe within an event: clients drop such an event
        finally:
            pulse.drop(beat)

    def _begin(self) -> asyncio.Task[FeedPage] | None:
        """The next page, which is being made; None if there are no more changes yet.

        Raises a ServiceError if the relation can no longer be followed.
        """
        if not self._runtime.accounts.is_current(self.principal):
            raise Unauthenticated("the key or its rights have changed", "follow it anew", code="key_invalid")
        definition, readable = self._definition, self._runtime.readable
        if readable.known.all.get(definition.name) is not definition:
            raise NotFound(f"{definition.name} was dropped")
        snapshot = readable.snapshot
        if snapshot.is_aside(definition.name):
            return None  # it comes back with all of its changes
        relation = snapshot.relations.get(definition.name)
        newest = snapshot.upper - 1
        if newest <= self.since:
            return None
        if relation is not None and self._seen() is relation:
            self.since = newest
            return None
        check_health(definition, snapshot, newest, self._skip_errors)
        self._asked = newest, weakref.ref(snapshot.relations[definition.name])
        return self._pages.begin(definition, snapshot, self.since)

    def _is_behind(self) -> bool:
        """Whether there was more to send when the last page was asked for."""
        return self._asked is not None and self.since < self._asked[0]

    def _seen(self) -> RelationSnapshot | None:
        """The relation as it was when all of its changes had been sent, if it is still so."""
        return None if self._asked is None or self._is_behind() else self._asked[1]()
