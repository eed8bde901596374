"""Feeds as event streams: which are open, how many may be, and what those of a relation's changes send.

A feed looks at the newest snapshot when the pulse beats. It keeps none of it while it waits for a beat or for
its client to read.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Protocol

import orjson
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from engine.errors import EngineError
from service.accounts.principals import ANYONE, Principal
from service.definitions.definition import Definition
from service.errors import Overloaded, ServiceError, Unavailable, problem_of
from service.http.negotiation import EVENTS
from service.problems import members
from service.reading.feed_pages import FeedPage, FeedPages
from service.reading.followers import Follower
from service.running.pulse import Beats
from service.running.relation_following import Following
from service.running.runtime import Runtime
from service.running.timeline import Timeline

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
        self,
        timeline: Timeline,
        definition: Definition,
        since: int,
        skip_errors: bool,
        principal: Principal = ANYONE,
    ) -> StreamingResponse:
        """Events of a timeline's epochs after `since`, until the relation is dropped, the principal may no
        longer read it, or the timeline ends."""
        return self.of(_Feed(timeline, self._pages, definition, since, skip_errors, principal))

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


class _Feed(Following):
    """The changes of a relation, as they are sent."""

    def __init__(
        self,
        timeline: Timeline,
        pages: FeedPages,
        definition: Definition,
        since: int,
        skip_errors: bool,
        principal: Principal,
    ) -> None:
        super().__init__(timeline, definition, principal, since, skip_errors)
        self._pages = pages

    @property
    def follows(self) -> str:
        return self.definition.name

    async def events(self) -> AsyncIterator[bytes]:
        clock = asyncio.get_running_loop().time
        silent_since = clock()
        try:
            with Beats(self._timeline.pulse) as beats:
                while not self._timeline.closing:
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
                        self.took(page.until)
                        if self.is_behind:
                            continue
                    # Beats may come all the time without a change of this relation.
                    if not await beats.next(silent_since + KEEP_ALIVE):
                        yield b": alive\n\n"
                        silent_since = clock()
        except Unavailable:
            return  # the service ends, maybe within an event: clients drop such an event

    def _begin(self) -> asyncio.Task[FeedPage] | None:
        """The next page, which is being made; None if there are no more changes yet."""
        snapshot = self.look()
        return None if snapshot is None else self._pages.begin(self.definition, snapshot, self.since)
