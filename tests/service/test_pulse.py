"""The pulse: who waits for it wakes, not too often, and misses nothing."""

from __future__ import annotations

import asyncio

import pytest

from service.running import pulse
from service.running.pulse import Pulse


async def _count(beats: Pulse, woken: list[int], place: int) -> None:
    while True:
        await beats.waiter().wait()
        woken[place] += 1


async def _woken(waiters: int, beats: int, seconds: float) -> list[int]:
    """How often each of the waiters wakes, with so many beats at once, until some seconds later."""
    heart, woken = Pulse(), [0] * waiters
    tasks = [asyncio.create_task(_count(heart, woken, place)) for place in range(waiters)]
    await asyncio.sleep(0)
    for _ in range(beats):
        heart.beat()
        for _ in range(3):
            await asyncio.sleep(0)
    await asyncio.sleep(seconds)
    for task in tasks:
        task.cancel()
    return woken


def test_a_beat_after_silence_wakes_all_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pulse, "REST", 3600.0)
    assert asyncio.run(_woken(5, 1, 0)) == [1] * 5


def test_beats_during_the_rest_wake_nobody_before_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pulse, "REST", 3600.0)
    monkeypatch.setattr(pulse, "LONGEST_REST", 3600.0)
    assert asyncio.run(_woken(5, 100, 0)) == [1] * 5


def test_the_last_beat_is_felt_at_the_end_of_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pulse, "REST", 0.02)
    woken = asyncio.run(_woken(5, 2, 0.5))
    assert woken == [2] * 5


def test_a_loop_that_has_ended_is_forgotten() -> None:
    heart = Pulse()

    async def wait() -> None:
        heart.waiter()

    asyncio.run(wait())
    heart.beat()
    assert not heart._waiters
