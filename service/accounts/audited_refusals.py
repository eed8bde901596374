"""Refusals: how many of one key have entries in the audit log, so that nobody fills it.

In each span of time, the first refusals of a key have an entry each. The entry after them tells how many had
none. Any thread may use it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

SPAN_SECONDS = 600.0


@dataclass
class _Refused:
    began: float
    entered: int = 0
    left_out: int = 0


class Refusals:
    def __init__(self, most: int, now: Callable[[], float] = monotonic) -> None:
        """`most` refusals of a key have entries in a span."""
        self._most = most
        self._now = now
        self._lock = threading.Lock()
        self._refused: dict[str, _Refused] = {}

    def entered(self, key: str) -> int | None:
        """How many refusals before this one have no entry; None if this one has none either."""
        with self._lock:
            now = self._now()
            found = self._refused.setdefault(key, _Refused(now))
            if now - found.began >= SPAN_SECONDS:
                found.began, found.entered = now, 0
            if found.entered >= self._most:
                found.left_out += 1
                return None
            found.entered += 1
            left_out, found.left_out = found.left_out, 0
            return left_out
