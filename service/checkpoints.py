"""Checkpoints while the service runs: when one is due, who writes it, and what it replaces.

A thread of its own writes a segment from an immutable snapshot while the writer goes
on; the writer's thread then records it and drops the log that it covers. One is written
at a time. A checkpoint that fails leaves the log as it is: nothing is lost by it, and
the next one is tried when as much has been written again.

One that rewrites everything is the occasion to forget history that is older than the
setting wants: it costs what the relations hold, which is about to be paid anyway.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from engine.runtime import Snapshot
from service.catalog import Segment
from service.definitions import Definition
from service.segments import first_to_write, history_from
from service.state import State

_log = logging.getLogger("freshet.checkpoints")
Call = Callable[[Callable[[], Any]], Any]
"""Runs a job on the writer's thread, or in its place, and gives the result."""


@dataclass(frozen=True, eq=False)
class _Plan:
    """What a checkpoint will hold: all of one moment on the writer's thread."""

    snapshot: Snapshot
    tables: Sequence[Definition]
    first: int
    log_bytes: int
    log_commits: int


class Checkpoints:
    def __init__(self, state: State) -> None:
        self._state = state
        self._lock = threading.Lock()
        self._stopped = False
        self._thread: threading.Thread | None = None
        self._failed = (0, 0)

    def consider(self, call: Call) -> None:
        """Starts a checkpoint if one is due and none is being written. On the writer's thread."""
        if not self._is_due():
            return
        with self._lock:
            if self._stopped or (self._thread is not None and self._thread.is_alive()):
                return
            self._thread = threading.Thread(
                target=self._write, args=(self._plan(), call), name="freshet-checkpoint"
            )
            self._thread.start()

    def stop(self) -> None:
        """Starts no more, and waits for the one that is being written. While the writer still runs."""
        with self._lock:
            self._stopped = True
        if self._thread is not None:
            self._thread.join()

    def finish(self) -> None:
        """Writes what the log holds. Once the writer has stopped."""
        if self._state.epochs.log_commits:
            self._write(self._plan(), lambda job: job())

    def _is_due(self) -> bool:
        epochs, settings = self._state.epochs, self._state.settings
        failed_bytes, failed_commits = self._failed
        return (
            epochs.log_bytes - failed_bytes >= settings.checkpoint_bytes
            or epochs.log_commits - failed_commits >= settings.checkpoint_commits
        )

    def _plan(self) -> _Plan:
        state = self._state
        first = first_to_write(state.segments, state.epochs.log_bytes)
        if first == 1 and state.settings.history_seconds:
            forget(state, _now() - state.settings.history_seconds * 1_000_000)
        snapshot = state.engine.snapshot
        tables = [d for d in state.definitions.all.values() if not d.is_view]
        first = history_from(snapshot, tables, first)
        return _Plan(snapshot, tables, first, state.epochs.log_bytes, state.epochs.log_commits)

    def _write(self, plan: _Plan, call: Call) -> None:
        state = self._state
        started = time.perf_counter()
        try:
            segment = state.files.write(plan.snapshot, plan.tables, state.engine.dictionary, plan.first)
            call(lambda: self._record(segment, plan))
        except Exception:
            _log.exception("a checkpoint failed; the log is kept")
            state.metrics.checkpoints.add(1, (("outcome", "failed"),))
            self._failed = (plan.log_bytes, plan.log_commits)
            return
        state.metrics.checkpoints.add(1, (("outcome", "done"),))
        _log.info(
            "checkpoint of epochs %d to %d: %d bytes in %.1f s",
            segment.first,
            segment.last,
            segment.size,
            time.perf_counter() - started,
        )

    def _record(self, segment: Segment, plan: _Plan) -> None:
        """Makes the segment part of the checkpoint. On the writer's thread."""
        state = self._state
        oldest = _now() - state.settings.idempotency_hours * 3_600_000_000
        state.catalog.checkpoint(segment, oldest)
        state.segments = [s for s in state.segments if s.last < segment.first] + [segment]
        state.files.sweep(state.segments)
        state.epochs.log_bytes -= plan.log_bytes
        state.epochs.log_commits -= plan.log_commits
        self._failed = (0, 0)


def forget(state: State, at: int) -> None:
    """Lets the relations forget what was before the epoch of the time `at` (microseconds since 1970, UTC)."""
    horizon = state.catalog.epoch_at(at)
    for definition in state.definitions.all.values():
        if definition.failure is None:
            state.engine.forget(definition.name, horizon)


def _now() -> int:
    """Microseconds since 1970, UTC."""
    return time.time_ns() // 1000
