"""Queries inside expressions: EXISTS, IN, ANY, ALL, and a query as a value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from engine.plan.expressions import Literal, Op
from engine.schema import INTEGER
from planner.bind.expressions.comparable_sides import bind_comparison
from planner.bind.nested_values import compare_rows
from planner.bind.session import Bound
from planner.errors import InvalidQuery
from planner.ir import Exists, Expression, Project, Relational, ScalarSubquery, Some, Top
from planner.ir.scalars import conjoin, negate
from planner.sql_types import UNTYPED


def exists(query: Bound) -> Expression:
    return Exists(_for_any_row(query.operator))


def _for_any_row(operator: Relational) -> Relational:
    """The query without a LIMIT that does not change whether it has a row."""
    match operator:
        case Project(input=input):
            below = _for_any_row(input)
            return operator if below is input else replace(operator, input=below)
        case Top(input=input, limit=limit, offset=0) if limit != 0:
            return _for_any_row(input)
        case _:
            return operator


def scalar(query: Bound) -> Expression:
    """The query as a value. Raises InvalidQuery unless it has exactly one column."""
    if len(query.columns) != 1:
        raise InvalidQuery(f"a query used as a value returns one column, not {len(query.columns)}")
    column = query.columns[0]
    if column.type is UNTYPED:
        return Literal(None, INTEGER)
    return ScalarSubquery(query.operator, column.id, column.type)


def member(row: Sequence[Expression], query: Bound, dialect: str) -> Expression:
    """`row IN (query)`. Raises InvalidQuery if the numbers of columns differ."""
    if len(row) != len(query.columns):
        raise InvalidQuery(f"IN compares {len(row)} values with a query of {len(query.columns)} columns")
    pairs = zip(row, query.columns, strict=True)
    equal = [bind_comparison(Op.EQ, value, column.ref, dialect) for value, column in pairs]
    return Some(conjoin(equal), query.operator)


def quantified(
    op: Op,
    row: Sequence[Expression],
    node: exp.Any | exp.All,
    query: Bound,
    dialect: str,
) -> Expression:
    """`row op ANY (query)`; or ALL: there is no row for which the comparison is not true."""
    if len(query.columns) != len(row):
        error = f"ANY and ALL compare {len(row)} values with a query of {len(query.columns)} columns"
        raise InvalidQuery(error)
    comparison = compare_rows(op, row, [column.ref for column in query.columns], dialect)
    if isinstance(node, exp.Any):
        return Some(comparison, query.operator)
    return negate(Some(negate(comparison), query.operator))
