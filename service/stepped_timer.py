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


class IdleTimer:
    """Calls `late` when somebody has been idle for so many seconds, or at most a step more.

    One who is idle often and not for long pays next to nothing: the timer goes on meanwhile, and looks at
    each step whether he still is.
    """

    __slots__ = ("_handle", "_is_idle", "_late", "_left", "_loop", "_seconds")

    def __init__(self, loop: asyncio.AbstractEventLoop, late: Callable[[], None]) -> None:
        self._loop = loop
        self._late = late
        self._seconds: float | None = None
        self._is_idle = False
        self._left = 0
        self._handle: asyncio.TimerHandle | None = None

    def begin(self, seconds: float | None) -> None:
        """Begins a time of idleness, which may have any length if `seconds` is None."""
        self._is_idle = seconds is not None
        if seconds != self._seconds:
            self._seconds = seconds
            self.cancel()
        self.again()
        if self._is_idle and self._handle is None:
            self._arm()

    def again(self) -> None:
        """Begins the time anew."""
        self._left = STEPS + 1  # the step that has begun is not a whole one

    def end(self) -> None:
        self._is_idle = False

    def cancel(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def _arm(self) -> None:
        assert self._seconds is not None
        self._handle = self._loop.call_later(self._seconds / STEPS, self._stepped)

    def _stepped(self) -> None:
        self._handle = None
        if not self._is_idle:
            return
        self._left -= 1
        if self._left:
            self._arm()
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
