"""The registry: an engine's sources and views, and the operators at the ends of each.

It says who reads whom, and whose history a state is. Of a view that has failed it knows nothing any
more. It changes no operator, but for which views a log of errors is read by.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from engine.errors import EpochError, PlanError, UnknownName
from engine.kernels.times import are_within
from engine.operators.failure_log import FailureLog
from engine.operators.history import History
from engine.operators.linear import InputOperator
from engine.operators.operator import Operator
from engine.operators.running_dataflow import reachable
from engine.plan.nodes import Node, Source, sources_of
from engine.runtime.execution import JobTable
from engine.state.packed_times import Frontier
from engine.state.snapshot import RelationSnapshot


@dataclass(frozen=True)
class KnownSource:
    """`table` says what it is; `history` is None where its rows only pass through."""

    table: JobTable
    input: InputOperator
    history: History | None


@dataclass(frozen=True)
class KnownView:
    """`failures` are the errors of its own operators and of those that it shares."""

    plan: Node
    history: History
    failures: tuple[FailureLog, ...]


class Registry:
    def __init__(self) -> None:
        self.sources: dict[str, KnownSource] = {}
        self.views: dict[str, KnownView] = {}

    def add_view(self, name: str, plan: Node, history: History, operators: Iterable[Operator]) -> None:
        """A view whose operators are among `operators`, in whose order its errors are listed."""
        own = reachable([history])
        parts = (part for operator in operators if operator in own for part in operator.parts())
        failures = tuple(part.failures for part in parts if hasattr(part, "failures"))
        for log in failures:
            log.readers.add(name)
        self.views[name] = KnownView(plan, history, failures)

    def rows(self, name: str) -> int:
        """How many differences the history of a source or a view holds; 0 where there is none."""
        known = self.views.get(name) or self.sources.get(name)
        return 0 if known is None or known.history is None else known.history.trace.rows

    def remove_view(self, name: str) -> None:
        view = self.views.pop(name, None)
        for log in view.failures if view else ():
            log.readers.discard(name)

    # Checks

    def check_plan(self, plan: Node) -> None:
        """UnknownName or PlanError where a plan does not fit the sources."""
        for source in sources_of(plan):
            known = self._source(source.name).table.node
            if known != source:
                raise PlanError(f"the plan takes {source.name} for {source.schema}, it is {known.schema}")

    def check_deltas(self, deltas: Mapping[str, np.ndarray], lower: Frontier, upper: Frontier) -> None:
        """Raises where deltas are not those of sources, at times from `lower` on that are before `upper`."""
        if not upper.is_at_or_after(lower):
            raise EpochError(f"what comes is at or after {lower}, an advance to {upper} goes back")
        for name, delta in deltas.items():
            width = len(self._source(name).table.node.schema)
            if delta.ndim != 2 or delta.shape[0] != width + 2 or delta.dtype != np.int64:
                raise PlanError(f"a delta of {name} is {delta.dtype}{list(delta.shape)}")
            if not are_within(delta, lower.array, upper.array, lower.order.masks):
                raise EpochError(f"a change of {name} is not at a time from {lower} on, before {upper}")

    def _source(self, name: str) -> KnownSource:
        source = self.sources.get(name)
        if source is None:
            raise UnknownName(f"there is no source {name}")
        return source

    # Who reads whom

    def tables(self, names: Iterable[str]) -> tuple[JobTable, ...]:
        """Sources of these names, sorted."""
        return tuple(self.sources[name].table for name in sorted(names))

    def readers(self, source: Source) -> list[str]:
        """The views that read a source."""
        return [name for name, view in self.views.items() if source in sources_of(view.plan)]

    def affected(
        self, changed: Collection[str], without: Collection[str]
    ) -> tuple[dict[str, Node], set[str]]:
        """The views, but for those of `without`, that read a changed source; and all sources concerned."""
        views: dict[str, Node] = {}
        sources = set(changed)
        for name, view in self.views.items():
            read = {source.name for source in sources_of(view.plan)}
            if name not in without and not read.isdisjoint(changed):
                views[name] = view.plan
                sources |= read
        return views, sources

    def dependents(self, operator: Operator) -> list[str]:
        """The views that cannot be computed without an operator."""
        return [name for name, view in self.views.items() if operator in reachable([view.history])]

    def outputs(self, without: Collection[str] = ()) -> list[Operator]:
        """The operators that are needed for themselves, but for the views of `without`."""
        outputs: list[Operator] = [source.input for source in self.sources.values()]
        outputs += [source.history for source in self.sources.values() if source.history is not None]
        outputs += [view.history for name, view in self.views.items() if name not in without]
        return outputs

    # What has become of them

    def history(self, name: str) -> History | None:
        """The history of a source or view; None of a source that keeps none, or a view that has failed."""
        if name in self.views:
            return self.views[name].history
        return self.sources[name].history if name in self.sources else None

    def changed(self, states: Iterable[object]) -> set[str]:
        """The relations whose history or errors are among the changed states."""
        names: set[str] = set()
        for state in states:
            if isinstance(state, History):
                names.add(state.name)
            elif isinstance(state, FailureLog):
                names |= state.readers
        return names & (self.views.keys() | self.sources.keys())

    def refreshed(self, name: str, relation: RelationSnapshot) -> RelationSnapshot:
        """The relation with its history as it is now."""
        view = self.views.get(name)
        history = self.history(name)
        if history is None:
            return relation
        if view is not None and view.failures:
            errors = tuple(batch for log in view.failures for batch in log.trace.batches())
            relation = replace(relation, errors=errors)
        return relation.with_batches(history.trace.batches(), history.trace.since)
