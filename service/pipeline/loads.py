"""Loads: Spark reads data into a table, as one epoch or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import partial

from engine.runtime.execution import RowScan
from engine.spark.sessions import Sessions
from service.definitions.definition import Definition
from service.errors import Invalid
from service.pipeline.job_runs import JobRun, Runner
from service.pipeline.jobs import Job
from service.pipeline.judge import judged, match
from service.pipeline.loader import Loader
from service.pipeline.locations import Location, allowed_address, to_read
from service.pipeline.readers import read_frame
from service.pipeline.spark_options import Value, reader_options, without_secrets
from service.pipeline.watch import watched
from service.running.runtime import Runtime

KIND = "load"


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
        request, definition = task.request, task.definition
        table, schema = definition.name, definition.fillable
        with watched(self._sessions, run, f"load into {table}: columns", 0.0, 0.1) as session:
            source = read_frame(session, request.format, task.place, task.options, schema.names)
            matched = match(source.columns, table, schema, request.columns, request.ignore_unknown)
            left_out = tuple(place for place in range(len(schema)) if place not in matched)
            expected = definition.without(left_out)
            frame = judged(source.frame, source.columns, matched, expected, source.corrupt)
        return self._loader.load(run, definition, source.frame, RowScan(frame, request.skip_bad), left_out)
