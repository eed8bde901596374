"""Interrupting what DuckDB runs for too long: one thread watches all connections of a process.

A thread for each question would take longer than most questions do. The watch sleeps until the first
connection may be late. A question that begins meanwhile, and may be late no sooner, does not wake it.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from time import monotonic

import duckdb

from engine.patience import STEPS

_AGAIN = 0.01
"""Seconds after which a connection is interrupted again: an interrupt between two steps is lost."""
_IDLE = 3600.0


class _Question:
    """What a connection runs, and its seconds, counted in steps: see `engine/patience.py`."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, seconds: float) -> None:
        self.connection = connection
        self._step = seconds / STEPS
        self._left = STEPS if seconds > 0 else 0
        self.due = monotonic() + self._step

    def take_step(self, now: float) -> None:
        """Takes a step that is over, or interrupts if none is left."""
        self._left = max(self._left - 1, 0)
        if self._left:
            self.due = now + self._step
        else:
            self.due = now + _AGAIN
            with suppress(duckdb.Error):  # it is closed
                self.connection.interrupt()


class _Watch:
    """The questions that run, and the thread that watches them. It starts with the first question."""

    def __init__(self) -> None:
        self._change = threading.Condition()
        self._running: set[_Question] = set()
        self._wakes = 0.0
        """When the thread looks next; it is woken for what is due before."""
        self._thread: threading.Thread | None = None

    def begin(self, question: _Question) -> None:
        with self._change:
            self._running.add(question)
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="interrupts", daemon=True)
                thread.start()
                self._thread = thread
            elif question.due < self._wakes:
                self._change.notify()

    def end(self, question: _Question) -> None:
        """The question's connection is not interrupted any more."""
        with self._change:
            self._running.discard(question)

    def _run(self) -> None:
        with self._change:
            while True:
                now = monotonic()
                self._wakes = self._looked(now)
                self._change.wait(self._wakes - now)

    def _looked(self, now: float) -> float:
        """When to look again."""
        for question in self._running:
            if question.due <= now:
                question.take_step(now)
        return min((question.due for question in self._running), default=now + _IDLE)


_watch = _Watch()


def _forget() -> None:
    """A forked process has questions and a thread of its own."""
    global _watch
    _watch = _Watch()


os.register_at_fork(after_in_child=_forget)


@contextmanager
def interrupted_after(connection: duckdb.DuckDBPyConnection, seconds: float) -> Iterator[None]:
    """Interrupt what the connection still runs after `seconds`, until the context ends.

    DuckDB reacts between two chunks of rows, not inside a function. A stall is not the query's time.
    """
    question = _Question(connection, seconds)
    watch = _watch
    watch.begin(question)
    try:
        yield
    finally:
        watch.end(question)
