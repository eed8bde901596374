"""Loads: create, list, describe, cancel."""

from __future__ import annotations

from typing import Any, Literal

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from service.accounts.privileges import Privilege
from service.http.access import job_of, lanes_of, pipeline_of, principal_of, runtime_of
from service.http.models import JobModel, job_members
from service.http.routes.strict import StrictRoute
from service.names import fold_relation
from service.pipeline.jobs import Job, as_visible, unknown_job
from service.pipeline.loads import KIND, LoadRequest
from service.pipeline.pipeline import Pipeline

router = APIRouter(route_class=StrictRoute, prefix="/v1/loads", tags=["bulk"])


class NewLoad(BaseModel):
    """`columns` maps names of columns in the data to the table's names. `bad_rows` do not fit the table,
    `unknown_columns` are not in it. `options` are Spark's for the format."""

    model_config = ConfigDict(extra="forbid")

    table: str
    format: Literal["parquet", "csv", "json", "orc", "text", "jdbc"]
    path: str | None = None
    options: dict[str, str | int | float | bool] = Field(default_factory=dict)
    columns: dict[str, str] = Field(default_factory=dict)
    bad_rows: Literal["fail", "skip"] = "fail"
    unknown_columns: Literal["fail", "ignore"] = "fail"


class LoadModel(JobModel):
    table: str
    format: str
    path: str | None
    options: dict[str, str | int | float | bool]
    skipped: int | None = None


class LoadList(BaseModel):
    loads: list[LoadModel]


@router.post("", status_code=202)
async def begin_load(request: Request, new: NewLoad, response: Response) -> LoadModel:
    """Load data into a table as one epoch. Jobs run one after another."""
    pipeline = pipeline_of(request)
    wanted = LoadRequest(
        fold_relation(new.table),
        new.format,
        new.path,
        new.options,
        new.columns,
        new.bad_rows == "skip",
        new.unknown_columns == "ignore",
    )
    principal_of(request).require(Privilege.INSERT, wanted.table)
    runtime_of(request).memory.check("a load")
    job = await lanes_of(request).jobs.run(pipeline.loads.submit, wanted)
    response.headers["Location"] = f"/v1/loads/{job.id}"
    return _model(pipeline, job)


@router.get("")
async def list_loads(request: Request) -> LoadList:
    """List the loads that are kept, newest first."""
    pipeline = pipeline_of(request)
    jobs = await lanes_of(request).jobs.run(pipeline.jobs.all, KIND)
    principal = principal_of(request)
    return LoadList(loads=[_model(pipeline, job) for job in jobs if principal.sees(_table(job))])


@router.get("/{load}")
async def describe_load(request: Request, load: str) -> LoadModel:
    """Describe a load: its progress and its outcome."""
    pipeline = pipeline_of(request)
    return _model(pipeline, await _job(request, load))


@router.delete("/{load}", status_code=202)
async def cancel_load(request: Request, load: str) -> LoadModel:
    """Cancel a load. It ends soon and leaves nothing, unless it has already ended."""
    pipeline = pipeline_of(request)
    job = await _job(request, load)
    principal_of(request).require(Privilege.INSERT, _table(job))
    pipeline.runner.cancel(job)
    return _model(pipeline, job)


async def _job(request: Request, load: str) -> Job:
    """The load. Raises NotFound, also for a table that the principal does not see."""
    job = await job_of(request, pipeline_of(request), KIND, load)
    if not principal_of(request).sees(_table(job)):
        raise unknown_job(KIND, load)
    return job


def _table(job: Job) -> str:
    return str(job.request["table"])


def _model(pipeline: Pipeline, job: Job) -> LoadModel:
    seen = as_visible(job, pipeline.upper)
    asked: dict[str, Any] = {name: job.request[name] for name in ("table", "format", "path", "options")}
    return LoadModel(**job_members(seen, pipeline.runner.progress(job)), **asked, skipped=seen.skipped)
