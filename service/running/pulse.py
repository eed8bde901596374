"""A pulse: wakes those who wait for new epochs or definitions.

The writer's thread beats; event loops wait. A beat that nobody waits for costs one comparison. A waiter that
missed several beats sees one, because it needs only the newest state.

All waiters of a loop wake together, and share what they then do. Afterwards they rest, the longer the more
they are, so that any number of them takes the same small part of the loop's time. Beats that come meanwhile
wake them at the end of the rest; after a silence, a beat wakes at once.
"""

from __future__ import annotations

import asyncio
import threading
from weakref import WeakKeyDictionary

REST = 0.002
"""Seconds of rest for each waiter that was woken: about ten times of what that takes."""
LONGEST_REST = 0.5


class Pulse:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiters: dict[asyncio.Event, tuple[asyncio.AbstractEventLoop, float]] = {}
        self._told: tuple[threading.Event, ...] = ()
        self._rested: WeakKeyDictionary[asyncio.AbstractEventLoop, float] = WeakKeyDictionary()
        """The time from which on each loop may wake its waiters again. Only the loop looks at its own."""

    def waiter(self, rest: float | None = None) -> asyncio.Event:
        """An event of the running loop that the next beat sets. Take it before you look at the state.
        `rest` is the waiter's part of the rest in seconds, REST by default."""
        event = asyncio.Event()
        with self._lock:
            self._waiters[event] = asyncio.get_running_loop(), REST if rest is None else rest
        return event

    def drop(self, event: asyncio.Event) -> None:
        """Forgets an event for which nobody waits any more."""
        with self._lock:
            self._waiters.pop(event, None)

    def tell(self, event: threading.Event) -> None:
        """Lets each beat set an event for which a thread waits, until `tell_no_more`."""
        with self._lock:
            self._told = (*self._told, event)

    def tell_no_more(self, event: threading.Event) -> None:
        with self._lock:
            self._told = tuple(told for told in self._told if told is not event)

    def beat(self) -> None:
        """Sets every event that was taken before, at once or after the rest. Any thread may call it."""
        for told in self._told:
            told.set()
        if not self._waiters:
            return
        with self._lock:
            waiters, self._waiters = self._waiters, {}
        loops: dict[asyncio.AbstractEventLoop, dict[asyncio.Event, float]] = {}
        for event, (loop, rest) in waiters.items():
            loops.setdefault(loop, {})[event] = rest
        for loop, rests in loops.items():
            if not loop.is_closed():
                loop.call_soon_threadsafe(self._felt, loop, rests)

    def _felt(self, loop: asyncio.AbstractEventLoop, rests: dict[asyncio.Event, float]) -> None:
        rested = self._rested.get(loop, 0.0)
        if rested > loop.time():
            loop.call_at(rested, self._wake, loop, rested, rests)
        else:
            self._wake(loop, loop.time(), rests)

    def _wake(self, loop: asyncio.AbstractEventLoop, now: float, rests: dict[asyncio.Event, float]) -> None:
        self._rested[loop] = now + min(sum(rests.values()), LONGEST_REST)
        for event in rests:
            event.set()


class Beats:
    """The beats of a pulse, as one task waits for them. Enter before you look at the state, so that no beat
    between the look and the wait is missed."""

    def __init__(self, pulse: Pulse, rest: float | None = None) -> None:
        """`rest` is as for `Pulse.waiter`; it may change."""
        self._pulse = pulse
        self.rest = rest

    def __enter__(self) -> Beats:
        self._loop = asyncio.get_running_loop()
        self._beat = self._pulse.waiter(self.rest)
        return self

    def __exit__(self, *error: object) -> None:
        self._pulse.drop(self._beat)

    async def next(self, until: float | None = None) -> bool:
        """Waits for a beat; false if none comes before this time of the loop's clock."""
        try:
            async with asyncio.timeout_at(until):
                await self._beat.wait()
        except TimeoutError:
            return False
        self._pulse.drop(self._beat)  # it may be still there, if somebody has ended the wait
        self._beat = self._pulse.waiter(self.rest)
        return True

    def end_wait(self) -> None:
        """Ends the wait of the task as a beat does. Any thread may call it."""
        self._loop.call_soon_threadsafe(lambda: self._beat.set())
