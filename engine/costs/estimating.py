"""Estimating: what a view would cost, from trials of its plan over shares of its sources.

  few rows        a trial of few rows, and then one of some more, tells whether more may be tried
  more rows       as long as no operator would make too many
  three shares    of the rows that were tried last; each figure is what it would be for all rows
  one change      of rows of each source, in the last of these trials

A plan with a recursion reads its sources whole, if they are not too large, and shares of the recursion's
beginnings (`engine.costs.roots`). All trials together have one allowance. Nothing is kept afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from time import perf_counter

import numpy as np

from engine.costs.build_time import build_time
from engine.costs.draws import Draws, draws_of
from engine.costs.growth import grown
from engine.costs.probing import SourceProbes, change_cost, dearest_rows, probe, probed_rows
from engine.costs.process_time import process_seconds
from engine.costs.roots import ThinnedPlan, has_recursion, thinned
from engine.costs.trial import OperatorTrial, Trial
from engine.costs.view_cost import BuildTime, OperatorCost, ViewCost
from engine.operators.allowance import Allowance, Spending
from engine.plan.clocked import CLOCK
from engine.plan.nodes import Node, sources_of
from engine.runtime.observation import Observed
from engine.state.dictionary import Dictionary
from engine.state.snapshot import Snapshot

Sharing = Callable[[frozenset[Hashable]], Mapping[Hashable, tuple[str, ...]]]
"""Of these keys of operators, those that run already, with the views that use them."""
ALLOWANCE = Allowance(seconds=3.0, rows=4_000_000, bytes=384 << 20, all_seconds=8.0)
"""What the trials of an estimate may use."""
_LEVELS = (16, 128, 1_000, 8_000, 64_000)
"""Rows of the first trials."""
_BY_PROCESS = 1_000
"""Rows at most over which a process is measured."""
_GROWTH = 8.0
"""By how much more rows a trial has than the one before it."""
_GROWN = 2
"""By how much more each of the last three trials draws."""
_SMALL = 4_000
"""Rows over which a recursion is tried whole."""
_ROWS_A_STEP = 2_000_000
"""So many rows an operator may be expected to make in a trial."""
_TEXT_BYTES = 96 << 20
"""So many bytes of new texts may be expected to be made in a trial."""
_SECONDS_HERE = 0.5
"""What an operator may take that is built without a process of its own."""
_ROOT_SHARES = (1 / 64, 1 / 16, 1 / 4, 1.0)
_SCALAR = frozenset({"Filter", "Map", "FlatMap"})
_BILLION = 1e9
_ROOT_RATIO, _ROOT_SECONDS = 4, 3.0


@dataclass(frozen=True)
class EstimateLimits:
    """The most rows of large sources that a trial reads, and that are read whole for a recursion. A view that
    reads at most `rows_here` is built without a process of its own."""

    rows: int = 250_000
    whole_rows: int = 1_000_000
    rows_here: int = 20_000


@dataclass(frozen=True, eq=False)
class _Trials:
    """Trials of growing shares, the last three at most; what they have read, the sources' rows of the last
    one but one, and whether their figures are too low. `plan` has the keys of the plan that was asked for."""

    trials: tuple[Trial, ...]
    draws: Draws
    rows: Mapping[str, np.ndarray]
    plan: ThinnedPlan
    root_part: float = 1.0
    is_least: bool = False

    @property
    def drawn(self) -> float:
        """The rows of the large source of which the fewest were drawn for the last trial."""
        counts = [self.rows[name].shape[1] for name in self.draws.large]
        return _GROWN * min((count for count in counts if count), default=inf)


def view_cost(
    plan: Node,
    snapshot: Snapshot,
    dictionary: Dictionary,
    max_rounds: int,
    sharing: Sharing,
    spending: Spending,
    limits: EstimateLimits = EstimateLimits(),
    now: int = 0,
) -> ViewCost:
    """What a view with this plan would cost. Any thread may ask. `now` is what the clock shows, if it does
    not run yet.

    Raises BuildCancelled once the spending was stopped, and another EngineError if the view cannot be
    computed.
    """
    estimate = _Estimate(plan, snapshot, dictionary, max_rounds, limits, spending, now)
    return estimate.cost(sharing)


@dataclass(eq=False)
class _Estimate:
    plan: Node
    snapshot: Snapshot
    dictionary: Dictionary
    max_rounds: int
    limits: EstimateLimits
    spending: Spending
    now: int

    def __post_init__(self) -> None:
        self._tried = self.limits.whole_rows
        """Rows of the last trial that was not cut, about."""
        self._clock = np.array([[self.now], [self.snapshot.upper - 1], [1]], np.int64)

    def cost(self, sharing: Sharing) -> ViewCost:
        found = self._rooted() if has_recursion(self.plan) else self._drawn()
        last = found.trials[-1]
        keys = [found.plan.original(key) for key in last.outermost]
        shared = sharing(frozenset(keys))
        own = np.array([key not in shared for key in keys])
        figures, sizes = [each.figures() for each in found.trials], [each.size for each in found.trials]
        observed = last.operators
        probes = {} if last.is_cut else self._probes(found)
        shares = [trial.share for trial in found.trials][-2:]
        changes = {source: change_cost(shares[-len(each) :], each, own) for source, each in probes.items()}
        dear = dearest_rows((each[-1] for each in probes.values()), own)
        all_shares = [trial.share for trial in found.trials]
        operators = tuple(
            _operator_cost(
                replace(operator, key=found.plan.original(operator.key), shared=shared.get(key, ())),
                all_shares,
                found.drawn,
                [each[place] for each in figures],
                float(dear[place]),
            )
            for place, (operator, key) in enumerate(zip(observed, keys, strict=True))
        )
        names = sorted({*found.draws.large, *found.draws.whole} - {CLOCK.name})
        parts = {name: found.draws.part(name) for name in names}
        is_least = found.is_least or any(trial.is_cut for trial in found.trials)
        rendering = min(trial.rendering for trial in found.trials) / _BILLION
        build = self._build(operators, frozenset(operator.kind for operator in observed), rendering)
        rows = grown(all_shares, sizes, found.drawn)
        return ViewCost(rows, operators, changes, build, parts, found.root_part, is_least)

    def _build(self, operators: Sequence[OperatorCost], kinds: frozenset[str], rendering: float) -> BuildTime:
        relations = [
            self.snapshot.relations[source.name]
            for source in sources_of(self.plan)
            if source.name in self.snapshot.relations
        ]
        rows = sum(len(batch) for relation in relations for batch in relation.batches)
        seconds = [each.seconds for each in operators]
        is_here = rows <= self.limits.rows_here and max(seconds) < _SECONDS_HERE
        kept = sum(each.kept > 0 for each in operators)

        def process() -> float:
            few = draws_of(self.plan, self.snapshot, min(self._tried, _BY_PROCESS))
            drawn = few.rows(few.share)
            return process_seconds(self.plan, kinds, drawn, self.dictionary)

        return build_time(
            relations, rendering + sum(seconds), kept, self.dictionary, None if is_here else process
        )

    # Trials

    def _drawn(self, is_least: bool = False) -> _Trials:
        """Trials over rows that are drawn from the sources."""
        plan = ThinnedPlan(self.plan, {})
        best: tuple[Draws, Trial, dict[str, np.ndarray]] | None = None
        before = 0
        most_rows = self.limits.rows
        for most in (*(level for level in _LEVELS if level < most_rows), most_rows):
            if best is not None:
                draws, trial, _ = best
                growth = trial.rows / before if before else _GROWTH**2
                if draws.share >= 1.0 or trial.rows * max(growth, _GROWTH) > _ROWS_A_STEP:
                    break
                if trial.texts * _GROWTH > _TEXT_BYTES:
                    break
                before = max(trial.rows, 1)
            self._tried = most
            draws = draws_of(self.plan, self.snapshot, most)
            rows = draws.rows(draws.share)
            trial = self._trial(plan.plan, draws, rows, draws.share)
            if trial.is_cut and best is not None:
                break
            best = draws, trial, rows
            if trial.is_cut:
                return _Trials((trial,), draws, rows, plan, is_least=True)
        if best is None:
            raise ValueError("an estimate has no level")
        draws, trial, rows = best
        if draws.share >= 1.0:
            return _Trials((trial,), draws, rows, plan, is_least=is_least)
        lesser = [(share, draws.rows(share)) for share in (draws.share / _GROWN**2, draws.share / _GROWN)]
        trials = [self._trial(plan.plan, draws, drawn, share) for share, drawn in lesser]
        return _Trials((*trials, trial), draws, lesser[1][1], plan, is_least=is_least)

    def _rooted(self) -> _Trials:
        """Trials over whole sources, and shares of the beginnings of recursions."""
        draws = draws_of(self.plan, self.snapshot, self.limits.whole_rows)
        if draws.share < 1.0:
            return self._drawn(is_least=True)
        rows = draws.rows(1.0)
        if sum(delta.shape[1] for delta in rows.values()) <= _SMALL:
            trial = self._trial(self.plan, draws, rows, 1.0)
            if not trial.is_cut:
                return _Trials((trial,), draws, rows, ThinnedPlan(self.plan, {}))
        found = self._thinner(draws, rows)
        if found[-1][0].share >= 1.0:
            found = found[-1:]
        trials, plan = tuple(trial for trial, _ in found[-3:]), found[-1][1]
        return _Trials(trials, draws, rows, plan, trials[-1].share, trials[-1].is_cut)

    def _thinner(self, draws: Draws, rows: Mapping[str, np.ndarray]) -> list[tuple[Trial, ThinnedPlan]]:
        """Trials over shares of the beginnings, as far as they go; only the last may be cut."""
        found: list[tuple[Trial, ThinnedPlan]] = []
        until = perf_counter() + _ROOT_SECONDS
        for share in _ROOT_SHARES:
            plan = thinned(self.plan, share)
            if share < 1.0 and plan.plan == self.plan:
                continue
            start = perf_counter()
            trial = self._trial(plan.plan, draws, rows, share)
            if trial.is_cut and found:
                break
            found.append((trial, plan))
            next_end = perf_counter() + _ROOT_RATIO * (perf_counter() - start)
            if trial.is_cut or next_end > until or trial.rows * _ROOT_RATIO > _ROWS_A_STEP:
                break
        return found

    def _trial(self, plan: Node, draws: Draws, rows: Mapping[str, np.ndarray], share: float) -> Trial:
        trial = Trial(plan, self.snapshot, self.dictionary, self.max_rounds, share, self.spending)
        trial.run({CLOCK.name: self._clock, **rows}, draws.since)
        return trial

    def _probes(self, found: _Trials) -> dict[str, list[SourceProbes]]:
        """The probes of each source, in the last trial and the one before it."""
        probes = {}
        tables = {name: rows for name, rows in found.rows.items() if name != CLOCK.name}
        for source, rows in probed_rows(self.plan, tables).items():
            each = [probe(trial, source, rows) for trial in found.trials[-2:] if not trial.is_cut]
            known = [one for one in each if one is not None]
            if known and each[-1] is not None:
                probes[source] = known
        return probes


def _operator_cost(
    operator: Observed,
    shares: Sequence[float],
    drawn: float,
    figures: Sequence[OperatorTrial],
    change_rows: float,
) -> OperatorCost:
    """What an operator costs for all rows."""
    last = figures[-1]
    passed = grown(shares, [each.passed for each in figures], drawn)
    kept = grown(shares, [each.kept for each in figures], drawn)
    taken = grown(shares, [each.taken for each in figures], drawn)
    texts = grown(shares, [each.texts for each in figures], drawn)
    memory = 0.0 if operator.shared else last.bytes(kept) + texts
    seconds = _seconds(operator.kind, figures, taken + passed)
    return OperatorCost(operator, taken, passed, kept, memory, seconds, change_rows)


def _seconds(kind: str, figures: Sequence[OperatorTrial], work: float) -> float:
    """The seconds of an operator's steps for so much work.

    What else the machine did meanwhile only makes a trial slower, so the fastest one counts; but the one of
    the most rows, which ran first, if later ones may have found results of functions that are remembered.
    """
    seen = [each.nanoseconds / each.work for each in figures if each.work]
    if not seen:
        return figures[-1].nanoseconds / _BILLION
    return work * (seen[-1] if kind in _SCALAR else min(seen)) / _BILLION
