"""Timers that count in steps: a loop that stood still finds nobody late who is not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import cast

import pytest

from service.stepped_timer import IdleTimer, SteppedTimer, patient


class Loop:
    """An event loop whose time only moves when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0
        self._due: list[tuple[float, Callable[[], None]]] = []

    def call_later(self, seconds: float, call: Callable[[], None]) -> Loop:
        self._due.append((self.now + seconds, call))
        return self

    def cancel(self) -> None:
        self._due.clear()

    def turn(self, seconds: float) -> None:
        """One turn after so many seconds: what is due is called once."""
        self.now += seconds
        due, self._due = [d for d in self._due if d[0] <= self.now], [d for d in self._due if d[0] > self.now]
        for _, call in due:
            call()


def timer(loop: Loop, seconds: float, called: list[float]) -> SteppedTimer:
    return SteppedTimer(cast(asyncio.AbstractEventLoop, loop), seconds, lambda: called.append(loop.now))


def test_it_calls_after_all_its_seconds() -> None:
    loop, called = Loop(), list[float]()
    timer(loop, 8, called)
    for _ in range(200):
        loop.turn(0.1)
    assert called == [pytest.approx(8, abs=1)]


def test_a_stall_takes_one_step() -> None:
    loop, called = Loop(), list[float]()
    timer(loop, 8, called)
    loop.turn(3600)
    assert called == []
    for _ in range(100):
        loop.turn(0.1)
    assert called == [pytest.approx(3607, abs=1)]


def test_one_that_is_cancelled_says_nothing() -> None:
    loop, called = Loop(), list[float]()
    found = timer(loop, 8, called)
    for _ in range(20):
        loop.turn(0.1)
    found.cancel()
    loop.turn(100)
    assert called == []


def idle_timer(loop: Loop, called: list[float]) -> IdleTimer:
    return IdleTimer(cast(asyncio.AbstractEventLoop, loop), lambda: called.append(loop.now))


def test_who_is_idle_for_too_long_is_told_once() -> None:
    loop, called = Loop(), list[float]()
    idle_timer(loop, called).begin(8)
    for _ in range(300):
        loop.turn(0.125)
    assert called == [pytest.approx(8.5, abs=0.5)]


def test_who_is_idle_often_and_busy_between_is_left_alone() -> None:
    loop, called = Loop(), list[float]()
    found = idle_timer(loop, called)
    for turn in range(300):
        found.begin(8)
        for _ in range(75):
            loop.turn(0.1)
            assert len(loop._due) <= 1
        if turn % 2:
            found.again()  # asked without being woken
        else:
            found.end()
            loop.turn(60)  # a statement runs
    assert called == []


def test_the_seconds_may_change_and_have_no_end() -> None:
    loop, called = Loop(), list[float]()
    found = idle_timer(loop, called)
    found.begin(None)
    loop.turn(3600)
    found.end()
    found.begin(80)
    loop.turn(1)
    found.end()
    found.begin(8)
    for _ in range(120):
        loop.turn(0.125)
    assert called == [pytest.approx(3609.5, abs=0.5)]


def test_who_waits_longer_is_told() -> None:
    async def waits() -> None:
        async with patient(0.01):
            await asyncio.Event().wait()

    with pytest.raises(TimeoutError):
        asyncio.run(waits())


def test_who_is_done_in_time_is_left_alone() -> None:
    async def waits() -> int:
        async with patient(3600):
            await asyncio.sleep(0)
        return len(asyncio.all_tasks())

    assert asyncio.run(waits()) == 1
