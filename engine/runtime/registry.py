"""The registry: an engine's sources and views, and the operators at their ends.

It knows which view reads which source, and which relation a state belongs to. It forgets a view that has
failed. It changes nothing in operators but the `readers` of their failure logs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from engine.codec.numerals import explained
from engine.errors import EngineError, EpochError, PlanError, UnknownName
from engine.kernels.times import are_within, ends_of
from engine.operators.failure_log import FailureLog
from engine.operators.history import History
from engine.operators.linear import InputOperator
from engine.operators.operator import Operator
from engine.operators.running_dataflow import reachable
from engine.plan.nodes import Node, Source, sources_of
from engine.runtime.execution import JobTable
from engine.schema import Type
from engine.state.dictionary import Dictionary
from engine.state.packed_times import Frontier
from engine.state.snapshot import RelationSnapshot

_WORDS = np.dtype(np.int64)


@dataclass(frozen=True)
class KnownSource:
    """A source: `table` describes it; `history` is None if the source keeps no rows."""

    table: JobTable
    input: InputOperator
    history: History | None

    @cached_property
    def lines(self) -> int:
        """The lines of a delta: the columns, the epoch and the diff."""
        return len(self.table.node.schema) + 2

    @cached_property
    def explained(self) -> tuple[tuple[int, Type], ...]:
        """The columns, with their types, that may have words of the dictionary."""
        types = enumerate(self.table.node.schema.types)
        return tuple((column, type) for column, type in types if type.is_interned or type.may_be_wide)


@dataclass(frozen=True)
class KnownView:
    """A view; `failures` are the failure logs of all its operators, shared ones included."""

    plan: Node
    history: History
    failures: tuple[FailureLog, ...]


class Registry:
    """The sources and the maintained views of an engine, by name."""

    def __init__(self) -> None:
        self.sources: dict[str, KnownSource] = {}
        """All sources."""
        self.views: dict[str, KnownView] = {}
        """The views that are maintained; a view that failed is not among them."""

    def add_view(self, name: str, plan: Node, history: History, operators: Iterable[Operator]) -> None:
        """Add a view. Its failure logs are listed in the order of `operators`, which include the view's
        own."""
        failures = failure_logs(history, operators)
        for log in failures:
            log.readers.add(name)
        self.views[name] = KnownView(plan, history, failures)

    def rows(self, name: str) -> int:
        """How many differences the history of a source or view holds; 0 if it has no history."""
        known = self.views.get(name) or self.sources.get(name)
        return 0 if known is None or known.history is None else known.history.trace.rows

    def remove_view(self, name: str) -> None:
        """Forget a view; nothing happens if it is not maintained."""
        view = self.views.pop(name, None)
        for log in view.failures if view else ():
            log.readers.discard(name)

    # Checks

    def check_plan(self, plan: Node) -> None:
        """Raises UnknownName or PlanError if a plan does not fit the sources."""
        for source in sources_of(plan):
            known = self._source(source.name).table.node
            if known != source:
                raise PlanError(f"the plan reads {source.name} as {source.schema}, but it is {known.schema}")

    def check_deltas(
        self, deltas: Mapping[str, np.ndarray], lower: Frontier, upper: Frontier, dictionary: Dictionary
    ) -> None:
        """Check that deltas are of known sources and of the right shape, at times from `lower` on, before
        `upper`, and that they refer to no text that is gone, because nobody held it."""
        if not upper.is_at_or_after(lower):
            raise EpochError(f"an advance to {upper} goes back: times before {lower} are complete")
        for name, delta in deltas.items():
            source = self._source(name)
            if delta.ndim != 2 or len(delta) != source.lines or delta.dtype != _WORDS:
                raise PlanError(
                    f"a delta of {name} is {delta.dtype}{list(delta.shape)}, not int64[{source.lines}, n]"
                )
            if not _are_within(delta, lower, upper):
                raise EpochError(f"a change of {name} is at a time before {lower}, or not before {upper}")
            if source.explained:
                require_texts(source, delta, dictionary)

    def _source(self, name: str) -> KnownSource:
        source = self.sources.get(name)
        if source is None:
            raise UnknownName(f"there is no source {name}")
        return source

    # Who reads whom

    def tables(self, names: Iterable[str]) -> tuple[JobTable, ...]:
        """The sources of these names, sorted by name."""
        return tuple(self.sources[name].table for name in sorted(names))

    def readers(self, source: Source) -> list[str]:
        """The views that read a source."""
        return [name for name, view in self.views.items() if source in sources_of(view.plan)]

    def affected(
        self, changed: Collection[str], without: Collection[str]
    ) -> tuple[dict[str, Node], set[str]]:
        """The views that read a changed source, without those of `without`; and the names of all sources they
        read, with the changed ones."""
        views: dict[str, Node] = {}
        sources = set(changed)
        for name, view in self.views.items():
            read = {source.name for source in sources_of(view.plan)}
            if name not in without and not read.isdisjoint(changed):
                views[name] = view.plan
                sources |= read
        return views, sources

    def dependents(self, operator: Operator) -> list[str]:
        """The views that depend on an operator."""
        return [name for name, view in self.views.items() if operator in reachable([view.history])]

    def outputs(self, without: Collection[str] = ()) -> list[Operator]:
        """The operators that must run: inputs, and histories of sources and of views except those of
        `without`."""
        outputs: list[Operator] = [source.input for source in self.sources.values()]
        outputs += [source.history for source in self.sources.values() if source.history is not None]
        outputs += [view.history for name, view in self.views.items() if name not in without]
        return outputs

    # Histories and snapshots

    def history(self, name: str) -> History | None:
        """The history of a source or view; None if a source keeps none, or a view has failed."""
        if name in self.views:
            return self.views[name].history
        return self.sources[name].history if name in self.sources else None

    def renewed(
        self, states: Iterable[object], relations: Mapping[str, RelationSnapshot]
    ) -> dict[str, RelationSnapshot]:
        """Those of the relations anew to which one of the changed states belongs, as history or as failure
        log."""
        found: dict[str, RelationSnapshot] = {}
        for state in states:
            if isinstance(state, FailureLog):
                for name in state.readers & self.views.keys():
                    found[name] = self.refreshed(name, relations[name])
            elif isinstance(state, History):
                name, trace = state.name, state.trace
                known = self.views.get(name) or self.sources.get(name)
                if known is not None and known.history is state and name not in found:
                    found[name] = relations[name].with_rows(trace.shown(), trace.since)
        return found

    def refreshed(self, name: str, relation: RelationSnapshot) -> RelationSnapshot:
        """The relation with the current batches of its history and its failure logs."""
        view = self.views.get(name)
        history = self.history(name)
        if history is None:
            return relation
        errors = relation.errors
        if view is not None:
            logs = (log.trace.shown() for log in view.failures if log.trace.count)
            layers = tuple(layer for shown in logs for layer in shown.layers)
            if layers or errors:
                errors = errors.with_layers(layers)
        return relation.with_rows(history.trace.shown(), history.trace.since, errors)


def failure_logs(history: History, operators: Iterable[Operator]) -> tuple[FailureLog, ...]:
    """The failure logs of those of the operators that a history depends on, in their order."""
    own = reachable([history])
    parts = (part for operator in operators if operator in own for part in operator.parts())
    return tuple(part.failures for part in parts if hasattr(part, "failures"))


def _are_within(delta: np.ndarray, lower: Frontier, upper: Frontier) -> bool:
    """Whether all times of a delta are at or after `lower`, and before `upper`."""
    if not lower.order.is_total:
        return are_within(delta, lower.array, upper.array, lower.order.masks)
    least, greatest = ends_of(delta)
    return lower.words[0] <= least and greatest < upper.words[0]  # type: ignore[no-any-return]


def require_texts(source: KnownSource, delta: np.ndarray, dictionary: Dictionary) -> None:
    """Raises EngineError if a delta refers to a text that is gone, because nobody held it."""
    if dictionary.is_settled:
        return
    for column, type in source.explained:
        try:
            dictionary.require(explained(delta[column], type))
        except KeyError:
            name = source.table.node.name
            raise EngineError(f"a change of {name} refers to a text that is gone") from None
