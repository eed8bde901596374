"""The queries of clients: they wait for their turn, and run in worker processes.

Queries inside statements that change rows run in the writer's turn, in a worker that nobody else uses, so
that the writer never waits for readers.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from service.reading.callers import Caller
from service.reading.duck import QueryEvaluator
from service.reading.lanes import Lane
from service.reading.query_queue import QueryQueue
from service.reading.query_worker import WorkerRules
from service.reading.worker_pool import WorkerPool
from service.settings.query_limits import QueryLimits

T = TypeVar("T")
_NICENESS = 15
"""Whatever the service does itself comes before the queries of readers."""


class Queries:
    """`spill` is a directory of this object alone, for the temporary files of queries."""

    def __init__(self, limits: QueryLimits, spill: Path) -> None:
        shutil.rmtree(spill, ignore_errors=True)
        spill.mkdir(mode=0o700, parents=True)
        self._spill = spill
        self._pool = WorkerPool(WorkerRules(limits, spill, _NICENESS), limits.workers)
        self._writers = WorkerPool(WorkerRules(limits, spill, 0), 1)
        self._lane = Lane("queries", limits.workers)
        self._queue = QueryQueue(limits)

    def warm(self) -> None:
        """Begins to start the workers, so that the first queries find them."""
        for pool in (self._pool, self._writers):
            threading.Thread(target=pool.warm, name="freshet-warming", daemon=True).start()

    async def in_turn(self, caller: Caller, work: Callable[[QueryEvaluator], T]) -> T:
        """Calls the work in a thread when the caller's turn comes, with what evaluates its queries.

        Raises Overloaded if too many wait, CallerGone if the caller leaves.
        """
        async with self._queue.turn(caller):
            return await self._lane.run(work, self._pool.evaluator(caller))

    def of_writer(self, caller: Caller) -> QueryEvaluator:
        """What evaluates queries on the writer's thread."""
        return self._writers.evaluator(caller)

    @property
    def waiting(self) -> int:
        """The number of queries that wait for their turn."""
        return self._queue.waiting

    @property
    def pids(self) -> list[int]:
        """The process ids of all workers."""
        return [*self._pool.pids, *self._writers.pids]

    def close(self) -> None:
        """Kills all workers: the queries that run fail. Blocks."""
        self._lane.close()
        self._pool.close()
        self._writers.close()
        shutil.rmtree(self._spill, ignore_errors=True)
