"""Runs of jobs, one after another in a thread of their own.

A run ends in one of three ways: its work returns the ended job, raises, or notices at `JobRun.check`, or by
an exception of what it waits for, that it was cancelled. A cancelled run has changed nothing. Work that has
come to its end is done, however late a cancel came.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from queue import SimpleQueue

from service import problems
from service.errors import ServiceError, problem_of
from service.pipeline.jobs import CANCELLED, DONE, FAILED, RUNNING, Job, JobStore, now
from service.reading.lanes import Lane

_log = logging.getLogger("freshet.pipeline")


class Cancelled(Exception):
    """The run was cancelled, and its work stopped."""


@dataclass(eq=False)
class JobRun:
    """A running job: `work` takes the run and returns the ended job. `progress` is from 0 to 1."""

    job: Job
    work: Callable[[JobRun], Job]
    progress: float = 0.0
    cancelled: bool = False

    def advance(self, progress: float) -> None:
        """Reports the run's progress, which never goes back. Raises Cancelled if the run is to stop."""
        self.check()
        self.progress = max(self.progress, min(progress, 1.0))

    def check(self) -> None:
        if self.cancelled:
            raise Cancelled


class Runner:
    """Runs jobs in the order of their submission. Any thread may call it."""

    def __init__(self, store: JobStore, explain: Callable[[Exception], Exception]) -> None:
        """`explain` turns an exception of foreign code into one with a problem document, where it can."""
        self._store = store
        self._explain = explain
        self._queue: SimpleQueue[JobRun | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._runs: dict[str, JobRun] = {}
        self._thread: threading.Thread | None = None

    def submit(self, run: JobRun) -> None:
        """Stores the job and runs it in its turn. Raises Overloaded."""
        with self._lock:
            self._store.add(run.job)
            self._runs[run.job.id] = run
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="freshet-pipeline")
                self._thread.start()
            self._queue.put(run)

    async def job(self, kind: str, id: str, lane: Lane) -> Job:
        """A job. One that runs or waits here is known without the catalog, which is asked on the lane. Raises
        NotFound."""
        job = self.running(kind, id)
        return await lane.run(self._store.get, kind, id) if job is None else job

    def running(self, kind: str, id: str) -> Job | None:
        """The job, if it runs or waits here: those who wait for its end need not ask the catalog."""
        run = self._runs.get(id)
        return None if run is None or run.job.kind != kind else run.job

    def progress(self, job: Job) -> float:
        """The progress of a job, from 0 to 1."""
        run = self._runs.get(job.id) if job.state == RUNNING else None
        return float(job.state == DONE) if run is None else run.progress

    def cancel(self, job: Job) -> None:
        """Asks a job to end soon, unless it has ended."""
        run = self._runs.get(job.id)
        if run is not None:
            run.cancelled = True

    def close(self) -> None:
        """Cancels running and waiting jobs, and ends the thread. Blocks."""
        with self._lock:
            for run in self._runs.values():
                run.cancelled = True
            self._queue.put(None)
            thread = self._thread
        if thread is not None:
            thread.join()

    def _work(self) -> None:
        while (run := self._queue.get()) is not None:
            try:
                self._store.update(self._ended(run))
            except Exception:
                _log.exception("%s %s: its outcome could not be stored", run.job.kind, run.job.id)
            del self._runs[run.job.id]

    def _ended(self, run: JobRun) -> Job:
        """Runs the job and returns it as ended."""
        try:
            run.check()
            run.job = replace(run.job, started_at=now())
            self._store.update(run.job)
            return run.work(run)
        except Exception as error:
            if run.cancelled:
                return run.job.ended(CANCELLED)
            return run.job.ended(FAILED, error=self._problem(run, error))

    def _problem(self, run: JobRun, error: Exception) -> dict[str, object]:
        explained = self._explain(error)
        problem = problem_of(explained)
        if not isinstance(explained, ServiceError):
            _log.error("%s %s failed", run.job.kind, run.job.id, exc_info=error)
        return problems.members(problem or problems.INTERNAL)
