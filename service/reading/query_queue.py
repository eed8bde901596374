"""The queue of queries: a few run at a time, the others wait, and the addresses of callers take turns.

A caller that leaves while it waits leaves the queue. When the queue is full, a newcomer takes the place of
the last query of the address that has most waiting, if that is more than its own: so one client cannot keep
the others out. The queue belongs to the event loop.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from service.reading.callers import Caller
from service.reading.query_errors import CallerGone, too_many_waiting
from service.settings.query_limits import QueryLimits

_Turn = asyncio.Future[None]


class QueryQueue:
    def __init__(self, limits: QueryLimits) -> None:
        self._limits = limits
        self._running = 0
        self._waiting: dict[str, deque[_Turn]] = {}

    @property
    def waiting(self) -> int:
        """The number of queries that wait."""
        return sum(map(len, self._waiting.values()))

    @asynccontextmanager
    async def turn(self, caller: Caller) -> AsyncIterator[None]:
        """Waits for the caller's turn, which lasts as long as the context.

        Raises Overloaded if too many queries wait, CallerGone if the caller leaves.
        """
        if self._running < self._limits.workers:
            caller.check()
            self._running += 1
        else:
            await self._wait(caller)
        try:
            yield
        finally:
            self._pass_on()

    async def _wait(self, caller: Caller) -> None:
        turn: _Turn = asyncio.get_running_loop().create_future()
        with caller.ending(lambda: _refuse(turn, CallerGone())):
            self._make_room(caller.address)
            self._waiting.setdefault(caller.address, deque()).append(turn)
            try:
                await turn
            except BaseException:
                if turn.done() and not turn.cancelled() and turn.exception() is None:
                    self._pass_on()  # cancelled when the turn had come
                else:
                    self._remove(caller.address, turn)
                raise

    def _make_room(self, address: str) -> None:
        """Refuses one query if all places are taken: this one, or the last of the address with most."""
        if self.waiting < self._limits.waiting:
            return
        most = max(self._waiting, key=lambda other: len(self._waiting[other]), default=address)
        if len(self._waiting.get(most, ())) <= len(self._waiting.get(address, ())) + 1:
            raise too_many_waiting(self._limits)
        turn = self._waiting[most][-1]
        self._remove(most, turn)
        _refuse(turn, too_many_waiting(self._limits))

    def _pass_on(self) -> None:
        """Gives the turn to the first query of the address that has waited longest for one."""
        while self._waiting:
            address, turns = next(iter(self._waiting.items()))
            turn = turns.popleft()
            del self._waiting[address]
            if turns:
                self._waiting[address] = turns  # behind the other addresses
            if not turn.done():
                turn.set_result(None)
                return
        self._running -= 1

    def _remove(self, address: str, turn: _Turn) -> None:
        turns = self._waiting.get(address)
        if turns is None or turn not in turns:
            return
        turns.remove(turn)
        if not turns:
            del self._waiting[address]


def _refuse(turn: _Turn, error: Exception) -> None:
    if not turn.done():
        turn.set_exception(error)
