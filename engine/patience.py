"""Seconds to wait, counted in steps, so that a machine that stands still does not use them up.

When a process was stopped, or a machine was paused, all its deadlines are over as soon as it goes on,
although nobody has had the time. A wait in steps loses one step to a stall of any length, and has the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

STEPS = 8
"""A stall costs a wait at most this part of its seconds."""


class Patience:
    """Seconds that all waits together may take. Belongs to one thread."""

    def __init__(self, seconds: float) -> None:
        self._step = seconds / STEPS
        self._left = seconds

    def wait(self, happens: Callable[[float], bool]) -> bool:
        """Whether it `happens` while there are seconds left. It is asked again and again, each time with the
        seconds that it may wait, and once without any if none are left."""
        while self._left > 0:
            step, began = min(self._step, self._left), monotonic()
            if happens(step):
                self._left -= min(monotonic() - began, step)
                return True
            self._left -= step
        return happens(0)
