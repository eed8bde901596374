"""The keys of a join: both sides with the columns on which they are joined."""

from __future__ import annotations

from dataclasses import dataclass

from planner.ir.conditions import Condition
from planner.lower.lowered import Lowered, not_null
from planner.lower.time_filters import filtered_over_time, with_keys_over_time


@dataclass(frozen=True)
class Keyed:
    """Both sides with the positions on which they are joined, without rows that cannot match."""

    left: Lowered
    right: Lowered
    left_keys: tuple[int, ...]
    right_keys: tuple[int, ...]


def keyed(left: Lowered, right: Lowered, condition: Condition, keep_left: bool = False) -> Keyed:
    """The sides with their keys. With `keep_left` no row of the left is filtered out; that changes no match,
    because a NULL has no partner on the right."""
    right = filtered_over_time(right, condition.rights)
    if not keep_left:
        left = filtered_over_time(left, condition.lefts)
    left, lefts = with_keys_over_time(left, [e.left for e in condition.equalities])
    right, rights = with_keys_over_time(right, [e.right for e in condition.equalities])
    strict = [i for i, equality in enumerate(condition.equalities) if not equality.null_safe]
    right = not_null(right, (rights[i] for i in strict))
    if not keep_left:
        left = not_null(left, (lefts[i] for i in strict))
    pairs = sorted(set(zip(rights, lefts, strict=True)))
    return Keyed(left, right, tuple(b for _, b in pairs), tuple(a for a, _ in pairs))
