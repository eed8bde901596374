"""Ground: the state of operators at one moment, from which others that compute the same go on.

Batches never change, so nothing is copied.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass

from engine.operators.operator import Operator
from engine.runtime.kept import kept_states
from engine.state.layer import Layer
from engine.state.trace import Trace


@dataclass(frozen=True, eq=False)
class TraceGround:
    """A trace as it was at the moment: `empty` is an empty trace like it."""

    empty: Trace
    layers: tuple[Layer, ...]

    @staticmethod
    def of(trace: Trace) -> TraceGround:
        return TraceGround(trace.emptied(), trace.layers())

    def traced(self) -> Trace:
        """A trace of its own with the same layers."""
        trace = self.empty.emptied()
        trace.map(self.layers)
        return trace


@dataclass(frozen=True, eq=False)
class StateGround:
    """The traces by fingerprint."""

    traces: Mapping[str, TraceGround]

    @staticmethod
    def of(operators: Mapping[Hashable, Operator], wanted: set[Operator]) -> StateGround:
        """The states of the wanted operators."""
        items = [(key, operator) for key, operator in operators.items() if operator in wanted]
        return StateGround({name: TraceGround.of(state.trace) for name, state in kept_states(items)})

    def map(self, operators: Iterable[tuple[Hashable, Operator]]) -> bool:
        """Give operators, which come with their keys, their state; false, and nothing changes, if some of it
        is not there."""
        states = list(kept_states(operators))
        if any(name not in self.traces for name, _ in states):
            return False
        for name, state in states:
            state.trace = self.traces[name].traced()
            state.reset()
        return True
