"""Joins that only add columns which nothing above needs go, when columns are pruned.

project(t.b, t left join k on k.id = t.a), with the key k.id   →   project(t.b, t)
"""

from __future__ import annotations

from planner.ir import JoinKind, ThetaJoin
from planner.ir.unique import equated, is_unique, unique_keys


def is_unneeded(join: ThetaJoin, needed: frozenset[int]) -> bool:
    """Whether the rows of the left side are the join's rows, as far as the columns `needed` show."""
    match join.kind:
        case JoinKind.MARK:
            return join.mark is not None and join.mark.id not in needed
        case JoinKind.LEFT:
            return not needed & join.right.ids and _pads_at_most_once(join)
    return False


def _pads_at_most_once(join: ThetaJoin) -> bool:
    """Whether each row of the left side meets at most one of the right."""
    _, equal = equated(join.condition, join.left.ids, join.right.ids)
    return is_unique(unique_keys(join.right), equal)
