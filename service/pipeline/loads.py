"""Loads: data from outside into a table, as one epoch or not at all.

This process reads files of this machine that are not too large; Spark reads all else.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from math import inf

import pyarrow as pa

from engine.judging.row_judge import RowJudge
from engine.kernels.parallel.threads import ahead
from engine.runtime.execution import RowScan
from engine.spark.sessions import Sessions
from service.definitions.definition import Definition
from service.errors import Invalid
from service.pipeline.job_runs import JobRun, Runner
from service.pipeline.jobs import Job
from service.pipeline.judge import Found, match, row_judge
from service.pipeline.loader import Loader
from service.pipeline.local_files import ColumnsFound, LocalReader, SparkNeeded, any_larger
from service.pipeline.local_readers import open_here
from service.pipeline.locations import Location, allowed_address, to_read
from service.pipeline.readers import read_frame
from service.pipeline.row_bounds import CLOSE, most_rows
from service.pipeline.spark_options import Value, reader_options, without_secrets
from service.pipeline.watch import watched
from service.placement import Where
from service.running.runtime import Runtime

KIND = "load"
_READ = 0.8
"""The progress of a load whose rows have been read."""

_log = logging.getLogger("freshet.pipeline")


@dataclass(frozen=True)
class LoadRequest:
    """`columns` maps names of columns in the data to the table's names. A bad row, or a column that the table
    does not have, fails the load unless it is to be skipped or ignored."""

    table: str
    format: str
    path: str | None = None
    options: Mapping[str, Value] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    skip_bad: bool = False
    ignore_unknown: bool = False

    @property
    def shown(self) -> dict[str, object]:
        """The request without secrets."""
        return {**asdict(self), "options": without_secrets(self.options)}


@dataclass(frozen=True, eq=False)
class _Task:
    """A checked request: its table at that time, and options and place as Spark takes them."""

    request: LoadRequest
    definition: Definition
    options: Mapping[str, str]
    place: Location


class Loads:
    def __init__(self, runtime: Runtime, sessions: Sessions, runner: Runner) -> None:
        self._runtime = runtime
        self._sessions = sessions
        self._runner = runner
        self._loader = Loader(runtime, sessions)

    def submit(self, request: LoadRequest) -> Job:
        """Submits a new job. Raises NotFound, Invalid or Overloaded without creating one."""
        definition = self._runtime.definition(request.table, view=False)
        options = reader_options(request.format, request.options)
        task = _Task(request, definition, options, self._place(request, options))
        job = Job.new(KIND, request.shown)
        self._runner.submit(JobRun(job, partial(self._load, task)))
        return job

    def _place(self, request: LoadRequest, options: Mapping[str, str]) -> Location:
        settings = self._runtime.settings
        if request.format == "jdbc":
            if request.path is not None or "url" not in options:
                raise Invalid("a jdbc load needs the option url and no path", code="invalid_option")
            allowed_address(options["url"], settings)
            return Location()
        if request.path is None:
            raise Invalid(f"a load of {request.format} needs a path", code="invalid_request")
        return to_read(request.path, settings)

    def _load(self, task: _Task, run: JobRun) -> Job:
        """Runs the load. Raises Invalid if the columns do not match the table, and the loader's errors."""
        settings = self._runtime.settings
        if settings.local_load_bytes and settings.spark != Where.ALWAYS:
            try:
                return self._load_here(task, run)
            except SparkNeeded as reason:
                _log.info("load %s is read by Spark: %s", run.job.id, reason)
        request, definition = task.request, task.definition
        with watched(self._sessions, run, f"load into {definition.name}: columns", 0.0, 0.1) as session:
            source = read_frame(session, request.format, task.place, task.options, definition.schema.names)
            judge, names, left_out = _judge(task, source.columns, source.corrupt)
            scan = RowScan(source.select(names), judge, request.skip_bad)
        is_large = any_larger(task.place.paths, settings.local_load_bytes)
        most = inf if is_large else most_rows(request.format, task.place, task.options)
        is_close = request.format in CLOSE and most < inf
        return self._loader.load(run, definition, scan, left_out, is_large, most, is_close)

    def _load_here(self, task: _Task, run: JobRun) -> Job:
        """The same, for files that this process reads. Raises SparkNeeded."""
        request, definition = task.request, task.definition
        most = self._runtime.settings.local_load_bytes
        reader = open_here(request.format, task.place, task.options, definition.schema.names, most)
        try:
            return self._take(task, run, reader)
        except ColumnsFound:
            reader.look()
            return self._take(task, run, reader)

    def _take(self, task: _Task, run: JobRun, reader: LocalReader) -> Job:
        judge, names, left_out = _judge(task, reader.columns, reader.corrupt)
        batches = _followed(reader, names, run)
        skip_bad, expected = task.request.skip_bad, reader.expected
        return self._loader.take(run, task.definition, batches, judge, skip_bad, left_out, expected)


def _judge(task: _Task, found: Found, corrupt: str) -> tuple[RowJudge, list[str], tuple[int, ...]]:
    """The judge of the rows, the columns that it takes, and the places of columns that the data lacks."""
    request, definition = task.request, task.definition
    matched = match(found, definition.name, definition.fillable, request.columns, request.ignore_unknown)
    left_out = tuple(place for place in range(len(definition.schema)) if place not in matched)
    return *row_judge(found, matched, definition.without(left_out), corrupt), left_out


def _followed(reader: LocalReader, names: list[str], run: JobRun) -> Iterator[pa.RecordBatch]:
    """The reader's batches, which move the run's progress."""
    for batch in ahead(reader.batches(names)):
        run.advance(_READ * reader.progress)
        yield batch
