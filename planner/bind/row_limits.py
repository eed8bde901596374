"""LIMIT, OFFSET, FETCH and TOP: which positions of an order are kept.

The result must be a function of the tables, so the columns in turn, ascending and NULL last, order the rows
that ORDER BY leaves equal.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from engine.plan.nodes import Ordering
from planner.bind.order import Term, ordered
from planner.bind.refuse import refuse_unsupported
from planner.bind.session import Bound, Session
from planner.errors import InvalidQuery, PlannerError
from planner.ir import Attribute, JoinKind, Project, Relational, ThetaJoin, Top
from planner.ir.scalars import null_safe
from planner.native.reference import constant
from planner.positions import fail


@dataclass(frozen=True)
class RowLimits:
    """`limit` positions after `offset`, or all; with ties, also the rows that are equal to the last."""

    limit: int | None
    offset: int
    with_ties: bool = False

    @property
    def keep_all(self) -> bool:
        return self.limit is None and self.offset == 0


def limits_of(session: Session, node: exp.Expression) -> RowLimits:
    """The limits of the query `node` itself."""
    limit, offset = node.args.get("limit"), node.args.get("offset")
    skipped = _count(session, offset.expression, "OFFSET") or 0 if offset is not None else 0
    if limit is None:
        return RowLimits(None, skipped)
    options = limit.args.get("limit_options")
    if options is not None and options.args.get("percent"):
        refuse_unsupported("a LIMIT in percent", limit)
    if limit.args.get("expressions") or (offset is not None and offset.args.get("expressions")):
        refuse_unsupported("LIMIT BY", limit)
    ties = options is not None and bool(options.args.get("with_ties"))
    if isinstance(limit, exp.Fetch):
        count = limit.args.get("count")
        return RowLimits(1 if count is None else _count(session, count, "FETCH"), skipped, ties)
    return RowLimits(_count(session, limit.expression, "LIMIT"), skipped, ties)


def _count(session: Session, node: exp.Expression, clause: str) -> int | None:
    """A constant number of rows; None for all."""
    if isinstance(node, exp.Var) and node.name.upper() == "ALL":
        return None
    if isinstance(node, exp.Literal) and not node.is_string and node.this.isdigit() and len(node.this) < 19:
        return int(node.this)
    if any(node.find_all(exp.Column, exp.Query)):
        refuse_unsupported(f"{clause} by an expression that is not a constant", node)
    try:
        known, value = constant(f"CAST({node.sql('duckdb')} AS BIGINT)")
    except PlannerError as error:
        fail(error, node)
    if not known or (isinstance(value, int) and value < 0):
        fail(InvalidQuery(f"{clause} is not a number of rows: {node.sql(session.dialect)}"), node)
    return value if isinstance(value, int) else None


def placed(
    session: Session, rows: Project, columns: tuple[Attribute, ...], terms: list[Term], limits: RowLimits
) -> Bound:
    """The rows of a projection within the limits, in the order of the terms; `columns` are the
    projection's."""
    wide, order = ordered(session, rows, columns, terms)
    return limited(session, Bound(wide, columns), order, limits)


def limited(session: Session, bound: Bound, order: tuple[Ordering, ...], limits: RowLimits) -> Bound:
    """The rows of `bound` within the limits; `order` is over columns of its operator."""
    if limits.keep_all:
        return bound
    if limits.with_ties and limits.limit is not None:
        return _with_ties(session, bound, order, limits)
    whole = complete(order, bound.columns)
    return Bound(Top(bound.operator, (), whole, limits.limit, limits.offset), bound.columns)


def complete(order: tuple[Ordering, ...], columns: tuple[Attribute, ...]) -> tuple[Ordering, ...]:
    """The order, followed by the columns that are not in it."""
    placed = {ordering.column for ordering in order}
    return (*order, *(Ordering(column.id) for column in columns if column.id not in placed))


def _with_ties(session: Session, bound: Bound, order: tuple[Ordering, ...], limits: RowLimits) -> Bound:
    """The rows after the offset that are equal in order to a row within the limit."""
    entry = session.define(Bound(bound.operator, bound.operator.columns))
    rows, others = session.reference("rows", entry), session.reference("rows", entry)
    places = {column.id: i for i, column in enumerate(bound.operator.columns)}

    def top(of: Bound, limit: int | None) -> Relational:
        moved = tuple(o._replace(column=of.columns[places[o.column]].id) for o in order)
        return Top(of.operator, (), complete(moved, _taken(of, bound, places)), limit, limits.offset)

    placed = [places[ordering.column] for ordering in order]
    alike = null_safe(*(tuple(of.columns[i] for i in placed) for of in (rows, others)))
    behind = top(rows, None) if limits.offset else rows.operator
    kept = ThetaJoin(JoinKind.SEMI, behind, top(others, limits.limit), alike)
    return Bound(kept, _taken(rows, bound, places))


def _taken(copy: Bound, bound: Bound, places: dict[int, int]) -> tuple[Attribute, ...]:
    """The columns of a copy that correspond to those of `bound`."""
    return tuple(replace(copy.columns[places[column.id]], name=column.name) for column in bound.columns)
