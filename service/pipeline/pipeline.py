"""The pipeline of a running service: loads, exports, sources and sinks."""

from __future__ import annotations

import shutil

from engine.spark.sessions import Sessions
from service.errors import Problem
from service.pipeline.exports import KIND as EXPORT
from service.pipeline.exports import Exports
from service.pipeline.job_runs import Runner
from service.pipeline.jobs import BACKUP, FAILED, JobStore
from service.pipeline.loads import Loads
from service.pipeline.scratch import scratch_path
from service.pipeline.sinks import Sinks
from service.pipeline.sources import Sources
from service.pipeline.spark_failures import explain_failure
from service.problems import members
from service.running.runtime import Runtime

_INTERRUPTED = Problem(503, code="interrupted", detail="the service ended while the job was running")


class Pipeline:
    """Opened after the runtime, closed before it. Spark starts with the first job that needs it, or at once
    if the settings say so."""

    def __init__(self, runtime: Runtime, sessions: Sessions) -> None:
        self._settings = runtime.settings
        self._runtime = runtime
        self.sources = Sources(runtime, sessions)
        self.sinks = Sinks(runtime)
        self.jobs = JobStore(runtime.transaction, runtime.settings.jobs_kept)
        self.runner = Runner(self.jobs, explain_failure)
        self.loads = Loads(runtime, sessions, self.runner)
        self.exports = Exports(runtime, sessions, self.runner)
        self.sessions = sessions

    @classmethod
    def open(cls, runtime: Runtime, sessions: Sessions) -> Pipeline:
        """Continues with the catalog's jobs, sources and sinks. Blocks."""
        pipeline = cls(runtime, sessions)
        pipeline._settle()
        pipeline.sinks.restore()
        pipeline.sources.restore()
        if runtime.settings.spark_warm == "yes":
            sessions.start()
        return pipeline

    @property
    def upper(self) -> int:
        """The first epoch that cannot be read yet."""
        return self._runtime.snapshot.upper

    def _settle(self) -> None:
        """Fails the jobs that an earlier service left unfinished, and removes what they had begun."""
        for job in self.jobs.unfinished():
            shutil.rmtree(scratch_path(self._settings, job.id), ignore_errors=True)
            if job.kind in (EXPORT, BACKUP):
                self.exports.clear(job)
            self.jobs.update(job.ended(FAILED, error=members(_INTERRUPTED)))

    def close(self) -> None:
        """Ends all work, so that it can continue at the next start where possible. Blocks."""
        self.runner.close()
        self.sources.stop()
        self.sinks.stop()
