"""Chains of set operations, the types of their columns, and UNION ALL of operators with matching columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from engine.plan.expressions import Literal
from engine.schema import TEXT, Type
from planner.bind.coercion import coerce, typed
from planner.bind.expressions.comparable_sides import check_whole, with_all_digits
from planner.bind.expressions.untyped_texts import beside, is_untyped
from planner.bind.refuse import check_clauses
from planner.bind.session import Bound, Session, Taken
from planner.dialects.traits import Trait, has
from planner.ir import Attribute, Expression, Project, Relational, SetKind, SetOp
from planner.ir.rewrite import identity
from planner.native.reference import union_type
from planner.sql_types import UNTYPED

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


def united(left: Type, right: Type, dialect: str) -> Type:
    """The type of a column of a set operation. Raises TypeMismatch if there is none for both."""
    type = typed(Literal(None, union_type(left, right))).type
    return with_all_digits(type, (left, right)) if has(dialect, Trait.KEEPS_DIGITS) else type


def take_columns(session: Session, node: exp.Expression, side: Bound, types: Sequence[Type]) -> None:
    """Note the types that the columns of a side become."""
    if [column.type for column in side.columns] != list(types):
        columns = tuple((column.name, type) for column, type in zip(side.columns, types, strict=True))
        session.takes(node, Taken(types[0], columns=columns))


def texts_beside(session: Session, node: exp.Expression, side: Bound, other: Bound) -> Bound:
    """A query whose constant texts have become values of the types of another query's columns, in dialects
    where they have no type of their own. Raises TypeMismatch for one that is no such value."""
    if not isinstance(side.operator, Project) or not has(session.dialect, Trait.TEXTS_ARE_UNTYPED):
        return side
    values = {column.id: value for column, value in side.operator.items}
    items: list[tuple[Attribute, Expression]] = []
    is_written = isinstance(node, exp.Select) and len(node.expressions) == len(values)
    for place, (column, wanted) in enumerate(zip(side.columns, other.columns, strict=True)):
        value = values[column.id]
        if is_untyped(value) and wanted.type not in (TEXT, UNTYPED):
            value = _as_column(value, wanted.type, session.dialect)
            if is_written:
                taken = beside(values[column.id], wanted.type, session.dialect)
                session.takes(node.expressions[place].unalias(), Taken(wanted.type, taken))
            items.append((session.attribute(column.name, value.type, column.nullable), value))
        else:
            items.append((column, value))
    if all(new is old for (new, _), old in zip(items, side.columns, strict=True)):
        return side
    return Bound(replace(side.operator, items=tuple(items)), tuple(column for column, _ in items))


def _as_column(text: Expression, type: Type, dialect: str) -> Expression:
    """A constant text beside a column of a type; a number keeps its digits."""
    check_whole(text, type)
    value = beside(text, type, dialect)
    return value if value.type.is_numeric and not type.is_integer else coerce(value, type)


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
