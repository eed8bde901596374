"""Exports: the rows of a view or a table at an epoch, written by Spark.

The rows first go to Parquet files, in slices; Spark reads these and writes the requested format. So neither
side holds all rows in memory, except the snapshot that they come from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

import pyarrow.parquet

from engine.codec.parquet import decode_parquet, without_times
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
from service.reading.reads import Query, Reader, Reading, check_health
from service.running.runtime import Runtime

KIND = "export"
SLICE = 1 << 20
"""Rows in one of the files that Spark reads."""


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
class _Task:
    """A checked request. `place` is a local directory or an address."""

    request: ExportRequest
    definition: Definition
    options: Mapping[str, str]
    place: Path | str


class Exports:
    def __init__(self, runtime: Runtime, sessions: Sessions, runner: Runner) -> None:
        self._runtime = runtime
        self._sessions = sessions
        self._runner = runner
        self._reader = Reader(runtime.dictionary, 0)

    def submit(self, request: ExportRequest, definition: Definition) -> Job:
        """Submits a new job. Raises Invalid, Conflict, HistoryGone or Overloaded without creating one."""
        check_health(definition, self._runtime.snapshot, request.epoch)
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
        self._runner.submit(JobRun(job, partial(self._export, _Task(request, definition, options, place))))
        return job

    def clear(self, job: Job) -> None:
        """Removes what an interrupted job has left."""
        try:
            place = to_write(str(job.request["path"]), self._runtime.settings)
        except Invalid:
            return  # An address, or a path that is no longer under a root: it stays as it is.
        ExportTarget(place, job.id).clear()

    def _export(self, task: _Task, run: JobRun) -> Job:
        with scratch(scratch_path(self._runtime.settings, run.job.id)) as directory:
            reading = self._read(task)
            self._slice(run, reading, directory)
            if isinstance(task.place, str):
                self._write(task, run, directory, task.place, task.request.mode)
            else:
                self._replace(task, run, directory, ExportTarget(task.place, run.job.id))
        return run.job.ended(DONE, rows=reading.size, epoch=reading.epoch)

    def _read(self, task: _Task) -> Reading:
        snapshot, epoch = self._runtime.snapshot, task.request.epoch
        check_health(task.definition, snapshot, epoch)
        return self._reader.read(task.definition, snapshot, epoch, Query())

    def _slice(self, run: JobRun, reading: Reading, directory: Path) -> None:
        """Writes the rows to files in the directory, at least one."""
        for number, start in enumerate(range(0, max(reading.size, 1), SLICE)):
            run.advance(0.4 * start / max(reading.size, 1))
            words = reading.part(start, start + SLICE)
            rows = decode_parquet(words, reading.schema, self._runtime.dictionary)
            pyarrow.parquet.write_table(without_times(rows), directory / f"{number:06}.parquet")

    def _replace(self, task: _Task, run: JobRun, directory: Path, target: ExportTarget) -> None:
        target.prepare()
        try:
            self._write(task, run, directory, url(target.staging), "errorifexists")
            target.commit(task.request.mode)
        finally:
            target.clear()

    def _write(self, task: _Task, run: JobRun, directory: Path, to: str, mode: str) -> None:
        what = f"export of {task.definition.name} at epoch {task.request.epoch}"
        with watched(self._sessions, run, what, 0.4, 1.0) as session:
            frame = session.read.parquet(local(directory))
            frame.write.format(task.request.format).options(**task.options).mode(mode).save(to)
