"""Continuous sinks: create, list, describe, drop."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from planner.relation_names import schema_of
from service.accounts.audit import about
from service.http.access import lanes_of, pipeline_of, principal_of, runtime_of
from service.http.routes.strict import StrictRoute
from service.names import fold_name, fold_relation
from service.pipeline.sinks import Sink, unknown_sink
from service.pipeline.stream_requests import NewSink

router = APIRouter(route_class=StrictRoute, prefix="/v1/sinks", tags=["sinks"])


class SinkModel(BaseModel):
    """`epoch` is the newest one in the files. `reason` says why the sink failed, or what it waits for."""

    name: str
    view: str
    format: str
    path: str
    first: int | None = Field(serialization_alias="from")
    interval_seconds: float
    state: Literal["running", "failed"]
    reason: str | None
    epoch: int | None
    files: int
    rows: int


class SinkList(BaseModel):
    sinks: list[SinkModel]


@router.post("", status_code=201)
async def create_sink(request: Request, new: NewSink, response: Response) -> SinkModel:
    """Append a view's changes to a directory of Parquet files, each epoch exactly once."""
    about(f"create sink {new.name}")
    principal_of(request).require_defining(schema_of(fold_relation(new.view)))
    definition = new.definition(runtime_of(request).settings)
    sink = await lanes_of(request).jobs.run(pipeline_of(request).sinks.create, definition)
    response.headers["Location"] = f"/v1/sinks/{definition.name}"
    return _model(sink)


@router.get("")
async def list_sinks(request: Request) -> SinkList:
    """List all sinks, by name."""
    found, principal = sorted(pipeline_of(request).sinks.all.items()), principal_of(request)
    return SinkList(sinks=[_model(sink) for _, sink in found if principal.sees(sink.definition.view)])


@router.get("/{sink}")
async def describe_sink(request: Request, sink: str) -> SinkModel:
    """Describe a sink and its progress."""
    found = pipeline_of(request).sinks.get(fold_name(sink))
    if not principal_of(request).sees(found.definition.view):
        raise unknown_sink(found.definition.name)
    return _model(found)


@router.delete("/{sink}", status_code=204)
async def drop_sink(request: Request, sink: str) -> None:
    """Drop a sink. Its files stay."""
    name = fold_name(sink)
    found = pipeline_of(request).sinks.get(name)
    principal_of(request).require_defining(schema_of(found.definition.view))
    await lanes_of(request).jobs.run(pipeline_of(request).sinks.drop, name)


def _model(sink: Sink) -> SinkModel:
    definition, progress = sink.definition, sink.progress
    return SinkModel(
        name=definition.name,
        view=definition.view,
        format=definition.format,
        path=definition.path,
        first=definition.first,
        interval_seconds=definition.interval_seconds,
        state=sink.state,
        reason=sink.reason,
        epoch=progress.done,
        files=progress.files,
        rows=progress.rows,
    )
