"""Exports: the rows of a view or a table at an epoch, written to files.

This process writes Parquet to a directory of this machine, unless it is much. For all else the rows go to
Parquet files in a scratch directory, in slices; Spark reads these and writes the requested format. So neither
side holds all rows in memory, except the snapshot that they come from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow.parquet

from engine.codec.parquet import decode_parquet, without_times
from engine.schema import Schema
from engine.spark.sessions import Sessions
from service.definitions.definition import Definition
from service.errors import Invalid
from service.pipeline.job_runs import JobRun, Runner
from service.pipeline.jobs import DONE, Job
from service.pipeline.locations import allowed_address, is_address, local, to_write, url
from service.pipeline.scratch import scratch, scratch_path
from service.pipeline.spark_options import Value, without_secrets, writer_options
from service.pipeline.targets import ExportTarget
from service.pipeline.watch import watched
from service.placement import Where
from service.reading.reads import Query, Reader, Reading, check_health
from service.running.runtime import Runtime

KIND = "export"
SLICE = 1 << 20
"""Rows in one file."""
_WORD = 8  # bytes
_COMPRESSIONS = {"none": "none", "uncompressed": "none", "snappy": "snappy", "gzip": "gzip", "zstd": "zstd"}
"""The values of Spark's option that this process knows, as PyArrow calls them."""


@dataclass(frozen=True)
class ExportRequest:
    """The rows of `relation` at `epoch` go to `path`, in a `mode` of `service.pipeline.targets`."""

    relation: str
    epoch: int
    format: str
    path: str
    mode: str
    options: Mapping[str, Value] = field(default_factory=dict)

    @property
    def shown(self) -> dict[str, object]:
        """The request without secrets."""
        return {**asdict(self), "options": without_secrets(self.options)}


@dataclass(frozen=True, eq=False)
class GivenRows:
    """The rows of a query, as words int64[W, n] of the schema's columns."""

    schema: Schema
    words: np.ndarray

    @property
    def size(self) -> int:
        return self.words.shape[1]

    def part(self, start: int, stop: int) -> np.ndarray:
        return self.words[:, start:stop]


@dataclass(frozen=True, eq=False)
class _Task:
    """A checked request: the rows of a table or view, or given ones. `place` is a local directory or an
    address."""

    request: ExportRequest
    exported: Definition | GivenRows
    options: Mapping[str, str]
    place: Path | str


class Exports:
    def __init__(self, runtime: Runtime, sessions: Sessions, runner: Runner) -> None:
        self._runtime = runtime
        self._sessions = sessions
        self._runner = runner
        self._reader = Reader(runtime.dictionary, 0)

    def submit(self, request: ExportRequest, exported: Definition | GivenRows) -> Job:
        """Submits a new job. Raises Invalid, Conflict, HistoryGone or Overloaded without creating one."""
        if isinstance(exported, Definition):
            check_health(exported, self._runtime.snapshot, request.epoch)
        options = writer_options(request.format, request.options)
        settings = self._runtime.settings
        place: Path | str
        if is_address(request.path):
            place = allowed_address(request.path, settings)
        else:
            place = to_write(request.path, settings)
        job = Job.new(KIND, request.shown)
        if isinstance(place, Path):
            ExportTarget(place, job.id).check(request.mode)
        self._runner.submit(JobRun(job, partial(self._export, _Task(request, exported, options, place))))
        return job

    def clear(self, job: Job) -> None:
        """Removes what an interrupted job has left."""
        try:
            place = to_write(str(job.request["path"]), self._runtime.settings)
        except Invalid:
            return  # An address, or a path that is no longer under a root: it stays as it is.
        ExportTarget(place, job.id).clear()

    def _export(self, task: _Task, run: JobRun) -> Job:
        with self._runtime.dictionary.holding():
            reading = self._read(task)
            if isinstance(task.place, Path) and self._is_written_here(task, reading):
                self._write_here(task, run, reading, ExportTarget(task.place, run.job.id))
            else:
                self._write_through_spark(task, run, reading)
        return run.job.ended(DONE, rows=reading.size, epoch=task.request.epoch)

    def _is_written_here(self, task: _Task, reading: Reading | GivenRows) -> bool:
        settings = self._runtime.settings
        size = reading.size * len(reading.schema) * _WORD
        return (
            task.request.format == "parquet"
            and task.options.get("compression", "snappy") in _COMPRESSIONS
            and settings.spark != Where.ALWAYS
            and size < settings.local_load_bytes
        )

    def _write_here(
        self, task: _Task, run: JobRun, reading: Reading | GivenRows, target: ExportTarget
    ) -> None:
        """Writes the files that Spark would write, with the mark of a finished job."""
        codec = _COMPRESSIONS[task.options.get("compression", "snappy")]
        ending = "parquet" if codec == "none" else f"{codec}.parquet"
        target.prepare()
        try:
            target.staging.mkdir()
            name = f"part-{{:05}}-{run.job.id}-c000.{ending}"
            self._slice(run, reading, target.staging, name, 1.0, compression=codec, store_schema=False)
            target.mark()
            target.commit(task.request.mode)
        finally:
            target.clear()

    def _write_through_spark(self, task: _Task, run: JobRun, reading: Reading | GivenRows) -> None:
        with scratch(scratch_path(self._runtime.settings, run.job.id)) as directory:
            self._slice(run, reading, directory, "{:06}.parquet", 0.4)
            if isinstance(task.place, str):
                self._write(task, run, directory, task.place, task.request.mode)
            else:
                self._replace(task, run, directory, ExportTarget(task.place, run.job.id))

    def _read(self, task: _Task) -> Reading | GivenRows:
        if isinstance(task.exported, GivenRows):
            return task.exported
        snapshot, epoch = self._runtime.snapshot, task.request.epoch
        check_health(task.exported, snapshot, epoch)
        return self._reader.read(task.exported, snapshot, epoch, Query())

    def _slice(
        self,
        run: JobRun,
        reading: Reading | GivenRows,
        directory: Path,
        name: str,
        until: float,
        **how: object,
    ) -> None:
        """Writes the rows to files in the directory, at least one. `name` is the format of their names, which
        takes a number; the run's progress moves to `until`."""
        for number, start in enumerate(range(0, max(reading.size, 1), SLICE)):
            run.advance(until * start / max(reading.size, 1))
            words = reading.part(start, start + SLICE)
            rows = decode_parquet(words, reading.schema, self._runtime.dictionary)
            pyarrow.parquet.write_table(without_times(rows), directory / name.format(number), **how)

    def _replace(self, task: _Task, run: JobRun, directory: Path, target: ExportTarget) -> None:
        target.prepare()
        try:
            self._write(task, run, directory, url(target.staging), "errorifexists")
            target.commit(task.request.mode)
        finally:
            target.clear()

    def _write(self, task: _Task, run: JobRun, directory: Path, to: str, mode: str) -> None:
        what = f"export of {task.request.relation} at epoch {task.request.epoch}"
        with watched(self._sessions, run, what, 0.4, 1.0) as session:
            frame = session.read.parquet(local(directory))
            frame.write.format(task.request.format).options(**task.options).mode(mode).save(to)
