"""A pool of workers: each answers one query after another, and is replaced as soon as it ends."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from dataclasses import replace

import pyarrow as pa

from planner.adhoc.adhoc_query import AdhocQuery
from service.errors import Unavailable
from service.reading.callers import Caller
from service.reading.duck import Answer, Carried, QueryEvaluator, anything
from service.reading.query_worker import WorkerRules
from service.reading.worker_process import WorkerProcess

_log = logging.getLogger("freshet.queries")


class WorkerPool:
    """Up to `size` workers, which start when they are needed. Any thread may use the pool."""

    def __init__(self, rules: WorkerRules, size: int) -> None:
        self._rules = rules
        self._size = size
        self._change = threading.Condition()
        self._idle: list[WorkerProcess] = []
        self._busy: set[WorkerProcess] = set()
        self._starting = 0
        self._is_closed = False

    def warm(self) -> None:
        """Starts all workers."""
        while (worker := self._replacement()) is not None:
            self._give_back(worker)

    def evaluator(self, caller: Caller) -> QueryEvaluator:
        """What evaluates queries for a caller."""
        return _PooledEvaluator(self, caller)

    def run(
        self, query: AdhocQuery, tables: Mapping[str, pa.Table], carried: Carried, caller: Caller
    ) -> Answer:
        """The answer to a query. Waits for a worker that is free. Raises CallerGone if the caller leaves."""
        caller.check()
        worker = self._taken()
        try:
            with caller.ending(worker.kill):
                return worker.ask(query, tables, carried)
        except Unavailable:
            caller.check()
            raise
        finally:
            self._give_back(worker)

    @property
    def pids(self) -> list[int]:
        """The process ids of the workers."""
        with self._change:
            return [worker.pid for worker in (*self._idle, *self._busy) if worker.pid is not None]

    def close(self) -> None:
        """Kills all workers. Waits until they have ended and their files are gone."""
        with self._change:
            self._is_closed = True
            idle, self._idle = self._idle, []
            for worker in (*idle, *self._busy):
                worker.kill()
            self._change.notify_all()
        for worker in idle:
            worker.discard()
        with self._change:
            self._change.wait_for(lambda: not self._busy and not self._starting)

    def _taken(self) -> WorkerProcess:
        """A worker that waits for a question."""
        while True:
            worker = self._claimed() or self._started()
            if worker is not None and worker.is_usable:
                return worker
            if worker is not None:
                self._give_back(worker)

    def _claimed(self) -> WorkerProcess | None:
        """An idle worker; None if there is none, but room for one more. Raises Unavailable once closed."""
        with self._change:
            self._change.wait_for(lambda: self._idle or self._has_room() or self._is_closed)
            if self._is_closed:
                raise Unavailable("the service is shutting down", code="shutting_down")
            if not self._idle:
                return None
            worker = self._idle.pop()
            self._busy.add(worker)
            return worker

    def new_worker(self) -> WorkerProcess:
        """A worker that nobody else has."""
        return WorkerProcess(self._rules)

    def _has_room(self) -> bool:
        return len(self._idle) + len(self._busy) + self._starting < self._size

    def _started(self) -> WorkerProcess | None:
        """A new worker, which counts as busy; None if there is no room for it."""
        with self._change:
            if self._is_closed or not self._has_room():
                return None
            self._starting += 1
        worker = None
        try:
            worker = self.new_worker()
        finally:
            with self._change:
                self._starting -= 1
                if worker is not None:
                    self._busy.add(worker)
                    if self._is_closed:
                        worker.kill()
                self._change.notify_all()
        return worker

    def _give_back(self, worker: WorkerProcess) -> None:
        """Takes a busy worker back. Replaces it if it has ended."""
        if worker.is_usable:
            with self._change:
                if not self._is_closed:
                    self._busy.discard(worker)
                    self._idle.append(worker)
                    self._change.notify_all()
                    return
        worker.discard()
        with self._change:
            self._busy.discard(worker)
            self._change.notify_all()
        replacement = self._replacement()
        if replacement is not None:
            self._give_back(replacement)

    def _replacement(self) -> WorkerProcess | None:
        """A new worker, which counts as busy; None if there is no room for it, or it cannot be started."""
        try:
            return self._started()
        except OSError:
            _log.exception("a worker could not be started; the next query tries again")
            return None


class _PooledEvaluator(QueryEvaluator):
    def __init__(self, pool: WorkerPool, caller: Caller) -> None:
        self._pool = pool
        self._caller = caller

    def run(self, query: AdhocQuery, tables: Mapping[str, pa.Table], carried: Carried = anything) -> Answer:
        zoned = replace(query, zone=self._caller.zone.icu)
        return self._pool.run(zoned, tables, carried, self._caller)
