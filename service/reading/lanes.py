"""Lanes: threads of their own for each kind of work that blocks, so that no kind waits for another."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import TypeVar

from service.errors import Unavailable

T = TypeVar("T")


class Lane:
    """At most `threads` calls at a time; more wait in the order in which they came."""

    def __init__(self, name: str, threads: int) -> None:
        self._executor = ThreadPoolExecutor(threads, f"freshet-{name}")

    async def run(self, call: Callable[..., T], *arguments: object) -> T:
        """The result of the call, made in one of the lane's threads. Raises Unavailable once closed."""
        try:
            run = copy_context().run  # who asks travels with the call
            made = asyncio.get_running_loop().run_in_executor(self._executor, run, call, *arguments)
        except RuntimeError:
            raise Unavailable("the service is shutting down", code="shutting_down") from None
        return await made

    async def each(self, pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
        """The pieces, each made in one of the lane's threads."""
        while (piece := await self.run(next, pieces, None)) is not None:
            yield piece

    def close(self) -> None:
        """Makes no more calls. Those that have started run to their end."""
        self._executor.shutdown(wait=False, cancel_futures=True)


@dataclass(frozen=True)
class Lanes:
    """The lanes of requests.

    `reads` are rows as they are, `lookups` rows that a predicate names, `figures` are about the service,
    `feeds` are pages of changefeeds, and `planning` is for statements: parsed, planned, written as answers;
    `long_texts` for those that take seconds. `answers` compresses answers. `jobs` are loads, exports, sources
    and sinks as the catalog has them, `observing` waits for the writer to measure a view, and `checks` are of
    views, which are computed anew.
    """

    reads: Lane = field(default_factory=lambda: Lane("reads", 4))
    lookups: Lane = field(default_factory=lambda: Lane("lookups", 2))
    figures: Lane = field(default_factory=lambda: Lane("figures", 2))
    feeds: Lane = field(default_factory=lambda: Lane("feeds", 2))
    planning: Lane = field(default_factory=lambda: Lane("planning", 2))
    long_texts: Lane = field(default_factory=lambda: Lane("long-texts", 2))
    answers: Lane = field(default_factory=lambda: Lane("answers", 2))
    jobs: Lane = field(default_factory=lambda: Lane("jobs", 2))
    observing: Lane = field(default_factory=lambda: Lane("observing", 2))
    checks: Lane = field(default_factory=lambda: Lane("checks", 2))

    def close(self) -> None:
        for lane in vars(self).values():
            lane.close()
