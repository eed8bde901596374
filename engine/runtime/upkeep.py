"""Upkeep: what each source and view has cost so far, and what it holds.

Figures count from when the operators started to run in this process. An operator that several views share
counts in full for each of them, so the sum over all views may be more than the engine's work. Any thread may
ask; figures that change meanwhile are approximate.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import astuple, dataclass

from engine.operators.arrangement import Arrangement
from engine.operators.operator import Operator
from engine.operators.running_dataflow import reachable
from engine.runtime.kept import every_operator
from engine.runtime.registry import Registry


@dataclass(frozen=True)
class Upkeep:
    """What operators have done and hold.

    `nanoseconds` is the time of their steps in this process, `rows` the number of differences that they have
    emitted or received from an executor, and `changes` that of the relation itself. `memory` and `mapped` are
    the bytes of their batches in memory and in mapped files.
    """

    nanoseconds: int = 0
    rows: int = 0
    changes: int = 0
    memory: int = 0
    mapped: int = 0

    def __add__(self, other: Upkeep) -> Upkeep:
        return Upkeep(*(mine + its for mine, its in zip(astuple(self), astuple(other), strict=True)))


def upkeep(registry: Registry) -> dict[str, Upkeep]:
    """The upkeep of each source, without its readers, and of each view, without its sources; by name."""
    sources, views = dict(registry.sources), dict(registry.views)
    ends = {
        name: [source.input, *([] if source.history is None else [source.history])]
        for name, source in sources.items()
    }
    found = {name: _sum(operators) for name, operators in ends.items()}
    of_sources = {operator for operators in ends.values() for operator in operators}
    each: dict[Operator, Upkeep] = {}
    for name, view in views.items():
        needed = reachable([view.history]) - of_sources
        for operator in needed - each.keys():
            each[operator] = _of(operator)
        found[name] = _total((each[operator] for operator in needed), _changes(view.history))
    return found


def sharing(
    keys: Collection[Hashable], operators: Mapping[Hashable, Operator], registry: Registry
) -> dict[Hashable, tuple[str, ...]]:
    """Of some keys, those of running operators, each with the views that need it, by name."""
    running = [(key, operator) for key, operator in list(operators.items()) if key in keys]
    needed = (
        {name: reachable([view.history]) for name, view in dict(registry.views).items()} if running else {}
    )
    return {
        key: tuple(sorted(name for name, its in needed.items() if operator in its))
        for key, operator in running
    }


def _sum(operators: Iterable[Operator]) -> Upkeep:
    """The upkeep of a source's operators; the input comes first."""
    operators = list(operators)
    return _total(map(_of, operators), _changes(operators[0]))


def _total(parts: Iterable[Upkeep], changes: int) -> Upkeep:
    lines = [(part.nanoseconds, part.rows, part.memory, part.mapped) for part in parts]
    nanoseconds, rows, memory, mapped = (sum(column) for column in zip((0, 0, 0, 0), *lines, strict=True))
    return Upkeep(nanoseconds, rows, changes, memory, mapped)


def _changes(operator: Operator) -> int:
    """The differences that have come to a history, or out of an input."""
    return operator.emitted + operator.received


def _of(operator: Operator) -> Upkeep:
    """The upkeep of one operator, with those inside it."""
    nanoseconds = rows = memory = mapped = 0
    for _, part in every_operator([(None, operator)]):
        nanoseconds += part.nanoseconds
        rows += part.emitted + part.received
        if isinstance(part, Arrangement):
            memory += part.trace.memory
            mapped += part.trace.mapped
    return Upkeep(nanoseconds, rows, 0, memory, mapped)
