"""Observing a view: what each operator of the running dataflow holds, and what it has done so far.

Operators come inputs first, in an order that follows from the view's plan alone, those inside of a loop
before it. What counts (rows, time) counts from the moment at which the operator began to run in this
process; operators that several views share have done it for all of them.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

from engine.operators.arrangement import Arrangement
from engine.operators.entered import EnteredArrangement
from engine.operators.loop import Loop
from engine.operators.operator import Operator
from engine.operators.running_dataflow import RunningDataflow, reachable
from engine.runtime.registry import KnownView
from engine.state.trace import Trace

_NOTHING = Trace(0)


@dataclass(frozen=True)
class Figures:
    """`rows` of differences held, in `batches`, of which `memory` bytes are in memory and `mapped` bytes in
    files; rows of differences that came `in` and went `out`, those that were computed `elsewhere` (on
    an executor), and the `nanoseconds` that its steps have taken here."""

    rows: int
    batches: int
    memory: int
    mapped: int
    rows_in: int
    rows_out: int
    elsewhere: int
    nanoseconds: int


@dataclass(frozen=True)
class Observed:
    """An operator: the `key` that it is known by in its scope, its class, the places in the list of those
    that it reads and, of a loop, of the values that it hands on from round to round, and how many loops
    it lies in; its figures, and the other views that use it."""

    key: Hashable
    kind: str
    inputs: tuple[int, ...]
    values: tuple[int, ...]
    depth: int
    figures: Figures
    shared: tuple[str, ...]


def observe(name: str, views: Mapping[str, KnownView], dataflow: RunningDataflow) -> tuple[Observed, ...]:
    """The operators of view `name`, its history last."""
    uses = {other: reachable([view.history]) for other, view in views.items() if other != name}
    walk = _Walk({operator: key for key, operator in dataflow.operators.items()}, uses)
    walk.visit(views[name].history)
    return tuple(walk.found)


class _Walk:
    def __init__(self, keys: Mapping[Operator, Hashable], uses: Mapping[str, set[Operator]]) -> None:
        self.found: list[Observed] = []
        self._keys = dict(keys)
        self._uses = uses
        self._places: dict[Operator, int] = {}

    def visit(self, operator: Operator, depth: int = 0, shared: tuple[str, ...] | None = None) -> int:
        """The operator's place in the list; what enters a loop is known by what it is outside."""
        if isinstance(operator, EnteredArrangement):
            return self.visit(operator.arrangement)
        if operator not in self._places:
            inputs = tuple(dict.fromkeys(self.visit(i, depth, shared) for i in operator.inputs))
            if shared is None:
                shared = tuple(sorted(name for name, used in self._uses.items() if operator in used))
            values = self._inside(operator, depth, shared) if isinstance(operator, Loop) else ()
            self._places[operator] = len(self.found)
            self.found.append(
                Observed(
                    self._keys.get(operator), operator.kind, inputs, values, depth, figures(operator), shared
                )
            )
        return self._places[operator]

    def _inside(self, loop: Loop, depth: int, shared: tuple[str, ...]) -> tuple[int, ...]:
        """The places of the values that a loop hands on from round to round; all of its body is listed."""
        self._keys.update(zip(loop.body, loop.keys, strict=True))
        for operator in loop.body:
            self.visit(operator, depth + 1, shared)
        return tuple(dict.fromkeys(self._places[value] for value in loop.values if value in self._places))


def figures(operator: Operator) -> Figures:
    """What an operator holds and has done."""
    trace = operator.trace if isinstance(operator, Arrangement) else _NOTHING
    layers = trace.layers()
    return Figures(
        rows=trace.rows,
        batches=len(layers),
        memory=trace.memory,
        mapped=sum(layer.bytes for layer in layers if layer.file is not None),
        rows_in=sum(_handed_on(source) for source in operator.inputs),
        rows_out=operator.made,
        elsewhere=operator.received,
        nanoseconds=operator.nanoseconds,
    )


def _handed_on(source: Operator) -> int:
    """The rows that an input has handed on."""
    return source.arrangement.made if isinstance(source, EnteredArrangement) else source.made
