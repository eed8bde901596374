"""Chains of set operations, and UNION ALL of operators with matching columns."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from planner.bind.refuse import check_clauses
from planner.bind.session import Bound, Session
from planner.ir import Attribute, Project, Relational, SetKind, SetOp
from planner.ir.rewrite import identity

_OWN = ("with_", "order", "limit", "offset")


def chain_of(node: exp.SetOperation) -> list[exp.SetOperation]:
    """The operators of `a UNION b UNION c`, the first one first: those of one kind, without parts of their
    own. Iterative, because chains can be long."""
    found = [node]
    check_clauses(node)
    while _continues(node, found[-1].this):
        found.append(found[-1].this)
        check_clauses(found[-1])
    return found[::-1]


def _continues(node: exp.SetOperation, left: exp.Expression) -> bool:
    if type(left) is not type(node) or left.args.get("distinct") != node.args.get("distinct"):
        return False
    return not (any(side.args.get("by_name") for side in (node, left)) or any(map(left.args.get, _OWN)))


def are_alike(sides: Sequence[Bound]) -> bool:
    """Whether all queries have columns of the same types."""
    first, *others = ([column.type for column in side.columns] for side in sides)
    return all(types == first for types in others)


def union_of(session: Session, sides: Sequence[Bound]) -> Bound:
    """The union, as bags, of queries whose columns are alike; the first gives the names."""
    operator = union_all(session, [_exactly(side) for side in sides])
    return Bound(operator, operator.columns)


def _exactly(side: Bound) -> Relational:
    """The query with its columns alone, in order."""
    if side.operator.columns == side.columns:
        return side.operator
    return Project(side.operator, identity(side.columns))


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
