"""The catalog as an event stream: all of it first, then what happens to each table and view.

A client that comes back gets all of it again, so it misses nothing. What changes faster than the stream looks
is told as it is when the stream looks.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterable
from dataclasses import asdict

import orjson

from service.accounts.principals import Principal
from service.definitions.catalog_listing import CatalogEntry, CatalogLook
from service.definitions.readable import Readable
from service.errors import Unauthenticated, Unavailable, problem_of
from service.http.feeds import KEEP_ALIVE
from service.problems import members
from service.reading.lanes import Lane
from service.running.pulse import Beats
from service.running.runtime import Runtime

EACH = 0.25
"""Seconds between two looks at least."""


class CatalogWatch:
    """Looks at a runtime's catalog for all who follow it: at each moment once. Any thread may look."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self._lock = threading.Lock()
        self._seen: tuple[Readable | None, frozenset[str]] = None, frozenset()
        self._look = CatalogLook()

    def look(self) -> CatalogLook:
        with self._lock:
            readable = self.runtime.readable
            building = {name: build.intended.definition for name, build in self.runtime.builds.items()}
            seen = readable, frozenset(building)
            if seen != self._seen:
                self._seen, self._look = seen, self._look.next(readable, building)
            return self._look


class CatalogFeed:
    def __init__(self, watch: CatalogWatch, principal: Principal, lane: Lane) -> None:
        self.principal = principal
        self.follows = None
        self.since = 0
        self._watch = watch
        self._runtime = watch.runtime
        self._lane = lane

    async def events(self) -> AsyncIterator[bytes]:
        """One event `catalog` with all relations, then an event `change` for each of which something has
        happened, until the service stops or the principal's rights have changed."""
        clock = asyncio.get_running_loop().time
        look = CatalogLook()
        silent, is_first = 0.0, True
        try:
            with Beats(self._runtime.pulse) as beats:
                while not self._runtime.closing:
                    before, look = look, await self._lane.run(self._watch.look)
                    self.since = self._runtime.readable.newest
                    text = self._whole(look) if is_first else self._changes(look, before)
                    is_first = False
                    if text or silent >= KEEP_ALIVE:
                        silent = 0.0
                        yield text or b": alive\n\n"
                    began = clock()
                    await asyncio.sleep(EACH)
                    await beats.next(clock() + KEEP_ALIVE)
                    silent += clock() - began
                    if not self._runtime.accounts.is_current(self.principal):
                        yield _refusal()
                        return
        except Unavailable:
            return  # the service ends

    def _whole(self, look: CatalogLook) -> bytes:
        return _event("catalog", {"relations": visible(look.entries, self.principal)})

    def _changes(self, look: CatalogLook, before: CatalogLook) -> bytes:
        return b"".join(
            _event("change", {"happened": happened, "relation": shown})
            for happened, entry in look.since(before)
            for shown in visible([entry], self.principal)
        )


def visible(entries: Iterable[CatalogEntry], principal: Principal) -> list[dict[str, object]]:
    """The entries that a principal sees, as JSON; without the names that it does not see."""
    return [
        asdict(entry) | {"reads": [name for name in entry.reads if principal.sees(name)]}
        for entry in entries
        if principal.sees(entry.name)
    ]


def _event(name: str, data: object) -> bytes:
    return b"event: " + name.encode() + b"\ndata: " + orjson.dumps(data) + b"\n\n"


def _refusal() -> bytes:
    problem = problem_of(
        Unauthenticated("the key or its rights have changed", "follow it anew", code="key_invalid")
    )
    return b"" if problem is None else _event("problem", members(problem))
