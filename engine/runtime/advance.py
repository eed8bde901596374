"""An advance: changes of sources, run through the operators here or on an executor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from engine.errors import OverBudget
from engine.operators.allowance import UNLIMITED, Spending
from engine.operators.running_dataflow import OperatorFailed, RunningDataflow
from engine.runtime.execution import Declined, Executor, RowScan, ViewsFailed
from engine.runtime.executor_jobs import failed_operator, job_over, receive, with_outcome
from engine.runtime.options import Options
from engine.runtime.registry import Registry
from engine.runtime.stage import Stage
from engine.state.dictionary import Dictionary
from engine.state.store.manifest import Manifest


@dataclass(slots=True)
class Advance:
    """The changes of one advance: `deltas` by source, and in `scans` rows that only an executor can read. The
    rest is the engine's.
    """

    dataflow: RunningDataflow
    registry: Registry
    dictionary: Dictionary
    options: Options
    deltas: Mapping[str, np.ndarray]
    scans: Mapping[str, RowScan]
    _rows: int = 0
    _spending: Spending | None = None
    """What limits the operators, however often they run."""

    def __post_init__(self) -> None:
        for delta in self.deltas.values():
            self._rows += delta.shape[1]
        allowance = self.options.allowance
        if allowance is not UNLIMITED:
            self._spending = Spending(allowance.for_changes(self._rows))

    def run(self) -> None:
        """Run the operators in this process. Raises OperatorFailed; the caller then calls `abandon`."""
        for name, delta in self.deltas.items():
            self.dataflow.feed(self.registry.sources[name].input, delta)
        self.dataflow.run(self._rows, self._spending)

    def run_on(self, executor: Executor, manifest: Manifest, stage: Stage) -> bool:
        """Let the executor compute the advance from the state that `manifest` names; false if it declines.

        Raises OperatorFailed; the caller then calls `abandon`. Raises Declined if the executor declines an
        advance with scans, which this process cannot read.
        """
        views, sources = self.registry.affected(self.deltas.keys() | self.scans.keys(), stage.failed)
        tables = self.registry.tables(sources)
        job = job_over(manifest, self.dictionary, self.options, f"epoch {manifest.upper}", tables, views)
        job = replace(job, deltas=self.deltas, scans=self.scans, since=stage.frontier.since)
        try:
            outcome = executor.run(job)
        except Declined as declined:
            if self.scans:
                raise
            stage.declined = declined.message
            return False
        except ViewsFailed as failure:
            operator = failed_operator(self.dataflow, failure)
            if operator is None:
                raise failure.cause from failure
            raise OperatorFailed(operator, failure.cause) from failure
        receive(self.dataflow, outcome, executor.directory, self.dictionary)
        stage.manifest = with_outcome(manifest, outcome, stage.frontier.words[0])
        stage.scanned = outcome.scanned
        return True

    def abort(self) -> None:
        """Undo the advance: operators and inputs are as before it."""
        self.dataflow.abort()

    def abandon(self, failure: OperatorFailed, stage: Stage) -> None:
        """Undo the advance, and mark the views that depend on the failed operator as failed.

        Raises the operator's EngineError if no view depends on it.
        """
        self.abort()
        victims = [it for it in self.registry.dependents(failure.operator) if it not in stage.failed]
        if not victims:
            raise failure.reason from failure
        stage.failed |= dict.fromkeys(victims, failure.reason.message)
        if isinstance(failure.reason, OverBudget):
            stage.over_budget |= set(victims)
