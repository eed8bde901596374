"""UNION ALL of operators with matching columns."""

from __future__ import annotations

from collections.abc import Sequence

from planner.bind.session import Session
from planner.ir import Attribute, Relational, SetKind, SetOp


def union_all(session: Session, parts: Sequence[Relational]) -> Relational:
    """The rows of all parts, which have the same columns in the same order, in a balanced tree."""
    level = list(parts)
    while len(level) > 1:
        pairs = [level[i : i + 2] for i in range(0, len(level), 2)]
        level = [_both(session, *pair) if len(pair) == 2 else pair[0] for pair in pairs]
    return level[0]


def _both(session: Session, left: Relational, right: Relational) -> Relational:
    columns = tuple(
        Attribute(session.number(), a.name, a.type, a.nullable or b.nullable)
        for a, b in zip(left.columns, right.columns, strict=True)
    )
    lefts, rights = (tuple(c.id for c in side.columns) for side in (left, right))
    return SetOp(SetKind.UNION, left, right, columns, lefts, rights)
