"""A pulse: wakes those who wait for new epochs or definitions.

The writer's thread beats; event loops wait. A beat that nobody waits for costs one comparison. A waiter that
missed several beats sees one, because it needs only the newest state.
"""

from __future__ import annotations

import asyncio
import threading


class Pulse:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiters: dict[asyncio.Event, asyncio.AbstractEventLoop] = {}

    def waiter(self) -> asyncio.Event:
        """An event of the running loop that the next beat sets. Take it before you look at the state."""
        event = asyncio.Event()
        with self._lock:
            self._waiters[event] = asyncio.get_running_loop()
        return event

    def drop(self, event: asyncio.Event) -> None:
        """Forgets an event for which nobody waits any more."""
        with self._lock:
            self._waiters.pop(event, None)

    def beat(self) -> None:
        """Sets every event that was taken before. Any thread may call it."""
        if not self._waiters:
            return
        with self._lock:
            waiters, self._waiters = self._waiters, {}
        loops: dict[asyncio.AbstractEventLoop, list[asyncio.Event]] = {}
        for event, loop in waiters.items():
            loops.setdefault(loop, []).append(event)
        for loop, events in loops.items():
            if not loop.is_closed():
                loop.call_soon_threadsafe(_set, events)


def _set(events: list[asyncio.Event]) -> None:
    for event in events:
        event.set()
