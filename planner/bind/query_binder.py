"""Binds any query: SELECT, set operations and VALUES, with the CTEs before it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, reduce

from sqlglot import exp

from engine.plan.expressions import Literal
from engine.schema import Type
from planner.bind.byname import by_name
from planner.bind.coercion import coerce, typed
from planner.bind.ctes import bind_with
from planner.bind.expression_binder import ExpressionBinder
from planner.bind.expressions.comparable_sides import check_whole, would_be_rounded
from planner.bind.expressions.taken_digits import take_digits
from planner.bind.expressions.untyped_texts import beside, take_beside
from planner.bind.from_binder import FromBinder, is_join_tree
from planner.bind.name_scope import FromTable, NameScope
from planner.bind.order import order_terms
from planner.bind.pivot import pivoted
from planner.bind.refuse import check_clauses, refuse_unsupported
from planner.bind.row_limits import limits_of, placed
from planner.bind.select_binder import bind_select
from planner.bind.session import Bound, Environment, Session
from planner.bind.unions import are_alike, chain_of, take_columns, texts_beside, union_all, union_of, united
from planner.dialects.traits import Trait, has
from planner.errors import InvalidQuery, PlannerError
from planner.identifiers import fold
from planner.ir import UNIT, Attribute, Distinct, Expression, Project, Relational, SetKind, SetOp, Top, Values
from planner.ir.constants import folded
from planner.ir.rewrite import identity
from planner.ir.scalars import may_be_null
from planner.limits import check_columns
from planner.parsing.column_names import alias_of
from planner.positions import fail
from planner.sql_types import UNTYPED

_FEW = 8
"""Most operators of a chain of UNION that stands as it is written; a longer one is balanced."""
_KINDS: dict[type[exp.Expression], SetKind] = {
    exp.Union: SetKind.UNION,
    exp.Except: SetKind.EXCEPT,
    exp.Intersect: SetKind.INTERSECT,
}


def bind_query(session: Session, node: exp.Expression, environment: Environment) -> Bound:
    """The bound query; its columns of untyped NULLs have become INTEGER."""
    return with_typed_columns(session, _bind(session, node, environment))


def _note_order(session: Session, node: exp.Expression, bound: Bound) -> None:
    """Notes which part of the query has the order, or the DISTINCT, of its outermost operators."""
    operator: Relational | None = bound.operator
    while operator is not None:
        if isinstance(operator, Top):
            part = node.args.get("order") or node.args.get("limit") or node.args.get("offset") or node
            columns = (*operator.keys, *(ordering.column for ordering in operator.order))
            session.provenance.order(columns, part)
        elif isinstance(operator, Distinct):
            session.provenance.order((column.id for column in operator.columns), node)
        is_above = isinstance(operator, Top | Distinct | Project)
        operator = operator.inputs[0] if is_above else None


def _bind(session: Session, node: exp.Expression, environment: Environment) -> Bound:
    with session.provenance.noting(node):
        bound = _query(session, node, environment)
        _note_order(session, node, bound)
        return bound


def _query(session: Session, node: exp.Expression, environment: Environment) -> Bound:
    with_ = node.args.get("with_")
    if with_ is not None:
        environment = bind_with(session, with_, environment, bind_query)
    match node:
        case exp.Select():
            return bind_select(session, node, environment, bind_query)
        case exp.Subquery():
            check_clauses(node)
            if is_join_tree(node):
                refuse_unsupported("a join in place of a query", node)
            return _placed(session, node, _bind(session, node.this, environment), environment)
        case exp.Pivot():
            tables = FromBinder(session, environment, bind_query).bind(
                exp.select("*").from_(node.this.copy())
            )
            names = [column.name for column in tables.scope.star]
            return _bind(session, pivoted(node.this, node, names, session.dialect), environment)
        case exp.SetOperation():
            return _placed(session, node, _set_operation(session, node, environment), environment)
        case exp.Values():
            return _placed(session, node, _values(session, node, environment), environment)
    refuse_unsupported(f"{node.key.upper()} as a query", node)


def _placed(session: Session, node: exp.Expression, bound: Bound, environment: Environment) -> Bound:
    """The bound query with the ORDER BY, LIMIT and OFFSET behind it."""
    if not any(node.args.get(part) for part in ("order", "limit", "offset")):
        return bound
    limits = limits_of(session, node)
    bound = with_typed_columns(session, bound)
    scope = NameScope.of(FromTable("", bound.columns), environment.outer)

    def queries(query: exp.Expression, within: NameScope) -> Bound:
        return bind_query(session, query, environment.within(within))

    binder = ExpressionBinder(session, scope, queries, "ORDER BY")
    terms = order_terms(node, [column.name for column in bound.columns], binder.bind)
    if limits.keep_all:
        return bound
    rows = Project(bound.operator, identity(bound.columns))
    return placed(session, rows, bound.columns, terms, limits)


def with_typed_columns(session: Session, bound: Bound) -> Bound:
    """The query with its columns of untyped NULLs made INTEGER, as in DuckDB."""
    if all(column.type is not UNTYPED for column in bound.columns):
        return bound
    return cast_columns(session, bound, [typed(column.ref).type for column in bound.columns])


def cast_columns(session: Session, bound: Bound, types: list) -> Bound:
    """The query with exactly its columns, cast to `types`."""
    if [column.type for column in bound.columns] == types:
        return bound
    known = {column.id: column for column in bound.operator.columns}
    items: list[tuple[Attribute, Expression]] = []
    for column, type in zip(bound.columns, types, strict=True):
        value = coerce(column.ref, type)
        new = (
            column if value == column.ref else session.attribute(column.name, type, may_be_null(value, known))
        )
        items.append((new, value))
    return Bound(Project(bound.operator, tuple(items)), tuple(attribute for attribute, _ in items))


def _set_operation(session: Session, node: exp.SetOperation, environment: Environment) -> Bound:
    nodes = chain_of(node)
    sides = [_bind(session, nodes[0].this, environment)]
    sides += [_bind(session, each.expression, environment) for each in nodes]
    if len(nodes) > _FEW and isinstance(node, exp.Union) and are_alike(sides):
        first = union_of(session, sides[:-1])  # the last side may be a recursion's step: it stays apart
        return _combined(session, node, first, sides[-1])
    bound = sides[0]
    for each, side in zip(nodes, sides[1:], strict=True):
        bound = _combined(session, each, bound, side)
    return bound


def _combined(session: Session, node: exp.SetOperation, left: Bound, right: Bound) -> Bound:
    """The set operation of two queries."""
    if node.args.get("by_name"):
        left, right = by_name(session, node, left, right)
    name = node.key.upper()
    if len(left.columns) != len(right.columns):
        counts = f"{len(left.columns)} and {len(right.columns)}"
        error = f"{name} takes queries with equal numbers of columns, not {counts}"
        fail(InvalidQuery(error), node.expression)
    try:
        given = left, right
        left = texts_beside(session, node.this, left, given[1])
        right = texts_beside(session, node.expression, right, given[0])
        pairs = [(a.type, b.type) for a, b in zip(left.columns, right.columns, strict=True)]
        types = [united(a, b, session.dialect) for a, b in pairs]
        if has(session.dialect, Trait.KEEPS_DIGITS) and any(map(would_be_rounded, pairs)):
            take_columns(session, node.this, left, types)
            take_columns(session, node.expression, right, types)
        left, right = cast_columns(session, left, types), cast_columns(session, right, types)
    except PlannerError as error:
        fail(error, node.expression)
    kind = _KINDS[type(node)]
    distinct = bool(node.args.get("distinct"))
    columns = tuple(
        session.attribute(a.name, a.type, _nullable(kind, a.nullable, b.nullable))
        for a, b in zip(left.columns, right.columns, strict=True)
    )
    return Bound(_operator(kind, distinct, left, right, columns), columns)


def _nullable(kind: SetKind, left: bool, right: bool) -> bool:
    match kind:
        case SetKind.UNION:
            return left or right
        case SetKind.EXCEPT:
            return left
        case SetKind.INTERSECT:
            return left and right


def _operator(
    kind: SetKind, distinct: bool, left: Bound, right: Bound, columns: tuple[Attribute, ...]
) -> Relational:
    lefts, rights = (tuple(c.id for c in side.columns) for side in (left, right))
    if not distinct:
        return SetOp(kind, left.operator, right.operator, columns, lefts, rights)
    if kind is SetKind.UNION:
        return Distinct(SetOp(kind, left.operator, right.operator, columns, lefts, rights))
    return SetOp(kind, _distinct(left), _distinct(right), columns, lefts, rights)


def _distinct(bound: Bound) -> Relational:
    """The distinct rows of the query's columns alone."""
    if set(bound.operator.columns) == set(bound.columns):
        return Distinct(bound.operator)
    return Distinct(Project(bound.operator, identity(bound.columns)))


def _values(session: Session, node: exp.Values, environment: Environment) -> Bound:
    check_clauses(node)

    def queries(query: exp.Expression, within: NameScope) -> Bound:
        return bind_query(session, query, environment.within(within))

    binder = ExpressionBinder(session, NameScope(outer=environment.outer), queries, "VALUES")
    rows = [[binder.bind(value) for value in _row(row)] for row in node.expressions]
    width = len(rows[0])
    check_columns(width)
    for row, source in zip(rows, node.expressions, strict=True):
        if len(row) != width:
            fail(InvalidQuery(f"VALUES has rows of {width} and of {len(row)} values"), source)
    types = []
    for place, column in enumerate(zip(*rows, strict=True)):
        written = [_row(row)[place] for row in node.expressions]
        try:
            types.append(_type_of_values(column, written, session.dialect))
            take_digits(session, written, [value.type for value in column], types[-1])
            if has(session.dialect, Trait.ROUNDS_NO_TEXTS):
                for value in column:
                    check_whole(value, types[-1])
            for each, value in zip(written, column, strict=True):
                take_beside(session, each, value, types[-1])
            for row, value in zip(rows, column, strict=True):
                row[place] = beside(value, types[-1], session.dialect)
        except PlannerError as error:
            fail(error, node)
    cast = [[folded(coerce(value, type)) for value, type in zip(row, types, strict=True)] for row in rows]
    nullable = [any(may_be_null(value, {}) for value in column) for column in zip(*cast, strict=True)]
    columns = tuple(map(session.attribute, _value_names(node, width), types, nullable))
    return Bound(_rows(session, columns, cast), columns)


def _type_of_values(column: Sequence[Expression], written: Sequence[exp.Expression], dialect: str) -> Type:
    """The type of a column of VALUES. Texts without a type of their own take that of the others."""
    types = [value.type for value in column]
    own = [
        type for type, node in zip(types, written, strict=True) if type is not UNTYPED and not node.is_string
    ]
    return typed(Literal(None, reduce(partial(united, dialect=dialect), own or types))).type


def _value_names(node: exp.Values, width: int) -> list[str]:
    """The names of the columns of VALUES: those of its alias, as far as it has some."""
    alias, around = alias_of(node), node.parent_select
    if isinstance(around, exp.Select) and isinstance(around.parent, exp.CTE) and node.alias == "_values":
        alias = around.parent.args["alias"]  # sqlglot writes SELECT * FROM before VALUES in WITH
    given = [] if alias is None else [fold(identifier) for identifier in alias.columns]
    return [given[i] if i < len(given) else f"col{i}" for i in range(width)]


def _row(node: exp.Expression) -> list[exp.Expression]:
    return node.expressions if isinstance(node, exp.Tuple) else [node]


def _rows(session: Session, columns: tuple[Attribute, ...], rows: list[list[Expression]]) -> Relational:
    """One operator for the rows of literals, and a query for each other row."""
    literal = tuple(values for row in rows if (values := _literal_row(row)) is not None)
    others = [row for row in rows if _literal_row(row) is None]
    if not others:
        return Values(columns, literal)
    parts: list[Relational] = [Values(session.fresh(columns), literal)] if literal else []
    parts += [Project(UNIT, tuple(zip(session.fresh(columns), row, strict=True))) for row in others]
    result = union_all(session, parts)
    return Project(result, tuple((c, old.ref) for c, old in zip(columns, result.columns, strict=True)))


def _literal_row(row: list[Expression]) -> tuple[object, ...] | None:
    """The values of a row of literals; None for any other row."""
    values = tuple(value.value for value in row if isinstance(value, Literal))
    return values if len(values) == len(row) else None
