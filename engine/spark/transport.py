"""Supersteps on Spark: a shard is a partition, an exchange is a shuffle, and a job runs several supersteps.

Without loops the number of supersteps is known, and an epoch is one job. With loops it depends on the data: a
job runs a number of supersteps, those after the end do nothing, and if the end was not reached, another job
continues.

Only DataFrames are used, so classic and Connect sessions work the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import chain
from typing import TYPE_CHECKING

from engine.errors import ExecutionFailed
from engine.spark.sessions import Sessions, described
from engine.spark.spark_tasks import scanning, superstep
from engine.supersteps.executor import SuperstepTask
from engine.supersteps.messages import Message, MessageKind, decode_messages

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_SCHEMA = "shard int, kind string, head binary, body binary"
_SEEDS = (
    "cast(id as int) as shard",
    f"'{MessageKind.SEED}' as kind",
    "cast('[null,null]' as binary) as head",
    "cast('' as binary) as body",
)
MORE = 8
"""Supersteps of an epoch's second job; each further job has twice as many, up to `MOST`."""
MOST = 32


class SparkTransport:
    """Runs supersteps in the session of `sessions`."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    def run(self, task: SuperstepTask) -> Sequence[Message]:
        """Run all shards in Spark jobs; returns their reports."""
        session = self._sessions.get()
        with described(session, task.name, task.tag):
            return _Run(session, task).reports()


class _Run:
    """The jobs of one epoch."""

    def __init__(self, session: SparkSession, task: SuperstepTask) -> None:
        self._session = session
        self._task = task
        self._step = superstep(str(task.spec))
        self._kept: list[DataFrame] = []

    def reports(self) -> Sequence[Message]:
        program = self._task.program
        try:
            frame = self._first()
            supersteps, more = program.exchanges, MORE
            while True:
                for _ in range(supersteps):
                    frame = self._next(frame)
                if program.has_rounds:
                    self._kept.append(frame.persist())
                found = frame.where(f"kind = '{MessageKind.REPORT}'").toArrow()
                if found.num_rows:
                    return list(
                        chain.from_iterable(map(decode_messages, found.combine_chunks().to_batches()))
                    )
                if not program.has_rounds:
                    raise ExecutionFailed(f"{self._task.name} did not finish on Spark")
                supersteps, more = more, min(2 * more, MOST)
        finally:
            for kept in self._kept:
                kept.unpersist()

    def _first(self) -> DataFrame:
        """The first superstep, and the scans beside it."""
        shards = self._task.shards
        seeds = self._session.range(0, shards, 1, shards).selectExpr(*_SEEDS)
        frames = [seeds.repartitionById(shards, "shard").mapInArrow(self._step, _SCHEMA)]
        for table, scan in self._task.scans.items():
            rows = scan.frame.selectExpr("*", "spark_partition_id() as _partition")
            frames.append(rows.mapInArrow(scanning(str(self._task.spec), table), _SCHEMA))
        return reduce(lambda left, right: left.unionAll(right), frames)

    def _next(self, frame: DataFrame) -> DataFrame:
        return frame.repartitionById(self._task.shards, "shard").mapInArrow(self._step, _SCHEMA)
