"""ASOF JOIN: pairs each row of the left with the nearest row of the right in an order.

The condition has equalities and one inequality between the sides. The match is the nearest row that meets it;
the row's columns in turn break ties. Conditions of one side are filters of that side. If there is another
condition between the sides, or the right one depends on the left, it is the first of all rows that meet it.

A join to the versions of a table is one: `JOIN t FOR SYSTEM_TIME AS OF x`, where the key of `t` has the time
from which on a row counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from sqlglot import exp

from engine.plan.expressions import Call, Case, ColumnRef, Literal, Op
from engine.plan.nodes import Ordering
from engine.schema import BOOLEAN, DATE, TEXT, TIME, TIMESTAMP, TIMESTAMPTZ, TIMETZ
from planner import ir
from planner.bind.row_limits import complete
from planner.bind.session import Session
from planner.errors import InvalidQuery
from planner.ir.conditions import Condition, parts_of
from planner.ir.nullability import known_columns
from planner.ir.rewrite import identity
from planner.ir.scalars import TRUE, TURNED, call, conjoin, conjuncts, may_be_null, negate
from planner.positions import fail, refuse
from planner.relation import Relation

_LOOKING_BACK = (Op.GE, Op.GT)
_STRICT = (Op.GT, Op.LT)
_SORTED = (BOOLEAN, DATE, TEXT, TIME, TIMETZ, TIMESTAMP, TIMESTAMPTZ)
"""Types, beside those of numbers, whose words or bytes are in the order of their values."""


@dataclass(frozen=True)
class _Nearness:
    """The inequality: how a value of the left compares with one of the right."""

    op: Op
    left: ir.Expression
    right: ir.Expression

    @property
    def is_sorted(self) -> bool:
        type = self.left.type
        return type == self.right.type and (type.is_numeric or type in _SORTED)


def is_of_version(join: exp.Join) -> bool:
    """Whether the join names, for each row of its left side, a time of a table."""
    version = join.this.args.get("version") if isinstance(join.this, exp.Table) else None
    return version is not None and version.find(exp.Column, exp.Anonymous) is not None


def join_of_version(join: exp.Join, relation: Relation) -> exp.Join:
    """The ASOF JOIN to the version of the table that the row's time names. Raises Unsupported."""
    at = join.this.args["version"].expression
    clock = at.find(exp.Anonymous)
    if clock is not None and clock.name.upper() == "PROCTIME":
        hint = "leave FOR SYSTEM_TIME out: a view joins the newest rows of the table, and follows them"
        refuse(clock, "a join to the time at which a row is processed is not supported", hint)
    name = join.this.alias_or_name
    columns = [relation.schema.columns[i] for i in relation.key or ()]
    times = [column.name for column in columns if column.type in (DATE, TIMESTAMP, TIMESTAMPTZ)]
    others = {column.name.lower() for column in columns} - {time.lower() for time in times}
    equated = [_key_of(part, name) for part in _conjuncts(join.args.get("on"))]
    is_plain = join.side in ("", "LEFT") and join.kind in ("", "INNER", "OUTER") and not join.method
    if len(times) != 1 or not is_plain or sorted(equated) != sorted(others):
        hint = (
            "JOIN or LEFT JOIN a table whose key has one time, ON equations of the key's other columns alone"
        )
        refuse(join.this, f"this join to versions of {relation.name} is not supported", hint)
    found = join.copy()
    found.this.set("version", None)
    nearest = exp.GTE(this=at.copy(), expression=exp.column(times[0], name, quoted=True))
    found.set("on", exp.and_(found.args["on"], nearest))
    found.set("method", "ASOF")
    return found


def _conjuncts(on: exp.Expr | None) -> list[exp.Expr]:
    parts = on.flatten() if isinstance(on, exp.And) else [on] if on is not None else []
    return [part.unnest() for part in parts]


def _key_of(part: exp.Expr, table: str) -> str:
    """The column of the table that the condition equates; empty if it is no equation of one."""
    sides = (part.this, part.expression) if isinstance(part, exp.EQ) else ()
    of_table = (
        side for side in sides if isinstance(side, exp.Column) and side.table.lower() == table.lower()
    )
    return next((column.name.lower() for column in of_table), "")


def asof_join(
    session: Session,
    node: exp.Join,
    kind: ir.JoinKind,
    left: ir.Relational,
    right: ir.Relational,
    columns: tuple[ir.Attribute, ...],
    condition: ir.Expression,
) -> ir.Relational:
    """Return the join; `columns` are those of the right side, in the order that breaks ties."""
    found = [near for near in (_nearness(p, left, right) for p in conjuncts(condition)) if near]
    if len(found) != 1:
        fail(
            InvalidQuery("ASOF JOIN needs one inequality between a value of the left and one of the right"),
            node,
        )
    (near,) = found
    parts = parts_of(condition, left.ids, right.ids)
    if len(parts.rest) == 1 and near.is_sorted and not right.free & left.ids:
        return _searched(
            session, node, kind, _Side(session, left), _Side(session, right), columns, parts, near
        )
    place = session.attribute("place", near.right.type, True)
    placed = ir.Project(right, (*identity(right.columns), (place, near.right)))
    nearest = ir.Top(ir.Selection(placed, condition), (), _order(near, place.id, columns), 1)
    return ir.ThetaJoin(kind, left, ir.Project(nearest, identity(right.columns)), TRUE)


def _order(near: _Nearness, place: int, columns: tuple[ir.Attribute, ...]) -> tuple[Ordering, ...]:
    return complete((Ordering(place, near.op in _LOOKING_BACK),), columns)


@dataclass
class _Side:
    """A side with computed columns."""

    session: Session
    rows: ir.Relational
    computed: list[ir.Item] = field(default_factory=list)

    def column(self, value: ir.Expression) -> int:
        """The number of a column with this value."""
        if isinstance(value, ColumnRef):
            return value.index
        nullable = may_be_null(value, known_columns(self.rows))
        attribute = self.session.attribute("place", value.type, nullable)
        self.computed.append((attribute, value))
        return attribute.id

    def filtered(self, predicates: Iterable[ir.Expression]) -> None:
        kept = list(predicates)
        if kept:
            self.rows = ir.Selection(self.rows, conjoin(kept))

    def whole(self) -> ir.Relational:
        if not self.computed:
            return self.rows
        return ir.Project(self.rows, (*identity(self.rows.columns), *self.computed))


def _searched(
    session: Session,
    node: exp.Join,
    kind: ir.JoinKind,
    left: _Side,
    right: _Side,
    columns: tuple[ir.Attribute, ...],
    parts: Condition,
    near: _Nearness,
) -> ir.Relational:
    """The join as a search by place."""
    shown = (*left.rows.columns, *right.rows.columns)
    strict = [equality.right for equality in parts.equalities if not equality.null_safe]
    known = known_columns(right.rows)
    right.filtered(parts.rights)
    right.filtered(negate(call(Op.IS_NULL, v)) for v in (*strict, near.right) if may_be_null(v, known))
    value = near.left
    if kind is ir.JoinKind.INNER:
        left.filtered(parts.lefts)
    elif parts.lefts:
        value = Case(((conjoin(parts.lefts), value),), Literal(None, value.type), value.type)  # type: ignore[arg-type]
    keys = [(left.column(e.left), right.column(e.right)) for e in parts.equalities]
    place, other = left.column(value), right.column(near.right)
    session.provenance.order((place, other), node)
    join = ir.Nearest(
        kind,
        left.whole(),
        right.whole(),
        tuple(key for key, _ in keys),
        tuple(key for _, key in keys),
        place,
        _order(near, other, columns),
        near.op in _STRICT,
    )
    wanted = {column.id for column in shown}
    return ir.Project(join, identity(tuple(column for column in join.columns if column.id in wanted)))


def _nearness(part: ir.Expression, left: ir.Relational, right: ir.Relational) -> _Nearness | None:
    """The comparison of a left value with a right value in `part`, if it is one."""
    if not isinstance(part, Call) or part.op not in (*_LOOKING_BACK, Op.LE, Op.LT):
        return None
    for op, (a, b) in ((part.op, part.args), (TURNED[part.op], part.args[::-1])):
        if (
            ir.references(a)
            and ir.references(b)
            and ir.references(a) <= left.ids
            and ir.references(b) <= right.ids
        ):
            return _Nearness(op, a, b)
    return None
