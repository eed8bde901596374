"""An advance: changes of sources, and what the running operators make of them, here or on an executor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from engine.operators.running_dataflow import OperatorFailed, RunningDataflow
from engine.runtime.execution import Declined, Executor, RowScan, ViewsFailed
from engine.runtime.executor_jobs import failed_operator, job_over, receive, with_outcome
from engine.runtime.options import Options
from engine.runtime.registry import Registry
from engine.runtime.stage import Stage
from engine.state.dictionary import Dictionary
from engine.state.store.manifest import Manifest


@dataclass(frozen=True, eq=False)
class Advance:
    """`deltas` by source, and in `scans` rows that only an executor can read; the rest is the engine's."""

    dataflow: RunningDataflow
    registry: Registry
    dictionary: Dictionary
    options: Options
    deltas: Mapping[str, np.ndarray]
    scans: Mapping[str, RowScan]

    def run(self) -> None:
        """Compute it here. Raises OperatorFailed; then `abandon`."""
        rows = 0
        for name, delta in self.deltas.items():
            self.registry.sources[name].input.pending = delta
            rows += delta.shape[1]
        self.dataflow.run(rows)

    def run_on(self, executor: Executor, manifest: Manifest, stage: Stage) -> bool:
        """Let the executor compute it, from the state that `manifest` names; false if it declines.

        Raises OperatorFailed; then `abandon`. Declined where there are scans.
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
        """Leave everything as it was."""
        self.dataflow.abort()
        for source in self.registry.sources.values():
            source.input.pending = None

    def abandon(self, failure: OperatorFailed, stage: Stage) -> None:
        """Leave everything as it was, and give up the views that need the operator that has failed.

        EngineError where there are none.
        """
        self.abort()
        victims = [it for it in self.registry.dependents(failure.operator) if it not in stage.failed]
        if not victims:
            raise failure.reason from failure
        stage.failed |= dict.fromkeys(victims, failure.reason.message)
