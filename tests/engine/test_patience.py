"""Patience: seconds that a stall does not use up."""

from __future__ import annotations

import time

import pytest

from engine import patience
from engine.patience import STEPS, Patience


class Clock:
    """A time in which only waits pass, each longer than it should by `stalls`, one after the other."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *stalls: float) -> None:
        self.now = 0.0
        self.asked: list[float] = []
        self._stalls = list(stalls)
        monkeypatch.setattr(patience, "monotonic", lambda: self.now)

    def nothing(self, seconds: float) -> bool:
        self.asked.append(seconds)
        self.now += seconds + (self._stalls.pop(0) if self._stalls else 0)
        return False

    def after(self, seconds: float) -> bool:
        """Something that happens after so many seconds of a wait."""
        self.now += seconds / 2
        return True


def test_nothing_happens_in_all_the_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    assert not Patience(4).wait(clock.nothing)
    assert sum(clock.asked) == pytest.approx(4) and clock.now == pytest.approx(4)
    assert clock.asked[-1] == 0, "what happened in the last moment is seen"


def test_a_stall_takes_one_step(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch, 3600)
    assert not Patience(4).wait(clock.nothing)
    assert sum(clock.asked) == pytest.approx(4) and clock.now > 3600


def test_waits_share_the_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, all_together = Clock(monkeypatch), Patience(4)
    assert all(all_together.wait(clock.after) for _ in range(STEPS))
    before = clock.now
    assert not all_together.wait(clock.nothing)
    assert clock.now == pytest.approx(4) and clock.now > before
    assert not all_together.wait(clock.nothing) and clock.asked[-1] == 0


def test_time_is_that_of_the_system() -> None:
    assert patience.monotonic is time.monotonic
