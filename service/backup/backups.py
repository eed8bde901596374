"""Backups of a running service: jobs that write the newest epoch into a directory under the roots.

A backup is written beside its place, and moved there when it is whole. Backups run one after another, and
wait for no other jobs.
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

from service.backup.backup_writing import write_backup
from service.backup.file_copies import sync
from service.errors import Invalid
from service.pipeline.job_runs import JobRun, Runner
from service.pipeline.jobs import BACKUP, DONE, Job, JobStore
from service.pipeline.locations import is_address, to_write
from service.pipeline.source import streams_of
from service.pipeline.spark_failures import explain_failure
from service.pipeline.targets import ERROR_IF_EXISTS, ExportTarget
from service.running.runtime import Runtime


class Backups:
    """Opened after the pipeline, closed before it."""

    def __init__(self, runtime: Runtime, jobs: JobStore) -> None:
        self.jobs = jobs
        self.runner = Runner(jobs, explain_failure)
        self._runtime = runtime

    def submit(self, path: str) -> Job:
        """Submits a new job. Raises Invalid, Conflict or Overloaded without creating one."""
        if is_address(path):
            raise Invalid(
                f"{path!r} is an address, and a backup goes to a directory",
                "name a directory under FRESHET_LOAD_ROOTS, and copy it from there",
                code="path_not_allowed",
            )
        place = to_write(path, self._runtime.settings)
        job = Job.new(BACKUP, {"path": path})
        target = ExportTarget(place, job.id)
        target.check(ERROR_IF_EXISTS)
        self.runner.submit(JobRun(job, partial(self._back_up, target)))
        return job

    def close(self) -> None:
        """Cancels all backups. Blocks."""
        self.runner.close()

    def _back_up(self, target: ExportTarget, run: JobRun) -> Job:
        target.prepare()
        try:
            with self._runtime.pinned() as pinned:
                streams = streams_of(self._runtime.settings)
                manifest = write_backup(pinned, target.staging, streams, run.advance)
            target.check(ERROR_IF_EXISTS)
            put(target.staging, target.path)
        finally:
            target.clear()
        return run.job.ended(DONE, epoch=manifest.epoch)


def put(backup: Path, path: Path) -> None:
    """Moves a backup to its place, durably."""
    os.rename(backup, path)
    sync(path.parent)
