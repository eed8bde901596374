"""SQL's statements about data outside: CREATE, DROP and SHOW of sources and sinks, and COPY of files.

They make the same requests as HTTP's routes, with the same rights.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeVar

import numpy as np
import pyarrow as pa
from pydantic import BaseModel, ValidationError

from engine.schema import Schema
from planner.relation_names import schema_of
from planner.statements.drop_statements import DropStream
from planner.statements.outside import OUTSIDE, CopyFiles, CreateSink, CreateSource, Options, ShowStreams
from service.accounts.principals import Principal
from service.accounts.privileges import Privilege
from service.errors import Conflict, Invalid, ServiceError
from service.names import fold_name, fold_relation
from service.pipeline.exports import ExportRequest, GivenRows
from service.pipeline.jobs import CANCELLED, RUNNING, Job, as_visible
from service.pipeline.loads import LoadRequest
from service.pipeline.pipeline import Pipeline
from service.pipeline.sinks import Sink, Sinks
from service.pipeline.source import StreamingSource
from service.pipeline.sources import Sources
from service.pipeline.stream_requests import NewSink, NewSource
from service.reading.callers import Caller
from service.reading.duck import Answer
from service.reading.lanes import Lane
from service.running.runtime import Runtime

M = TypeVar("M", bound=BaseModel)
Outcome = tuple[int | None, Answer | None]
"""The number of rows, or an answer."""
SOURCE_CONNECTOR, SINK_CONNECTOR = "posix_fs", "fs"
_ENVELOPES = {"PLAIN": None, "DEBEZIUM": "debezium", "CHANGES": "changes"}
_SOURCE_OPTIONS = {
    "posix_fs.root": "path",
    **{name: name for name in ("table", "timestamps", "trigger_seconds", "files_per_batch", "bad_rows")},
}
_SINK_OPTIONS = {"fs.path": "path", "from": "from", "interval_seconds": "interval_seconds"}
_PAUSE = 0.02
"""Seconds between two looks at a job."""


class OutsideStatements:
    """`pipeline` gives None in a standby, which makes no changes."""

    def __init__(self, runtime: Runtime, pipeline: Callable[[], Pipeline | None], jobs: Lane) -> None:
        self._runtime = runtime
        self._pipeline = pipeline
        self._jobs = jobs

    @staticmethod
    def given(schema: Schema, words: np.ndarray) -> GivenRows:
        """The rows of a query, for `run`."""
        return GivenRows(schema, words)

    async def run(self, statement: OUTSIDE, caller: Caller, rows: GivenRows | None) -> Outcome:
        """Runs a statement; `rows` are those of the query of a COPY. Raises Forbidden and the pipeline's
        errors."""
        self._runtime.must_lead()
        pipeline, principal = self._pipeline(), caller.principal
        assert pipeline is not None  # a leader has one
        match statement:
            case CreateSource():
                await self._create_source(statement, pipeline, principal)
            case CreateSink():
                await self._create_sink(statement, pipeline, principal)
            case DropStream():
                await self._drop(statement, pipeline, principal)
            case ShowStreams(kind=kind):
                return None, _shown(kind, pipeline, principal)
            case CopyFiles(is_from=True):
                return await self._load(statement, pipeline, caller), None
            case CopyFiles():
                return await self._export(statement, pipeline, caller, rows), None
        return None, None

    async def _create_source(self, statement: CreateSource, pipeline: Pipeline, principal: Principal) -> None:
        asked = _named_as(statement.options, SOURCE_CONNECTOR, "source", _SOURCE_OPTIONS)
        if statement.table is not None:
            asked["table"] = statement.table.name
        if statement.format not in _ENVELOPES:
            raise Invalid(
                f"a source has no format {statement.format}",
                f"formats are {', '.join(_ENVELOPES)}",
                code="invalid_option",
            )
        asked |= {"format": statement.encode.lower(), "envelope": _ENVELOPES[statement.format]}
        asked["options"] = _reading(statement)
        new = _valid(NewSource, {"name": statement.name, **asked})
        principal.require_defining(schema_of(fold_relation(new.table)))
        if statement.if_not_exists and fold_name(new.name) in pipeline.sources.all:
            return
        definition = await self._jobs.run(new.definition, self._runtime.settings)
        await self._jobs.run(pipeline.sources.create, definition)

    async def _create_sink(self, statement: CreateSink, pipeline: Pipeline, principal: Principal) -> None:
        asked = _named_as(statement.options, SINK_CONNECTOR, "sink", _SINK_OPTIONS)
        if (statement.format, statement.encode, statement.encoding) != ("PLAIN", "PARQUET", {}):
            raise Invalid("a sink has FORMAT PLAIN ENCODE PARQUET, without options", code="invalid_option")
        new = _valid(NewSink, {"name": statement.name, "view": statement.relation, **asked})
        principal.require_defining(schema_of(statement.relation))
        if statement.if_not_exists and fold_name(new.name) in pipeline.sinks.all:
            return
        definition = await self._jobs.run(new.definition, self._runtime.settings)
        await self._jobs.run(pipeline.sinks.create, definition)

    async def _drop(self, statement: DropStream, pipeline: Pipeline, principal: Principal) -> None:
        streams = _streams(statement.kind, pipeline)
        names = [name for name in statement.names if name in streams.all or not statement.if_exists]
        for name in names:
            principal.require_defining(schema_of(streams.get(name).definition.relation))
        for name in names:
            await self._jobs.run(streams.drop, name)

    async def _load(self, statement: CopyFiles, pipeline: Pipeline, caller: Caller) -> int:
        caller.principal.require_defining()  # a file may have rows that INSERT alone does not let one read
        caller.principal.require(Privilege.INSERT, statement.relation)
        self._runtime.memory.check("a load")
        request = LoadRequest(statement.relation, statement.format, statement.place, statement.options)
        job = await self._jobs.run(pipeline.loads.submit, request)
        return await self._ended(job, pipeline, caller)

    async def _export(
        self, statement: CopyFiles, pipeline: Pipeline, caller: Caller, rows: GivenRows | None
    ) -> int:
        runtime, principal = self._runtime, caller.principal
        epoch, name = runtime.snapshot.upper - 1, statement.relation
        principal.require_defining(*([schema_of(name)] if rows is None else ()))
        exported = runtime.definition(name) if rows is None else rows
        parts = (statement.format, statement.place, statement.mode, statement.options)
        request = ExportRequest(name or "(query)", epoch, *parts)
        job = await self._jobs.run(pipeline.exports.submit, request, exported)
        return await self._ended(job, pipeline, caller)

    async def _ended(self, job: Job, pipeline: Pipeline, caller: Caller) -> int:
        """The rows of a job when it is done. It is cancelled if the caller goes. Raises its error."""
        pause = _PAUSE
        with caller.ending(partial(pipeline.runner.cancel, job)):
            while True:
                found = await pipeline.runner.job(job.kind, job.id, self._jobs)
                if as_visible(found, pipeline.upper).state != RUNNING:
                    break
                await asyncio.sleep(pause)
                pause = min(pause * 1.5, 0.5)
        if found.error is not None:
            raise _failure(found.error)
        if found.state == CANCELLED:
            raise Conflict(f"the {job.kind} was cancelled", code="cancelled")
        return found.rows or 0


def _failure(error: Mapping[str, object]) -> ServiceError:
    """The error that a job has kept."""
    found = ServiceError(str(error["detail"]), str(error["hint"]), code=str(error["code"]))
    found.status = int(str(error["status"]))
    return found


def _named_as(given: Options, connector: str, kind: str, names: Mapping[str, str]) -> dict[str, object]:
    """The options under the names that HTTP has for them. Raises Invalid for another connector or option."""
    if given.get("connector") != connector:
        raise Invalid(
            f"a {kind} has no connector {given.get('connector', '')!r}",
            f"the connectors are: {SOURCE_CONNECTOR} of sources, {SINK_CONNECTOR} of sinks",
            code="invalid_option",
        )
    for name in given:
        if name != "connector" and name not in names:
            raise Invalid(
                f"a {kind} has no option {name}", f"it has {', '.join(names)}", code="invalid_option"
            )
    return {names[name]: value for name, value in given.items() if name != "connector"}


def _reading(statement: CreateSource) -> dict[str, str]:
    """The options of the reader, in its words. Raises Invalid if CSV does not say whether it has a header:
    RisingWave's has none by default, others have one."""
    options = dict(statement.encoding)
    if statement.encode == "CSV":
        if "without_header" not in options:
            raise Invalid(
                "ENCODE CSV does not say whether the first line is a header",
                "write (without_header = 'true') or 'false'",
                code="invalid_option",
            )
        options["header"] = "false" if options.pop("without_header").lower() == "true" else "true"
        if "delimiter" in options:
            options["sep"] = options.pop("delimiter")
    return options


def _valid(model: type[M], members: Mapping[str, object]) -> M:
    try:
        return model.model_validate(members)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise Invalid(f"{where}: {first['msg'].lower()}", code="invalid_option") from None


def _streams(kind: str, pipeline: Pipeline) -> Sources | Sinks:
    return pipeline.sources if kind == "SOURCE" else pipeline.sinks


def _shown(kind: str, pipeline: Pipeline, principal: Principal) -> Answer:
    """The sources or sinks that a principal sees, with their state."""
    is_source = kind == "SOURCE"
    connector = SOURCE_CONNECTOR if is_source else SINK_CONNECTOR
    names = ("name", "table" if is_source else "view", "connector", "path", "format", "state", "reason")
    streams: dict[str, StreamingSource | Sink] = {**_streams(kind, pipeline).all}
    rows = [
        (name, d.relation, connector, d.path, d.format, stream.state, stream.reason)
        for name, stream in sorted(streams.items())
        if principal.sees((d := stream.definition).relation)
    ]
    columns = [pa.array([row[place] for row in rows], pa.string()) for place in range(len(names))]
    return Answer(names, ("VARCHAR",) * len(names), pa.Table.from_arrays(columns, list(names)))
