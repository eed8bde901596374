"""Slowing: the answer to a wrong key waits, longer after each failed attempt from the same address.

Only failures wait, so that a client whose neighbour tries keys notices nothing. The number of those that
wait is bounded, in all and for each address; more are refused at once. Belongs to the event loop.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable
from time import monotonic

from service.errors import Overloaded

FIRST_SECONDS, LONGEST_SECONDS = 0.1, 5.0
FORGOTTEN_SECONDS = 600.0
"""Without a failed attempt for so long, an address begins anew."""
WAITING, WAITING_EACH = 100, 5
_REMEMBERED = 10_000
"""The most addresses that are remembered, those with the newest attempts."""


class Slowing:
    def __init__(
        self,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        now: Callable[[], float] = monotonic,
    ) -> None:
        self._sleep = sleep
        self._now = now
        self._failed: OrderedDict[str, tuple[int, float]] = OrderedDict()
        self._waiting: Counter[str] = Counter()

    async def failed(self, address: str) -> None:
        """Waits after a failed attempt. Raises Overloaded if too many wait already."""
        seconds = self._counted(address)
        if self._waiting.total() >= WAITING or self._waiting[address] >= WAITING_EACH:
            raise Overloaded(
                "too many requests with wrong keys are waiting", "try again later", code="too_many_attempts"
            )
        self._waiting[address] += 1
        try:
            await self._sleep(seconds)
        finally:
            self._waiting -= Counter({address: 1})  # forgets addresses that nobody waits from

    def _counted(self, address: str) -> float:
        """Counts an attempt. Returns how long it waits."""
        now = self._now()
        count, last = self._failed.pop(address, (0, now))
        if now - last > FORGOTTEN_SECONDS:
            count = 0
        self._failed[address] = (count + 1, now)
        if len(self._failed) > _REMEMBERED:
            self._failed.popitem(last=False)
        return float(min(LONGEST_SECONDS, FIRST_SECONDS * 2 ** min(count, 20)))
