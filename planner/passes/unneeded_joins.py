"""Joins that only add columns which nothing above needs go, when columns are pruned.

project(t.b, t left join k on k.id = t.a), with the key k.id   →   project(t.b, t)
project(t.b, join(t, max(u.at), t.at <= max))   →   project(t.b, semi(t, max(u.at), t.at <= max))
"""

from __future__ import annotations

from dataclasses import replace

from planner.ir import JoinKind, ThetaJoin
from planner.ir.unique import equated, is_unique, unique_keys
from planner.ir.waiting import waiting


def is_unneeded(join: ThetaJoin, needed: frozenset[int]) -> bool:
    """Whether the rows of the left side are the join's rows, as far as the columns `needed` show."""
    match join.kind:
        case JoinKind.MARK:
            return join.mark is not None and join.mark.id not in needed
        case JoinKind.LEFT:
            return not needed & join.right.ids and _pads_at_most_once(join)
    return False


def as_test(join: ThetaJoin, needed: frozenset[int]) -> ThetaJoin:
    """An inner join as a semijoin, if it tells which rows of a side have come, and nothing else is needed of
    the other; otherwise the same join."""
    if join.kind is JoinKind.INNER:
        turned = replace(join, left=join.right, right=join.left)
        for each in (join, turned):
            if not needed & each.right.ids and waiting(each) is not None:
                return replace(each, kind=JoinKind.SEMI)
    return join


def _pads_at_most_once(join: ThetaJoin) -> bool:
    """Whether each row of the left side meets at most one of the right."""
    _, equal = equated(join.condition, join.left.ids, join.right.ids)
    return is_unique(unique_keys(join.right), equal)
