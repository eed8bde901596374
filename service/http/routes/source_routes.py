"""Streaming sources: create, list, describe, resume, drop."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel

from planner.relation_names import schema_of
from service.accounts.audit import about
from service.http.access import lanes_of, pipeline_of, principal_of, runtime_of
from service.http.routes.strict import StrictRoute
from service.names import fold_name, fold_relation
from service.pipeline.source import State, StreamingSource
from service.pipeline.sources import unknown_source
from service.pipeline.stream_requests import Envelope, NewSource, Unit

router = APIRouter(route_class=StrictRoute, prefix="/v1/sources", tags=["sources"])


class SourceModel(BaseModel):
    """`reason` says why the source failed, or what it waits for. Before the first batch, `epoch` is null."""

    name: str
    table: str
    format: str
    path: str
    options: dict[str, str]
    envelope: Envelope | None
    timestamps: Unit | None
    trigger_seconds: float
    files_per_batch: int
    bad_rows: str
    state: State
    reason: str | None
    batches: int
    rows: int
    skipped: int
    last_batch: int | None
    epoch: int | None


class SourceList(BaseModel):
    sources: list[SourceModel]


@router.post("", status_code=201)
async def create_source(request: Request, new: NewSource, response: Response) -> SourceModel:
    """Take the files of a directory into a table: each batch of files is an epoch, each file counts once."""
    about(f"create source {new.name}")
    principal_of(request).require_defining(schema_of(fold_relation(new.table)))
    definition = new.definition(runtime_of(request).settings)
    source = await lanes_of(request).jobs.run(pipeline_of(request).sources.create, definition)
    response.headers["Location"] = f"/v1/sources/{definition.name}"
    return _model(source)


@router.get("")
async def list_sources(request: Request) -> SourceList:
    """List all sources, by name."""
    found, principal = sorted(pipeline_of(request).sources.all.items()), principal_of(request)
    return SourceList(sources=[_model(s) for _, s in found if principal.sees(s.definition.table)])


@router.get("/{source}")
async def describe_source(request: Request, source: str) -> SourceModel:
    """Describe a source and its progress."""
    found = pipeline_of(request).sources.get(fold_name(source))
    if not principal_of(request).sees(found.definition.table):
        raise unknown_source(found.definition.name)
    return _model(found)


@router.post("/{source}/resume")
async def resume_source(request: Request, source: str) -> SourceModel:
    """Resume a failed source at the batch that failed."""
    name = _changeable(request, source)
    return _model(await lanes_of(request).jobs.run(pipeline_of(request).sources.resume, name))


@router.delete("/{source}", status_code=204)
async def drop_source(request: Request, source: str) -> None:
    """Drop a source. The rows that it added stay."""
    name = _changeable(request, source)
    await lanes_of(request).jobs.run(pipeline_of(request).sources.drop, name)


def _changeable(request: Request, source: str) -> str:
    """The name of a source. Raises NotFound, and Forbidden for one of a schema in which the author of the
    request may not define."""
    name = fold_name(source)
    found = pipeline_of(request).sources.get(name)
    principal_of(request).require_defining(schema_of(found.definition.table))
    return name


def _model(source: StreamingSource) -> SourceModel:
    progress = source.progress
    taken = progress.last_batch >= 0
    return SourceModel(
        **vars(source.definition),
        state=source.state,
        reason=source.reason,
        batches=progress.last_batch + 1,
        rows=progress.rows,
        skipped=progress.skipped,
        last_batch=progress.last_batch if taken else None,
        epoch=progress.epoch if taken else None,
    )
