"""Costs of views that are not there yet: estimated beside the writer, and held against a budget.

Nothing of it waits for the writer, and nothing is kept afterwards. One estimate runs at a time.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping

from engine.costs.estimating import ALLOWANCE, EstimateLimits, view_cost
from engine.costs.view_cost import ViewCost
from engine.errors import BuildCancelled
from engine.operators.allowance import Spending
from engine.plan.nodes import Node
from planner.explain.cost_report import place_of_dearest
from planner.lower.planned_query import PlannedQuery
from planner.statements.view_budgets import ViewBudget
from service.definitions.maintained_queries import is_query_name
from service.errors import Invalid, Unavailable
from service.reading.callers import Caller
from service.reading.lanes import Lane
from service.running.process_memory import MemoryMark
from service.running.timeline import Timeline


class ViewCosts:
    """Estimates. They wait in a `lane` of their own for the one before them."""

    def __init__(self, memory: MemoryMark) -> None:
        self.lane = Lane("costs", 1)
        self._memory = memory

    def estimate(
        self, timeline: Timeline, plan: Node, caller: Caller, besides: str | None = None
    ) -> ViewCost:
        """What a view with this plan would cost, if the view `besides` were not there. Blocks.

        Raises CallerGone or Unavailable if the caller leaves, and an EngineError if the view cannot be
        computed.
        """
        self._memory.check("an estimate")
        spending, settings = Spending(ALLOWANCE), timeline.settings
        limits = EstimateLimits(rows_here=settings.build_rows_here)

        def sharing(keys: Collection[Hashable]) -> Mapping[Hashable, tuple[str, ...]]:
            return _named(timeline.sharing(keys), besides)

        try:
            with caller.ending(spending.stop), timeline.dictionary.holding():
                parts = timeline.snapshot, timeline.dictionary, settings.max_rounds
                return view_cost(plan, *parts, sharing, spending, limits, timeline.newest_time)
        except BuildCancelled:
            caller.check()
            raise Unavailable("the estimate was cancelled", code="shutting_down") from None

    def check(self, timeline: Timeline, name: str, query: PlannedQuery, sql: str, budget: ViewBudget) -> None:
        """Raises Invalid if a view would cost more than its budget. Blocks."""
        cost = self.estimate(timeline, query.plan, Caller(), name)
        refusal = next(excesses(query, cost, sql, budget), None)
        if refusal is not None:
            raise Invalid(f"view {name} would need {refusal}", _HINT, code="over_view_budget")

    def close(self) -> None:
        self.lane.close()


_HINT = "EXPLAIN COST says what is dear, and what may make it less; or give the view a greater budget"


def excesses(query: PlannedQuery, cost: ViewCost, sql: str, budget: ViewBudget) -> Iterator[str]:
    """What a view would need more of than its budget has, in words, with the operator that needs most."""
    needs = (
        ("memory", cost.memory, budget.memory_bytes, "bytes of memory"),
        ("time", cost.build.total, budget.build_seconds, "seconds to be built"),
        ("changes", _worst(cost), budget.change_milliseconds, "milliseconds for a change on a bad day"),
    )
    for what, needed, most, unit in needs:
        if most is not None and needed > most:
            dearest = place_of_dearest(query, cost, what, sql)
            least = "at least " if cost.is_least else ""
            more = f"; most of it for {dearest}" if dearest else ""
            yield f"{least}{_number(needed)} {unit}, and may have {_number(most)}{more}"


def _worst(cost: ViewCost) -> float:
    return max((change.bad_milliseconds for change in cost.changes.values()), default=0.0)


def _number(value: float) -> str:
    return f"{round(value):,}" if value >= 100 else f"{value:.3g}"


def _named(
    shared: Mapping[Hashable, tuple[str, ...]], besides: str | None
) -> dict[Hashable, tuple[str, ...]]:
    """What is shared with views that have names, other than `besides`. Queries that clients follow come and
    go, so what only they have will be the view's."""
    named = {
        key: tuple(name for name in names if name != besides and not is_query_name(name))
        for key, names in shared.items()
    }
    return {key: names for key, names in named.items() if names}
