"""Loading rows into a table as one epoch, in this process or on Spark.

Rows that Spark reads come to this process as columns where `service/placement.py` would choose the process,
and are judged while Spark reads on. Otherwise they stay on Spark. Where their files do not say that they are
few, they are counted first: Spark counts much faster than it sends rows, and to fetch only as many as the
process would take needs a shuffle, which costs more than the count.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from math import inf

import numpy as np
import pyarrow as pa

from engine.judging.row_judge import RowJudge
from engine.runtime.execution import Declined, RowScan, Scanned
from engine.spark.sessions import Sessions
from service.catalog.catalog import Receipt
from service.changes.resolve import RowConflict, key_conflict
from service.changes.table_changes import Applied, ChangeOp, TableChanges
from service.definitions.definition import Definition
from service.errors import Overloaded
from service.pipeline.gathered_rows import GatheredRows
from service.pipeline.job_runs import JobRun
from service.pipeline.jobs import DONE, Job, write_job
from service.pipeline.watch import watched
from service.placement import Where
from service.running.runtime import Runtime
from service.writing.request import Load, replaced

_PAUSE = 0.2
"""Seconds between two attempts to enter the writer's queue."""
_COUNTED, _READ = 0.2, 0.8
"""The progress of a load whose rows have been counted, and read."""


@dataclass(frozen=True, eq=False)
class Loader:
    runtime: Runtime
    sessions: Sessions

    def load(
        self,
        run: JobRun,
        definition: Definition,
        scan: RowScan,
        left_out: tuple[int, ...] = (),
        is_large: bool = False,
        most: float = inf,
        is_close: bool = False,
    ) -> Job:
        """Loads the rows of a scan, which Spark reads. Returns the job as done.

        Columns at the places `left_out` get their defaults. If the table has more rules for a row than NOT
        NULL, this process loads the rows; else Spark does if they are known to be many, or prove to be. There
        are no more than `most`; about as many, if that `is_close`.

        Raises Invalid for a bad row unless bad rows are skipped, Conflict if a key exists; and Cancelled, as
        long as the epoch has not been made.
        """
        rules = definition.details.rules
        names = {definition.schema.names[place] for place in left_out}
        where = Where(self.runtime.settings.spark)
        may_be_sparks = where is not Where.NEVER and not rules.judges and names.isdisjoint(rules.defaults)
        columns, has_room = len(definition.schema), self.runtime.settings.has_room_for
        may_be_few = where is Where.AUTO and not is_large
        if may_be_sparks and may_be_few and not has_room(most, columns):
            most, is_close = self._counted(run, definition, scan), True
        if may_be_sparks and not (may_be_few and has_room(most, columns)):
            try:
                with self._watched(run, definition, "an epoch", _COUNTED, 1.0):
                    load = Load(definition, scan, run.job.id, partial(_receipt, run.job))
                    applied, scanned = self.runtime.load(load, run.check)
                return self._done(run, scanned, applied)
            except Declined:
                run.check()
        if most == inf:
            most, is_close = self._counted(run, definition, scan), True
        expected = int(most) if is_close else 0
        with closing(self._fetched(run, definition, scan, most)) as batches:
            return self.take(run, definition, batches, scan.judge, scan.skip_bad, left_out, expected)

    def take(
        self,
        run: JobRun,
        definition: Definition,
        batches: Iterable[pa.RecordBatch],
        judge: RowJudge,
        skip_bad: bool,
        left_out: tuple[int, ...] = (),
        expected: int = 0,
    ) -> Job:
        """Loads the rows of batches, probably as many as `expected`, in this process, as `load` does."""
        dictionary = self.runtime.dictionary
        with dictionary.holding():
            gathered = GatheredRows(judge, dictionary, expected)
            for batch in batches:
                run.check()
                gathered.add(batch)
            rows, scanned = gathered.taken(skip_bad)
            rows[list(left_out)] = definition.defaults()[list(left_out), np.newaxis]
            changes = TableChanges.within(ChangeOp.INSERT, definition.schema, rows)
            if skip_bad:
                changes, scanned = _sound(definition, changes, scanned)
            run.advance(_READ)
            applied = self._commit(run, definition, changes, _receipt(run.job, scanned))
        return self._done(run, scanned, applied)

    def _watched(self, run: JobRun, definition: Definition, what: str, start: float, stop: float):
        return watched(self.sessions, run, f"load into {definition.name}: {what}", start, stop)

    def _counted(self, run: JobRun, definition: Definition, scan: RowScan) -> int:
        """The number of a scan's rows."""
        with self._watched(run, definition, "count", 0.1, _COUNTED):
            return scan.frame.count()  # type: ignore[no-any-return]

    def _fetched(
        self, run: JobRun, definition: Definition, scan: RowScan, most: float
    ) -> Generator[pa.RecordBatch, None, None]:
        """The rows of a scan, which move the run's progress: no more than `most`."""
        done = 0
        with (
            self._watched(run, definition, "rows", _COUNTED, _COUNTED),
            closing(self.sessions.fetched(scan.frame, most)) as batches,
        ):
            for batch in batches:
                done += batch.num_rows
                run.advance(_COUNTED + (_READ - _COUNTED) * min(1.0, done / max(most, 1)))
                yield batch

    def _done(self, run: JobRun, scanned: Scanned, applied: Applied) -> Job:
        self.runtime.metrics.loaded_rows.add(scanned.rows)
        return _done(run.job, scanned, applied)

    def _commit(
        self, run: JobRun, definition: Definition, changes: TableChanges, receipt: Receipt
    ) -> Applied:
        """Waits for room in the writer's queue, and then for the epoch."""
        while True:
            run.check()
            if self.runtime.definitions().get(definition.name) is not definition:
                raise replaced(definition)
            try:
                return self.runtime.commit({definition.name: changes}, receipt, run.check)
            except Overloaded:
                time.sleep(_PAUSE)
            except RowConflict as error:
                key = changes.words[list(definition.relation.key or ()), error.place]
                dictionary = self.runtime.dictionary
                raise key_conflict(definition.name, definition.key_schema, key, dictionary) from None


def _done(job: Job, scanned: Scanned, applied: Applied) -> Job:
    return job.ended(DONE, rows=scanned.rows, skipped=scanned.skipped, epoch=applied.epoch)


def _receipt(job: Job, scanned: Scanned) -> Receipt:
    """A receipt that marks the job as done in the transaction of its epoch."""
    return lambda connection, applied: write_job(connection, _done(job, scanned, applied))


def _sound(definition: Definition, changes: TableChanges, scanned: Scanned) -> tuple[TableChanges, Scanned]:
    """The changes without those that the table's rules refuse."""
    if definition.filling is None:
        return changes, scanned
    changes = definition.filling.completed(changes)
    bad = np.zeros(len(changes), np.bool_)
    for _, faulty in definition.faults(changes):
        bad |= faulty
    if not bad.any():
        return changes, scanned
    sound = TableChanges.of(ChangeOp.INSERT, changes.schema, np.ascontiguousarray(changes.words[:, ~bad]))
    return sound, Scanned(len(sound), scanned.skipped + int(bad.sum()), scanned.examples)
