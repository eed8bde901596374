"""The slowest statements since the service started: a few of them, whatever else runs."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from heapq import heappush, heappushpop
from itertools import count

from service.concealing import without_secrets
from service.telemetry.exchange import current

KEPT = 100
_SHOWN = 2_000
"""Characters of a statement that are kept."""


@dataclass(frozen=True)
class SlowStatement:
    """`began` is in seconds since 1970; `key` and `request` are ids; `error` says how it failed."""

    text: str
    seconds: float
    began: float
    key: str
    request: str
    error: str


class SlowStatements:
    """Any thread may add statements and read them."""

    def __init__(self, kept: int = KEPT) -> None:
        self._kept = kept
        self._lock = threading.Lock()
        self._numbers = count()
        self._heap: list[tuple[float, int, SlowStatement]] = []

    @property
    def all(self) -> list[SlowStatement]:
        """The slowest first."""
        with self._lock:
            return [statement for _, _, statement in sorted(self._heap, reverse=True)]

    @contextmanager
    def timing(self, text: str, key: str) -> Iterator[None]:
        """Inside the context, a statement of the key's holder runs."""
        began, started, error = time.time(), time.perf_counter(), ""
        try:
            yield
        except BaseException as failure:
            error = str(failure) or type(failure).__name__
            raise
        finally:
            seconds = time.perf_counter() - started
            if self._takes(seconds):
                self._add(text, seconds, began, key, error)

    def _takes(self, seconds: float) -> bool:
        with self._lock:
            return len(self._heap) < self._kept or seconds > self._heap[0][0]

    def _add(self, text: str, seconds: float, began: float, key: str, error: str) -> None:
        exchange = current.get()
        cut = without_secrets(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...")
        request = "" if exchange is None else exchange.id
        statement = SlowStatement(cut, seconds, began, key, request, without_secrets(error)[:_SHOWN])
        with self._lock:
            entry = (seconds, next(self._numbers), statement)
            (heappush if len(self._heap) < self._kept else heappushpop)(self._heap, entry)
