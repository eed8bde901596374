"""Workers of queries that outlive a service of the tests: the next one in this process goes on with them.

To start a worker takes as much processor time as the rest of a small test does. It has nothing of the service
that started it: each query comes with its tables, and asks for a database with its settings. So those that
wait for a question when a service ends are kept for one with the same limits.
"""

from __future__ import annotations

import tempfile
import threading
from collections import OrderedDict
from dataclasses import replace
from functools import cache
from pathlib import Path

from service.reading import queries
from service.reading.query_worker import WorkerRules
from service.reading.worker_pool import WorkerPool
from service.reading.worker_process import WorkerProcess
from tests.run import of_run

_MOST = 8
"""Workers that are kept at a time."""


class _Kept:
    """Workers without a pool, those that have waited longest first. Any thread may use it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._workers: OrderedDict[WorkerProcess, WorkerRules] = OrderedDict()

    def take(self, rules: WorkerRules) -> WorkerProcess | None:
        """The newest worker with these rules."""
        with self._lock:
            found = next((w for w, its in reversed(self._workers.items()) if its == rules), None)
            if found is not None:
                del self._workers[found]
        return found

    def put(self, workers: list[WorkerProcess], rules: WorkerRules) -> None:
        with self._lock:
            self._workers.update(dict.fromkeys(workers, rules))
            surplus = [self._workers.popitem(last=False)[0] for _ in range(len(self._workers) - _MOST)]
        for worker in surplus:
            worker.discard()


_kept = _Kept()


class KeepingPool(WorkerPool):
    """Takes workers that are kept, and leaves those that are idle at its end."""

    def __init__(self, rules: WorkerRules, size: int) -> None:
        super().__init__(replace(rules, spill=_spill()), size)

    def new_worker(self) -> WorkerProcess:
        while (worker := _kept.take(self._rules)) is not None:
            if worker.is_usable:
                return worker
            worker.discard()
        return super().new_worker()

    def close(self) -> None:
        with self._change:
            idle, self._idle = self._idle, []
        waiting = [worker for worker in idle if worker.is_usable]
        for worker in idle:
            if worker not in waiting:
                worker.discard()
        _kept.put(waiting, self._rules)
        super().close()


@cache
def _spill() -> Path:
    """A directory that lasts as long as the run of the tests: those of services go with them."""
    return Path(tempfile.mkdtemp(prefix="queries-", dir=of_run()))


def keep() -> None:
    """From now on services in this process keep their workers."""
    queries.WorkerPool = KeepingPool  # type: ignore[misc]
