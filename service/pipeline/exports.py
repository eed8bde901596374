"""Exports: the rows of a view or a table at an epoch, written to files.

This process writes Parquet to a directory of this machine, unless it is much, and CSV of one column, where
Spark would leave out NULLs. For all else the rows go to Parquet files in a scratch directory, in slices;
Spark reads these and writes the requested format. So neither side holds all rows in memory, except the
snapshot that they come from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from engine.codec.parquet import decode_parquet, without_times
from engine.kernels.words import NULL
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
from service.reading.text_columns import csv_header, csv_lines
from service.running.runtime import Runtime

KIND = "export"
SLICE = 1 << 20
"""Rows in one file."""
_WORD = 8  # bytes
_COMPRESSIONS = {"none": "none", "uncompressed": "none", "snappy": "snappy", "gzip": "gzip", "zstd": "zstd"}
"""The values of Spark's option that this process knows, as PyArrow calls them."""
_OF_TEXT = {"none": "", "uncompressed": "", "gzip": ".gz"}
"""Those for text, with the ending of a file's name."""


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
            elif isinstance(task.place, Path) and _is_plain_column(task, reading):
                self._write_column(task, run, reading, ExportTarget(task.place, run.job.id))
            else:
                _check_column(task, reading)
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
        with _staged(target, task.request.mode):
            name = f"part-{{:05}}-{run.job.id}-c000.{ending}"
            self._slice(run, reading, target.staging, name, 1.0, compression=codec, store_schema=False)

    def _write_column(
        self, task: _Task, run: JobRun, reading: Reading | GivenRows, target: ExportTarget
    ) -> None:
        """Writes CSV of one column to a file, a NULL as a blank line, as PostgreSQL and DuckDB do."""
        packing = task.options.get("compression", "none")
        name = f"part-00000-{run.job.id}-c000.csv{_OF_TEXT[packing]}"
        how = "gzip" if _OF_TEXT[packing] else None
        with (
            _staged(target, task.request.mode),
            pa.output_stream(target.staging / name, compression=how) as file,
        ):
            if task.options["header"] == "true":
                file.write(csv_header(reading.schema))
            for start in range(0, reading.size, SLICE):
                run.advance(start / reading.size)
                words = reading.part(start, min(start + SLICE, reading.size))
                file.write(csv_lines(words, reading.schema, self._runtime.dictionary))

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


@contextmanager
def _staged(target: ExportTarget, mode: str) -> Iterator[None]:
    """A directory for files that this process writes, which goes to its place when they are written."""
    target.prepare()
    try:
        target.staging.mkdir()
        yield
        target.mark()
        target.commit(mode)
    finally:
        target.clear()


def _is_plain_column(task: _Task, reading: Reading | GivenRows) -> bool:
    """Whether this process writes the request: CSV of one column, in the form of the service's other CSV."""
    given = {**task.options, "header": "true", "compression": "none"}
    usual = {**writer_options("csv", {}), "compression": "none"}
    has_header = task.options.get("header") in ("true", "false")
    is_packed_so = task.options.get("compression", "none") in _OF_TEXT
    is_column = task.request.format == "csv" and len(reading.schema) == 1
    return is_column and given == usual and has_header and is_packed_so


def _check_column(task: _Task, reading: Reading | GivenRows) -> None:
    """Raise Invalid for CSV of one column with a NULL that Spark would leave out."""
    if task.request.format != "csv" or len(reading.schema) != 1 or task.options.get("nullValue"):
        return
    if any((reading.part(at, at + SLICE) == NULL).any() for at in range(0, reading.size, SLICE)):
        raise Invalid(
            "CSV of one column has no place for NULL in this form",
            "name a word for NULL with the option nullValue, or leave out the other options",
            code="invalid_option",
        )
