"""Hydration: bringing the operators of a new view up to date with its sources.

The operators are rendered into a dataflow of their own. It runs over the whole kept history of the sources,
here or on an executor, or maps the files of a saved state. Further deltas bring it up to later epochs. The
engine then grafts it onto the running dataflow.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass

import numpy as np

from engine.operators.history import History
from engine.operators.linear import InputOperator
from engine.operators.operator import Meter
from engine.operators.running_dataflow import OperatorFailed, RunningDataflow
from engine.plan.nodes import Node
from engine.rendering.renderer import Renderer
from engine.runtime.ends import put_view
from engine.runtime.execution import Declined, Executor, ExecutorJob, ViewsFailed
from engine.runtime.executor_jobs import receive
from engine.runtime.kept import StateSource
from engine.runtime.options import Options
from engine.state.dictionary import Dictionary, Lease
from engine.state.packed_times import Order


@dataclass(frozen=True, eq=False)
class Hydration:
    """A view's own dataflow, with the view's history, and the renderer that has put both there."""

    dataflow: RunningDataflow
    history: History
    renderer: Renderer
    lease: Lease
    """Keeps the dictionary as it is until the operators are part of the engine."""

    @staticmethod
    def of(name: str, plan: Node, order: Order, dictionary: Dictionary, options: Options) -> Hydration:
        """The rendered operators of `plan`; nothing has run yet."""
        lease = dictionary.lease()
        dataflow = RunningDataflow(order)
        renderer = Renderer(dataflow, dictionary, options.max_rounds, options.rebuild)
        history = put_view(dataflow, renderer, name, plan)
        return Hydration(dataflow, history, renderer, lease)

    @property
    def inputs(self) -> Mapping[str, InputOperator]:
        """The inputs of the view's sources, by name."""
        return self.renderer.inputs

    def wanted(self, source: str) -> frozenset[int] | None:
        """The words of a source's delta that the operators read, None for all."""
        return self.dataflow.turns.wanted(self.inputs[source])

    def run(self, deltas: Mapping[str, np.ndarray], meter: Meter | None = None) -> None:
        """Run the operators over deltas of the sources, as far as the meter lets them.

        Raises EngineError if the view cannot be computed; the operators are then as before.
        """
        for source, delta in deltas.items():
            self.dataflow.feed(self.inputs[source], delta)
        try:
            self.dataflow.run(sum(delta.shape[1] for delta in deltas.values()), meter)
        except OperatorFailed as failed:
            self.dataflow.abort()
            raise failed.reason from failed

    def run_on(self, executor: Executor, job: ExecutorJob, dictionary: Dictionary) -> bool:
        """Let the executor compute the view; false if it declines. Raises EngineError if the view fails."""
        try:
            outcome = executor.run(job)
        except Declined:
            return False
        except ViewsFailed as failure:
            raise failure.cause from failure
        self._leave_constants(self.dataflow.operators)
        receive(self.dataflow, outcome, executor.directory, dictionary)
        return True

    def map(self, state: StateSource, running: Collection[Hashable]) -> bool:
        """Map the saved state of those operators that are not `running` yet; false if some of it is not
        saved.
        """
        new = self.dataflow.operators.keys() - running
        if not state.map((key, it) for key, it in self.dataflow.operators.items() if key in new):
            return False
        self._leave_constants(new)
        return True

    def _leave_constants(self, keys: Collection[Hashable]) -> None:
        """Drop the pending rows of constants: the state includes them already."""
        for key in keys:
            operator = self.dataflow.operators[key]
            if isinstance(operator, InputOperator):
                operator.pending = None
