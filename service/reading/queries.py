"""The queries of clients: they wait for their turn, and run in worker processes.

Ad-hoc queries, reads that filter or order rows, and the queries inside statements that change rows have
workers of their own, so that none of these kinds waits for another. Those few queries that have to run in
the writer's turn have one more worker, and little time.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable
from dataclasses import replace
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
_OF_READERS, _OF_CHANGERS = 15, 5
"""The niceness of workers: whatever the service does itself comes first."""
IN_WRITERS_TURN = 0.25
"""Seconds that a query may take while all others wait."""


class QueryLine:
    """Callers who wait for their turn at workers of their own."""

    def __init__(self, name: str, rules: WorkerRules) -> None:
        limits = rules.limits
        self.pool = WorkerPool(rules, limits.workers)
        self._lane = Lane(name, limits.workers)
        self._queue = QueryQueue(limits)

    async def in_turn(self, caller: Caller, work: Callable[[QueryEvaluator], T]) -> T:
        """Calls the work in a thread when the caller's turn comes, with what evaluates its queries.

        Raises Overloaded if too many wait, CallerGone if the caller leaves.
        """
        async with self._queue.turn(caller):
            return await self._lane.run(work, self.pool.evaluator(caller))

    @property
    def waiting(self) -> int:
        """The number of callers that wait for their turn."""
        return self._queue.waiting

    def close(self) -> None:
        """Kills the workers: the queries that run fail. Blocks."""
        self._lane.close()
        self.pool.close()


class Queries:
    """`spill` is a directory of this object alone, for the temporary files of queries."""

    def __init__(self, limits: QueryLimits, spill: Path) -> None:
        shutil.rmtree(spill, ignore_errors=True)
        spill.mkdir(mode=0o700, parents=True)
        self._spill = spill
        self.readers = QueryLine("queries", WorkerRules(limits, spill, _OF_READERS))
        """Ad-hoc queries."""
        self.rows = QueryLine("rows", WorkerRules(limits, spill, _OF_READERS))
        """Queries of reads that filter or order the rows of one relation."""
        self.changers = QueryLine("changes", WorkerRules(limits, spill, _OF_CHANGERS))
        """Queries of statements that change rows, beside the writer."""
        self._lines = (self.readers, self.rows, self.changers)
        soon = replace(limits, seconds=min(limits.seconds, IN_WRITERS_TURN))
        self._writers = WorkerPool(WorkerRules(soon, spill, 0), 1)

    def warm(self) -> None:
        """Begins to start the workers, so that the first queries find them."""
        for pool in (self.readers.pool, self._writers):
            threading.Thread(target=pool.warm, name="freshet-warming", daemon=True).start()

    def of_writer(self, caller: Caller) -> QueryEvaluator:
        """What evaluates queries on the writer's thread, each within `IN_WRITERS_TURN`."""
        return self._writers.evaluator(caller)

    @property
    def waiting(self) -> int:
        """The number of queries that wait for their turn."""
        return sum(line.waiting for line in self._lines)

    @property
    def pids(self) -> list[int]:
        """The process ids of all workers."""
        pools = (*(line.pool for line in self._lines), self._writers)
        return [pid for pool in pools for pid in pool.pids]

    def close(self) -> None:
        """Kills all workers: the queries that run fail. Blocks."""
        for line in self._lines:
            line.close()
        self._writers.close()
        shutil.rmtree(self._spill, ignore_errors=True)
