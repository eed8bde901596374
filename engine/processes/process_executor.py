"""An executor that runs each job in a process of its own on this machine."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

from engine.errors import BuildCancelled, EngineError, ExecutionFailed, OverBudget
from engine.processes import children
from engine.processes.job_process import DONE, OF, ROUNDS, ROWS, ProcessLimits, run_job
from engine.runtime.execution import ExecutorJob, Outcome, ViewsFailed
from engine.state.store.directory import StateDirectory

children.preload("engine.processes.job_process")
children.preload("engine.processes.large_kernels")
_LOOK = 0.1
"""Seconds between two looks at whether a job is still wanted, and within its time."""


@dataclass(frozen=True)
class Progress:
    """What a job has done so far: rows made, rounds of recursions, and the share of its operators."""

    rows: int = 0
    rounds: int = 0
    share: float = 0.0


class ProcessExecutor:
    """Runs one job in a process that may take `seconds`. Another thread may look and cancel meanwhile."""

    def __init__(self, directory: StateDirectory, shards: int, limits: ProcessLimits, seconds: float) -> None:
        self.directory = directory
        self.shards = shards
        self._limits = limits
        self._seconds = seconds
        self._cancelled = threading.Event()
        self._shared = children.shared_numbers(4)

    @property
    def progress(self) -> Progress:
        """How far the job is."""
        seen = list(self._shared)
        return Progress(int(seen[ROWS]), int(seen[ROUNDS]), min(1.0, seen[DONE] / max(seen[OF], 1)))

    def cancel(self) -> None:
        """End the process, now or as soon as it begins; `run` then raises BuildCancelled."""
        self._cancelled.set()

    def run(self, job: ExecutorJob) -> Outcome:
        """Compute a job; see `Executor.run`. Raises ViewsFailed, with OverBudget if it took too much, or with
        BuildCancelled."""
        receiving, sending = children.pipe(duplex=False)
        directory = self.directory.prefixed(job.prefix)
        arguments = (job, directory, self.shards, self._limits, self._shared, sending)
        process = children.start("freshet-job", run_job, *arguments)
        sending.close()
        try:
            report = self._report(receiving, process)
        finally:
            process.kill()
            children.join(process)
            receiving.close()
        if isinstance(report, Outcome):
            return report
        raise ViewsFailed("", report)

    def _report(self, receiving: Connection, process: Any) -> Outcome | EngineError:
        left = self._seconds
        while not self._cancelled.is_set():
            if receiving in wait([receiving, process.sentinel], _LOOK):
                try:
                    return receiving.recv()  # type: ignore[no-any-return]
                except EOFError:
                    return _ended(process)
            if not process.is_alive():
                return _ended(process)
            left -= _LOOK  # however long the machine stood still meanwhile
            if left < 0:
                seen = self.progress
                return OverBudget.of("the view", self._seconds, seen.rows, 0, seen.rounds)
        return BuildCancelled("the view is not wanted any more")


def _ended(process: Any) -> EngineError:
    """The error of a process that ended without a report."""
    children.join(process)
    return ExecutionFailed(
        f"the process that computed the view ended early, by signal {-(process.exitcode or 0)}",
        "it may have needed more memory than there is",
    )
