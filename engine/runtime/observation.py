"""Observing a view: what each operator of the running dataflow holds, and what it has done so far.

Operators are listed inputs first, in an order that follows from the view's plan alone; the operators of a
loop's body come before the loop. Counters (rows, time) start when the operator starts to run in this process.
An operator that several views share counts its work for all of them.

`held` adds up what all operators hold. Any thread may ask; figures that change meanwhile are approximate.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from engine.operators.arrangement import Arrangement
from engine.operators.entered import EnteredArrangement
from engine.operators.history import History
from engine.operators.loop import Loop
from engine.operators.operator import Operator
from engine.operators.running_dataflow import RunningDataflow, reachable
from engine.runtime.kept import every_operator
from engine.runtime.registry import KnownView
from engine.scalar.remembered import remembered_bytes
from engine.state.dictionary import Dictionary
from engine.state.trace import Trace

_NOTHING = Trace(0)


@dataclass(frozen=True)
class Figures:
    """`rows` differences held in `batches`; `memory` and `mapped` are the bytes of batches in memory and in
    mapped files. `rows_in` and `rows_out` count the differences received and emitted, `elsewhere` those that
    an executor computed, and `nanoseconds` is the time its steps took in this process.
    """

    rows: int
    batches: int
    memory: int
    mapped: int
    rows_in: int
    rows_out: int
    elsewhere: int
    nanoseconds: int


@dataclass(frozen=True)
class Held:
    """What an engine holds, in bytes except where it says otherwise.

    `history` is in memory for reads of tables and views, `traces` for operators; `mapped` is in files.
    `differences` is the number of differences in all traces, and `texts` that of entries in the dictionary,
    which takes `dictionary`. `remembered` are results that this process remembers by their arguments.
    """

    history: int
    traces: int
    mapped: int
    differences: int
    texts: int
    dictionary: int
    remembered: int


@dataclass(frozen=True)
class Observed:
    """One operator, with its figures.

    `key` is its key in its scope, and `kind` its class. `inputs` are the positions, in the list, of the
    operators it reads; `values`, for a loop, of the values it feeds back from round to round. `depth` is the
    number of loops around it, and `shared` names the other views that use it.
    """

    key: Hashable
    kind: str
    inputs: tuple[int, ...]
    values: tuple[int, ...]
    depth: int
    figures: Figures
    shared: tuple[str, ...]


def observe(
    history: History, dataflow: RunningDataflow, others: Mapping[str, KnownView] = MappingProxyType({})
) -> tuple[Observed, ...]:
    """The operators of the view with this history, which comes last. `others` are the views that may share
    them."""
    uses = {name: reachable([view.history]) for name, view in others.items() if view.history is not history}
    walk = _Walk({operator: key for key, operator in dataflow.operators.items()}, uses)
    walk.visit(history)
    return tuple(walk.found)


def places(history: History, dataflow: RunningDataflow) -> dict[Operator, int]:
    """The positions that a view's operators have in the list of `observe`."""
    walk = _Walk({operator: key for key, operator in dataflow.operators.items()}, {})
    walk.visit(history)
    return walk.places


class _Walk:
    def __init__(self, keys: Mapping[Operator, Hashable], uses: Mapping[str, set[Operator]]) -> None:
        self.found: list[Observed] = []
        self._keys = dict(keys)
        self._uses = uses
        self.places: dict[Operator, int] = {}

    def visit(self, operator: Operator, depth: int = 0, shared: tuple[str, ...] | None = None) -> int:
        """The operator's position in the list; an arrangement in a loop counts as the one outside."""
        if isinstance(operator, EnteredArrangement):
            return self.visit(operator.arrangement)
        if operator not in self.places:
            inputs = tuple(dict.fromkeys(self.visit(i, depth, shared) for i in operator.inputs))
            if shared is None:
                shared = tuple(sorted(name for name, used in self._uses.items() if operator in used))
            values = self._inside(operator, depth, shared) if isinstance(operator, Loop) else ()
            self.places[operator] = len(self.found)
            self.found.append(
                Observed(
                    self._keys.get(operator), operator.kind, inputs, values, depth, figures(operator), shared
                )
            )
        return self.places[operator]

    def _inside(self, loop: Loop, depth: int, shared: tuple[str, ...]) -> tuple[int, ...]:
        """List all of a loop's body; returns the positions of the values that the loop feeds back."""
        self._keys.update(zip(loop.body, loop.keys, strict=True))
        for operator in loop.body:
            self.visit(operator, depth + 1, shared)
        return tuple(dict.fromkeys(self.places[value] for value in loop.values if value in self.places))


def figures(operator: Operator) -> Figures:
    """What an operator holds and has done so far."""
    trace = operator.trace if isinstance(operator, Arrangement) else _NOTHING
    layers = trace.layers()
    return Figures(
        rows=trace.rows,
        batches=len(layers),
        memory=trace.memory,
        mapped=trace.mapped,
        rows_in=sum(_handed_on(source) for source in operator.inputs),
        rows_out=operator.emitted,
        elsewhere=operator.received,
        nanoseconds=operator.nanoseconds,
    )


def _handed_on(source: Operator) -> int:
    """The number of differences that an input has emitted."""
    return source.arrangement.emitted if isinstance(source, EnteredArrangement) else source.emitted


def held(operators: Iterable[tuple[Hashable, Operator]], dictionary: Dictionary) -> Held:
    """What operators, given with their keys, and their dictionary hold."""
    history = traces = mapped = differences = 0
    for _, operator in every_operator(operators):
        if isinstance(operator, Arrangement):
            trace = operator.trace
            if isinstance(operator, History):
                history += trace.memory
            else:
                traces += trace.memory
            mapped += trace.mapped
            differences += trace.rows
    return Held(history, traces, mapped, differences, len(dictionary), dictionary.bytes, remembered_bytes())
