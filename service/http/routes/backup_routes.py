"""Backups: begin, list, describe, cancel."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict

from service.backup.backups import Backups
from service.http.access import backups_of, job_of, lanes_of
from service.http.models import JobModel, job_members
from service.http.routes.strict import StrictRoute
from service.pipeline.jobs import BACKUP, Job

router = APIRouter(route_class=StrictRoute, prefix="/v1/backups", tags=["backups"])


class NewBackup(BaseModel):
    """`path` is a directory that does not exist yet, or is empty."""

    model_config = ConfigDict(extra="forbid")

    path: str


class BackupModel(JobModel):
    """`epoch` is the epoch that the backup holds, once it is done."""

    path: str


class BackupList(BaseModel):
    backups: list[BackupModel]


@router.post("", status_code=202)
async def begin_backup(request: Request, new: NewBackup, response: Response) -> BackupModel:
    """Write a backup of the whole service, as of one epoch, while it goes on."""
    backups = backups_of(request)
    job = await lanes_of(request).jobs.run(backups.submit, new.path)
    response.headers["Location"] = f"/v1/backups/{job.id}"
    return _model(backups, job)


@router.get("")
async def list_backups(request: Request) -> BackupList:
    """List the backups that are remembered, newest first."""
    backups = backups_of(request)
    jobs = await lanes_of(request).jobs.run(backups.jobs.all, BACKUP)
    return BackupList(backups=[_model(backups, job) for job in jobs])


@router.get("/{backup}")
async def describe_backup(request: Request, backup: str) -> BackupModel:
    """Describe a backup: its progress and its outcome."""
    backups = backups_of(request)
    return _model(backups, await job_of(request, backups, BACKUP, backup))


@router.delete("/{backup}", status_code=202)
async def cancel_backup(request: Request, backup: str) -> BackupModel:
    """Cancel a backup. It ends soon and leaves nothing, unless it has already ended."""
    backups = backups_of(request)
    job = await job_of(request, backups, BACKUP, backup)
    backups.runner.cancel(job)
    return _model(backups, job)


def _model(backups: Backups, job: Job) -> BackupModel:
    return BackupModel(**job_members(job, backups.runner.progress(job)), path=str(job.request["path"]))
