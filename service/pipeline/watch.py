"""Watching Spark work for a run: the progress of its tasks, and stopping them when the run is cancelled.

Spark knows the work by a tag, the job's id. If the driver is in this process, its tasks can be counted, and
their share moves the run's progress from `start` to `stop`; otherwise the progress moves when the work is
done. A cancelled run's work is interrupted again and again until it ends, because a Spark job may begin just
after an interrupt.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from engine.spark.sessions import Sessions, cancel, described
from service.pipeline.job_runs import JobRun

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PERIOD = 0.2
"""Seconds between two checks."""


@contextmanager
def watched(sessions: Sessions, run: JobRun, what: str, start: float, stop: float) -> Iterator[SparkSession]:
    """A session for the block. Its work on this thread is shown as `what`, watched, and stopped with the run.

    Raises Cancelled if the run was cancelled before it begins.
    """
    session, tag = sessions.get(), run.job.id
    run.check()
    share = _Share(session, tag) if sessions.is_classic else None
    ended = threading.Event()

    def look() -> None:
        while not ended.wait(PERIOD):
            if run.cancelled:
                cancel(session, tag)
            elif share is not None:
                run.progress = max(run.progress, start + (stop - start) * share.now())

    watcher = threading.Thread(target=look, name="freshet-watch")
    with described(session, what, tag):
        watcher.start()
        try:
            yield session
        finally:
            ended.set()
            watcher.join()
    run.advance(stop)


class _Share:
    """The share of a tag's tasks that have ended, among Spark jobs that begin after its creation."""

    def __init__(self, session: SparkSession, tag: str) -> None:
        context = session.sparkContext
        self._tracker = context.statusTracker()
        # PySpark's tracker knows jobs only by their groups.
        self._jobs = context._jsc.sc().statusTracker()
        self._tag = tag
        self._before = set(self._jobs.getJobIdsForTag(tag))

    def now(self) -> float:
        done = total = 0
        for job in set(self._jobs.getJobIdsForTag(self._tag)) - self._before:
            info = self._tracker.getJobInfo(job)
            for stage in () if info is None else info.stageIds:
                known = self._tracker.getStageInfo(stage)
                if known is not None:
                    done += known.numCompletedTasks
                    total += known.numTasks
        return done / total if total else 0.0
