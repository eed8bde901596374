"""The pipeline over a running service: what moves rows in and out beside its doors."""

from __future__ import annotations

from engine.spark.session import Sessions
from service.pipeline.failures import explained
from service.pipeline.jobs import JobStore
from service.pipeline.loads import Loads
from service.pipeline.runs import Runner
from service.pipeline.sinks import Sinks
from service.runtime import Runtime


class Pipeline:
    """Opened once the runtime is ready, closed before it is. Spark starts with the first job."""

    def __init__(self, runtime: Runtime, sessions: Sessions) -> None:
        self.sinks = Sinks(runtime)
        self.jobs = JobStore(runtime.transaction, runtime.settings.jobs_kept)
        self.runner = Runner(self.jobs, explained)
        self.loads = Loads(runtime, sessions, self.runner)
        self.sessions = sessions

    @classmethod
    def open(cls, runtime: Runtime, sessions: Sessions) -> Pipeline:
        """Goes on with what the catalog says. Blocks."""
        pipeline = cls(runtime, sessions)
        pipeline.jobs.fail_unfinished()
        pipeline.sinks.restore()
        return pipeline

    def close(self) -> None:
        """Ends what runs, where it can be gone on with. Blocks."""
        self.runner.close()
        self.sinks.stop()
