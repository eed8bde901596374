"""Checkpoints while the service runs: when one is due, who writes it, and what it replaces.

The writer's thread captures the engine's state. Another thread writes to files what is only in memory
(`engine.runtime.spill`), while the writer goes on. Then the writer's thread publishes the manifest, which
replaces the log up to the capture, and the files replace what is in memory. One checkpoint is written at a
time. A failed one leaves the log as it is, so nothing is lost; the next attempt comes when as much has been
written again.

Before a capture, history beyond the configured age is forgotten.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from sqlalchemy.exc import SQLAlchemyError

from engine.runtime.spill import Capture, Spill
from service.catalog.manifests import Saved
from service.errors import Unavailable
from service.running.heap import return_free_memory
from service.running.state import State

_log = logging.getLogger("freshet.checkpoints")
Call = Callable[[Callable[[], Any]], Any]
"""Runs a job on the writer's thread, or in its place, and returns the result."""


@dataclass(frozen=True, eq=False)
class _Plan:
    """What a checkpoint holds, captured at one moment on the writer's thread.

    No table can be read at epochs before `since`.
    """

    capture: Capture
    newest_relation: int
    since: int
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
        """Starts a checkpoint if one is due and none is being written. Runs on the writer's thread."""
        if not self._is_due():
            return
        with self._lock:
            if self._stopped or (self._thread is not None and self._thread.is_alive()):
                return
            self._thread = threading.Thread(
                target=self._write_and_trim, args=([self._plan()], call), name="freshet-checkpoint"
            )
            self._thread.start()

    def stop(self) -> None:
        """Starts no more checkpoints, and waits for the current one. Call it while the writer still runs."""
        with self._lock:
            self._stopped = True
        if self._thread is not None:
            self._thread.join()

    def finish(self) -> None:
        """Writes a last checkpoint, new views included. Call it after the writer has stopped."""
        self._write(self._plan(), lambda job: job())

    def _is_due(self) -> bool:
        commits, settings = self._state.commits, self._state.settings
        failed_bytes, failed_commits = self._failed
        return (
            commits.log_bytes - failed_bytes >= settings.checkpoint_bytes
            or commits.log_commits - failed_commits >= settings.checkpoint_commits
        )

    def _plan(self) -> _Plan:
        state = self._state
        forget_indexes(state)
        if state.settings.history_seconds:
            forget(state, _now() - state.settings.history_seconds * 1_000_000)
        engine, commits = state.engine, state.commits
        tables = [name for name, definition in state.definitions.all.items() if not definition.is_view]
        since = min((engine.snapshot.since(table) for table in tables), default=0)
        newest = state.definitions.known.newest
        return _Plan(engine.capture(collect=True), newest, since, commits.log_bytes, commits.log_commits)

    def _write_and_trim(self, plans: list[_Plan], call: Call) -> None:
        """Writes the one plan of the list, which holds it no longer than that, and frees what it replaced."""
        self._write(plans.pop(), call)
        return_free_memory()

    def _write(self, plan: _Plan, call: Call) -> None:
        state = self._state
        started = time.perf_counter()
        try:
            spill = plan.capture.write(state.directory, state.settings.shards)
            call(lambda: self._record(spill, plan))
        except Exception:
            _log.exception("a checkpoint failed; the log is kept")
            state.metrics.checkpoints.add(1, "failed")
            self._failed = (plan.log_bytes, plan.log_commits)
            with suppress(Unavailable, SQLAlchemyError):  # the writer or the catalog is gone
                call(lambda: self._give_up(plan))
            return
        seconds, size = time.perf_counter() - started, spill.manifest.size
        state.metrics.checkpoints.add(1, "done")
        state.metrics.checkpoint_seconds.observe(seconds)
        _log.info("checkpoint of epoch %d: %d bytes in %.1f s", plan.capture.upper - 1, size, seconds)

    def _record(self, spill: Spill, plan: _Plan) -> None:
        """Publishes the manifest and removes files that nothing uses. Runs on the writer's thread."""
        state = self._state
        oldest = _now() - state.settings.idempotency_hours * 3_600_000_000
        saved = Saved(spill.manifest, plan.newest_relation)
        if not state.catalog.publish(saved, oldest, plan.since):
            self._give_up(plan)  # an epoch published a manifest of its own meanwhile
            return
        state.engine.install(spill)
        state.directory.sweep(state.engine.files() | set(spill.manifest.names()))
        state.commits.log_bytes -= plan.log_bytes
        state.commits.log_commits -= plan.log_commits
        self._failed = (0, 0)

    def _give_up(self, plan: _Plan) -> None:
        """Drops the checkpoint and its files. Runs on the writer's thread."""
        state = self._state
        state.engine.release(plan.capture)
        found = state.catalog.saved_by_me()
        state.directory.sweep(state.engine.files() | set(found.manifest.names() if found else ()))


def forget(state: State, at: int) -> None:
    """Forgets the relations' history before the epoch at time `at` (microseconds since 1970, UTC)."""
    horizon = state.catalog.epoch_at(at)
    for definition in state.definitions.all.values():
        if definition.failure is None:
            state.engine.forget(definition.name, horizon, at_once=False)
        for index in state.definitions.lookups(definition):
            if index in state.engine.snapshot.relations:
                state.engine.forget(index, horizon, at_once=False)
    for query in state.definitions.queries.all:
        state.engine.forget(query, horizon, at_once=False)
    state.clock.forget(horizon)


def forget_indexes(state: State) -> None:
    """Forgets the history of constraints' indexes, of which only the newest state is ever read."""
    newest = state.engine.snapshot.upper - 1
    for definition in state.definitions.all.values():
        if not definition.is_view:
            kept = state.definitions.lookups(definition)
            for index in state.definitions.indexes(definition).keys() - kept.keys():
                state.engine.forget(index, newest, at_once=False)


def _now() -> int:
    """Microseconds since 1970, UTC."""
    return time.time_ns() // 1000
