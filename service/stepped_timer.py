"""Timers of an event loop that count in steps: a stall of the machine takes one step of a client's time.

A loop that was stopped for longer than a client may take would find the client late at once, although the
client has stood still as well, or what it has sent is there and unread. See `engine/patience.py`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from engine.patience import STEPS


class SteppedTimer:
    """Calls `late` after so many seconds, unless it is cancelled before."""

    __slots__ = ("_handle", "_late", "_left", "_loop", "_step")

    def __init__(self, loop: asyncio.AbstractEventLoop, seconds: float, late: Callable[[], None]) -> None:
        self._loop = loop
        self._late = late
        self._left = STEPS
        self._step = seconds / STEPS
        self._handle = loop.call_later(self._step, self._stepped)

    def cancel(self) -> None:
        self._handle.cancel()

    def _stepped(self) -> None:
        self._left -= 1
        if self._left:
            self._handle = self._loop.call_later(self._step, self._stepped)
        else:
            self._late()


@asynccontextmanager
async def patient(seconds: float) -> AsyncIterator[None]:
    """`asyncio.timeout`, in steps. Raises TimeoutError."""
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(None) as limit:
        timer = SteppedTimer(loop, seconds, lambda: limit.reschedule(loop.time()))
        try:
            yield
        finally:
            timer.cancel()
