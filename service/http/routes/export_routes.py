"""Exports: create, list, describe, cancel."""

from __future__ import annotations

from typing import Any, Literal

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field, model_validator

from planner.relation_names import schema_of
from service.http.access import job_of, lanes_of, pipeline_of, principal_of, runtime_of
from service.http.models import JobModel, job_members
from service.http.routes.row_routes import epoch_of
from service.http.routes.strict import StrictRoute
from service.names import fold_relation
from service.pipeline.exports import KIND, ExportRequest
from service.pipeline.jobs import Job, unknown_job
from service.pipeline.pipeline import Pipeline

router = APIRouter(route_class=StrictRoute, prefix="/v1/exports", tags=["bulk"])


class NewExport(BaseModel):
    """The rows of a `view` or of a `table`. `as_of` is an epoch or an RFC 3339 time, by default the newest
    epoch. `options` are Spark's for the format."""

    model_config = ConfigDict(extra="forbid")

    view: str | None = None
    table: str | None = None
    as_of: int | str | None = None
    format: Literal["parquet", "csv", "json", "orc"]
    path: str
    mode: Literal["overwrite", "append", "errorifexists"] = "errorifexists"
    options: dict[str, str | int | float | bool] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _of_one(self) -> NewExport:
        if (self.view is None) == (self.table is None):
            raise ValueError("name either a view or a table")
        return self


class ExportModel(JobModel):
    """`epoch` is the epoch whose rows are exported."""

    relation: str
    format: str
    path: str
    mode: str
    options: dict[str, str | int | float | bool]


class ExportList(BaseModel):
    exports: list[ExportModel]


@router.post("", status_code=202)
async def begin_export(request: Request, new: NewExport, response: Response) -> ExportModel:
    """Export the rows of a view or a table at an epoch. Jobs run one after another."""
    runtime, pipeline = runtime_of(request), pipeline_of(request)
    name = new.view if new.view is not None else new.table
    definition = runtime.definition(fold_relation(str(name)), view=new.view is not None)
    principal_of(request).require_defining(schema_of(definition.name))
    as_of = None if new.as_of is None else str(new.as_of)
    epoch = await epoch_of(runtime, as_of, runtime.snapshot.upper - 1)
    wanted = ExportRequest(definition.name, epoch, new.format, new.path, new.mode, new.options)
    job = await lanes_of(request).jobs.run(pipeline.exports.submit, wanted, definition)
    response.headers["Location"] = f"/v1/exports/{job.id}"
    return _model(pipeline, job)


@router.get("")
async def list_exports(request: Request) -> ExportList:
    """List the exports that are kept, newest first."""
    pipeline = pipeline_of(request)
    jobs = await lanes_of(request).jobs.run(pipeline.jobs.all, KIND)
    principal = principal_of(request)
    return ExportList(exports=[_model(pipeline, job) for job in jobs if principal.sees(_relation(job))])


@router.get("/{export}")
async def describe_export(request: Request, export: str) -> ExportModel:
    """Describe an export: its progress and its outcome."""
    pipeline = pipeline_of(request)
    job = await job_of(request, pipeline, KIND, export)
    if not principal_of(request).sees(_relation(job)):
        raise unknown_job(KIND, export)
    return _model(pipeline, job)


@router.delete("/{export}", status_code=202)
async def cancel_export(request: Request, export: str) -> ExportModel:
    """Cancel an export. It ends soon and leaves nothing, unless it has already ended."""
    pipeline = pipeline_of(request)
    job = await job_of(request, pipeline, KIND, export)
    principal_of(request).require_defining(schema_of(_relation(job)))
    pipeline.runner.cancel(job)
    return _model(pipeline, job)


def _relation(job: Job) -> str:
    return str(job.request["relation"])


def _model(pipeline: Pipeline, job: Job) -> ExportModel:
    asked: dict[str, Any] = dict(job.request)
    members = job_members(job, pipeline.runner.progress(job))
    return ExportModel(**asked | members | {"epoch": asked["epoch"]})
