"""Loading checked rows into a table as one epoch, in this process or on Spark.

Where `service/placement.py` would choose the process, Spark writes the rows to files in the scratch
directory, and the process turns them into changes like any others. Otherwise the rows stay on Spark.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.parquet

from engine.codec import encode_arrow
from engine.runtime.execution import Declined, RowScan, Scanned
from engine.spark.sessions import Sessions
from service.catalog.catalog import Receipt
from service.changes.resolve import RowConflict, key_conflict
from service.changes.table_changes import Applied, ChangeOp, TableChanges
from service.definitions.definition import Definition
from service.errors import Invalid, Overloaded
from service.pipeline.job_runs import JobRun
from service.pipeline.jobs import DONE, Job, write_job
from service.pipeline.judge import ERROR
from service.pipeline.locations import url
from service.pipeline.scratch import scratch, scratch_path
from service.pipeline.watch import watched
from service.placement import Where
from service.running.runtime import Runtime
from service.writing.request import Load, replaced

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_SHOWN = 5
"""The most bad rows that a failure quotes."""
_MOST_COUNTED = 2**31 - 1
"""The greatest limit that Spark takes."""
_PAUSE = 0.2
"""Seconds between two attempts to enter the writer's queue."""


@dataclass(frozen=True, eq=False)
class Loader:
    runtime: Runtime
    sessions: Sessions

    def load(
        self,
        run: JobRun,
        definition: Definition,
        source: DataFrame,
        scan: RowScan,
        left_out: tuple[int, ...] = (),
    ) -> Job:
        """Loads the rows of a scan, which takes them from `source` one by one. Returns the job as done.

        Columns at the places `left_out` get their defaults. If the table has more rules for a row than NOT
        NULL, this process loads the rows.

        Raises Invalid for a bad row unless bad rows are skipped, Conflict if a key exists; and Cancelled, as
        long as the epoch has not been made.
        """
        rules = definition.details.rules
        names = {definition.schema.names[place] for place in left_out}
        is_plain = not rules.judges and names.isdisjoint(rules.defaults)
        if is_plain and self._is_sparks(run, definition, source):
            try:
                with self._watched(run, definition, "an epoch", 0.2, 1.0):
                    load = Load(definition, scan, run.job.id, partial(_receipt, run.job))
                    applied, scanned = self.runtime.load(load, run.check)
                return self._done(run, scanned, applied)
            except Declined:
                run.check()
        with self.runtime.dictionary.holding():
            return self._load_here(run, definition, scan, left_out)

    def _watched(self, run: JobRun, definition: Definition, what: str, start: float, stop: float):
        return watched(self.sessions, run, f"load into {definition.name}: {what}", start, stop)

    def _is_sparks(self, run: JobRun, definition: Definition, source: DataFrame) -> bool:
        """Whether Spark computes the epoch."""
        settings = self.runtime.settings
        where = Where(settings.spark)
        if where is not Where.AUTO:
            return where is Where.ALWAYS
        with self._watched(run, definition, "size", 0.1, 0.2):
            return source.limit(min(settings.spark_rows, _MOST_COUNTED)).count() >= settings.spark_rows

    def _load_here(
        self, run: JobRun, definition: Definition, scan: RowScan, left_out: tuple[int, ...]
    ) -> Job:
        with scratch(scratch_path(self.runtime.settings, run.job.id)) as directory:
            with self._watched(run, definition, "rows", 0.2, 0.8):
                scan.frame.write.parquet(url(directory / "rows"))
            words, scanned = self._words(directory / "rows", definition, scan.skip_bad)
        words[list(left_out)] = definition.defaults()[list(left_out), np.newaxis]
        changes, scanned = _sound(definition, words, scanned, scan.skip_bad)
        applied = self._commit(run, definition, changes, _receipt(run.job, scanned))
        return self._done(run, scanned, applied)

    def _done(self, run: JobRun, scanned: Scanned, applied: Applied) -> Job:
        self.runtime.metrics.loaded_rows.add(scanned.rows)
        return _done(run.job, scanned, applied)

    def _words(self, directory: Path, definition: Definition, skip_bad: bool) -> tuple[np.ndarray, Scanned]:
        """The words int64[W, n] of good rows in a directory's files; Invalid for bad ones, unless skipped."""
        schema = definition.schema
        parts: list[np.ndarray] = []
        examples: list[str] = []
        skipped = 0
        for path in sorted(directory.glob("*.parquet")):
            rows = pyarrow.parquet.read_table(path)
            errors = rows.column(ERROR)
            bad = len(rows) - errors.null_count
            if bad:
                skipped += bad
                examples += errors.drop_null()[: _SHOWN - len(examples)].to_pylist()
                rows = rows.filter(errors.is_null())
            parts.append(encode_arrow(rows.drop_columns([ERROR]), definition.loose, self.runtime.dictionary))
        if skipped and not skip_bad:
            raise _bad_rows(skipped, examples)
        words = np.concatenate(parts, axis=1) if parts else np.empty((len(schema), 0), np.int64)
        return words, Scanned(words.shape[1], skipped, tuple(examples))

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


def _bad_rows(count: int, messages: list[str]) -> Invalid:
    """The error for a load with rows that do not fit the table."""
    rest = count - len(messages)
    more = f"; and {rest} more" if rest else ""
    return Invalid(
        f"{count} bad {'row' if count == 1 else 'rows'}: {'; '.join(messages)}{more}",
        'use "bad_rows": "skip" to leave them out and count them',
        code="bad_rows",
    )


def _sound(
    definition: Definition, words: np.ndarray, scanned: Scanned, skip_bad: bool
) -> tuple[TableChanges, Scanned]:
    """The inserts of rows; if bad rows are skipped, without those that the table's rules refuse."""
    changes = TableChanges.of(ChangeOp.INSERT, definition.schema, words)
    if not skip_bad or definition.filling is None:
        return changes, scanned
    changes = definition.filling.completed(changes)
    bad = np.zeros(len(changes), np.bool_)
    for _, faulty in definition.faults(changes):
        bad |= faulty
    sound = TableChanges.of(ChangeOp.INSERT, changes.schema, np.ascontiguousarray(changes.words[:, ~bad]))
    return sound, Scanned(len(sound), scanned.skipped + int(bad.sum()), scanned.examples)
