"""What planning may cost: limits, and the budget that a planning spends.

`within` opens a budget for a block of code; whatever plans inside the block spends it, however deep it is
called. Without a budget only the depth is limited. Time is checked cooperatively: by the parser for every
operand, by the binder for every expression, and by the passes for every operator.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from time import monotonic, thread_time

from planner.errors import PlanningTimeout, SqlTooLarge, TooManyColumns, TooManyRelations

MOST_NUMBERS = 1_000_000
"""Columns that all steps of one plan may have together, before and after the passes."""


@dataclass(frozen=True)
class PlanningLimits:
    """Bytes of a text, levels of nesting in it, columns of one result, relations that a query reads, counted
    at each place, seconds of the thread's processor time, which other work does not take, and bytes of memory
    for planning a long text, which is done in a process of its own."""

    bytes: int = 8 << 20
    depth: int = 200
    columns: int = 2_000
    relations: int = 1_000
    seconds: float = 20.0
    memory: int = 2 << 30


DEFAULT = PlanningLimits()
UNLIMITED = PlanningLimits(1 << 62, 1 << 62, 1 << 62, 1 << 62, math.inf, 1 << 62)
"""For what was planned before: it must not fail because a machine is slow or a setting is lower."""


class PlanningBudget:
    """What is left for one planning."""

    def __init__(self, limits: PlanningLimits) -> None:
        self.limits = limits
        self.deadline = thread_time() + limits.seconds
        self.soonest = monotonic() + limits.seconds
        """The thread's time is over no sooner; this clock is quicker to ask."""
        self.relations = 0
        self.seen: set[int] = set()


_CURRENT: ContextVar[PlanningBudget | None] = ContextVar("planning_budget", default=None)


@contextmanager
def within(limits: PlanningLimits) -> Iterator[None]:
    """Plan in the block under these limits; inside another such block, the outer budget goes on."""
    if _CURRENT.get() is not None:
        yield
        return
    token = _CURRENT.set(PlanningBudget(limits))
    try:
        yield
    finally:
        _CURRENT.reset(token)


def current() -> PlanningLimits:
    """The limits of the block in which the caller plans."""
    budget = _CURRENT.get()
    return UNLIMITED if budget is None else budget.limits


def check_time() -> None:
    """Raise PlanningTimeout if the time is over."""
    budget = _CURRENT.get()
    if budget is not None and monotonic() > budget.soonest and thread_time() > budget.deadline:
        raise out_of_time(budget.limits)


def out_of_time(limits: PlanningLimits) -> PlanningTimeout:
    return PlanningTimeout(
        f"planning takes more than {limits.seconds:g} seconds of processor time",
        "make views of parts of the query, or raise FRESHET_PLAN_SECONDS",
    )


def out_of_memory(limits: PlanningLimits) -> SqlTooLarge:
    return SqlTooLarge(
        f"planning takes more than {limits.memory >> 20} MiB of memory",
        "put long lists into a table, or raise FRESHET_PLAN_MEMORY",
    )


def check_text(text: str) -> None:
    """Raise SqlTooLarge if the text is too long."""
    budget = _CURRENT.get()
    if budget is None or len(text) * 4 <= budget.limits.bytes:
        return
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > budget.limits.bytes:
        raise SqlTooLarge(
            f"the text has {size} bytes, and at most {budget.limits.bytes} are allowed",
            "put long lists into a table, or raise FRESHET_SQL_LIMIT",
        )


def depth_limit() -> int:
    """The most levels of nesting in a text; limited without a budget too, because parsers recurse."""
    budget = _CURRENT.get()
    return (DEFAULT if budget is None else budget.limits).depth


def check_columns(count: int) -> None:
    """Raise TooManyColumns for a result of `count` columns if that is over the limit."""
    budget = _CURRENT.get()
    if budget is not None and count > budget.limits.columns:
        raise TooManyColumns(
            f"a result has {count} columns, and at most {budget.limits.columns} are allowed",
            "name the columns that are needed, or raise FRESHET_PLAN_COLUMNS",
        )


def check_numbers(count: int) -> None:
    """Raise TooManyColumns if the steps of a plan have `count` columns and that is too many."""
    if count > MOST_NUMBERS and _CURRENT.get() is not None:
        raise TooManyColumns(
            f"the steps of the plan have more than {MOST_NUMBERS} columns together",
            "name the columns that are needed, and make views of parts of the query",
        )


def count_relation(place: object = None) -> None:
    """Count a place at which the query reads a table, a view or a CTE. Raises TooManyRelations.

    A `place` of the text counts once, although a recursion is bound several times; a copy always counts.
    """
    budget = _CURRENT.get()
    if budget is None or id(place) in budget.seen:
        return
    if place is not None:
        budget.seen.add(id(place))
    budget.relations += 1
    if budget.relations > budget.limits.relations:
        raise too_many_relations(f"the query reads relations at more than {budget.limits.relations} places")


def too_many_relations(message: str) -> TooManyRelations:
    return TooManyRelations(message, "make views of parts of the query, or raise FRESHET_PLAN_RELATIONS")
