"""The texts of EXPLAIN for operators that order rows, in the relational and the dataflow listing."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from engine.plan.nearest_joins import NearestJoin
from engine.plan.nodes import Ordering
from planner.ir import Nearest


def top_details(
    keys: Iterable[int], order: Iterable[Ordering], limit: int | None, offset: int, name: Callable[[int], str]
) -> list[str]:
    """The groups, the order and the kept positions; `name` gives a column's name."""
    by = ", ".join(name(key) for key in keys)
    placed = ", ".join(ordering_text(ordering, name) for ordering in order)
    return [*([f"by {by}"] if by else []), *([f"order {placed}"] if placed else []), _places(limit, offset)]


def partition_details(
    keys: Iterable[int], order: Iterable[Ordering], ties: Iterable[Ordering], name: Callable[[int], str]
) -> list[str]:
    """The groups of a window, their order, and the columns that break ties."""
    by = ", ".join(name(key) for key in keys)
    placed, then = (", ".join(ordering_text(o, name) for o in part) for part in (order, ties))
    parts = {"by": by, "order": placed, "ties by": then}
    return [f"{what} {text}" for what, text in parts.items() if text]


def nearest_details(
    join: Nearest | NearestJoin, left: Callable[[int], str], right: Callable[[int], str]
) -> list[str]:
    """The conditions of a nearest join, and the columns that break ties; the functions give names."""
    first, *ties = join.order
    comparison = (">" if first.descending else "<") + ("" if join.is_strict else "=")
    then = ", ".join(ordering_text(tie, right) for tie in ties)
    keys = zip(join.left_keys, join.right_keys, strict=True)
    nearest = f"nearest {left(join.place)} {comparison} {right(first.column)}"
    return [*(f"{left(a)} = {right(b)}" for a, b in keys), nearest, *([f"ties by {then}"] if then else [])]


def ordering_text(ordering: Ordering, name: Callable[[int], str]) -> str:
    """The column with its order: `r1.total desc nulls first`."""
    column, descending, nulls_first = ordering
    return f"{name(column)}{' desc' if descending else ''}{' nulls first' if nulls_first else ''}"


def _places(limit: int | None, offset: int) -> str:
    if limit is None:
        return f"places from {offset + 1}"
    return f"place {offset + 1}" if limit == 1 else f"places {offset + 1} to {offset + limit}"
