"""ROWNUM: the first rows of a query, and the numbers of rows that a query in FROM has ordered.

    SELECT a FROM (SELECT a FROM t ORDER BY b)   →   SELECT a FROM (SELECT a FROM t ORDER BY b LIMIT 3)
    WHERE ROWNUM <= 3
    SELECT ROWNUM, a FROM (q ORDER BY b) AS s    →   SELECT "rownum#" AS rownum, a FROM (
                                                       SELECT *, row_number() OVER (ORDER BY b) AS "rownum#"
                                                       FROM (q)) AS s

Rows of a bag have no numbers, so a number needs an order.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from sqlglot import exp

from planner.errors import InvalidQuery
from planner.positions import fail, refuse
from planner.rewriting.enclosed_rows import alone, conjuncts, enclose, hide, own, where_of
from planner.rewriting.hierarchies import SIBLINGS
from planner.rewriting.result_order import terms_of_result

_NUMBER = "rownum#"
_SHAPES = ("group", "having", "distinct", "order", "limit", "offset", "qualify")
_TURNED = {exp.GT: exp.LT, exp.GTE: exp.LTE, exp.EQ: exp.EQ}
_ORDER_FIRST = "number the rows with row_number() OVER (ORDER BY ...)"


def counted_rows(node: exp.Expression, dialect: str) -> exp.Expression | None:
    """The query without ROWNUM; None for one that does not name it. Raises InvalidQuery or Unsupported."""
    if dialect != "oracle" or not isinstance(node, exp.Select) or next(_numbers(node), None) is None:
        return None
    query = node.copy()
    conditions = conjuncts(query.args.get("where"))
    bounds = [condition for condition in conditions if next(_numbers(condition), None) is not None]
    others = [condition for condition in conditions if not any(condition is bound for bound in bounds)]
    if len(bounds) > 1:
        refuse(bounds[1], "several conditions on ROWNUM are not supported", "write one: ROWNUM <= n")
    most = _most(bounds[0]) if bounds else None
    query.set("where", where_of(others))
    is_numbered = next(_numbers(query), None) is not None
    ordered = _ordered(query)
    if ordered is not None and others:
        hint = "put the other conditions into the query in FROM"
        refuse(others[0], "ROWNUM beside other conditions on an ordered query is not supported", hint)
    if is_numbered:
        _number(query, ordered, most)
    elif ordered is not None and ordered.args.get("limit") is None:
        ordered.set("limit", exp.Limit(expression=most))
    else:
        _limit(query, most)
    return query


def _numbers(node: exp.Expr) -> Iterator[exp.Column]:
    """The places that name ROWNUM."""
    return (
        column for column in own(node, exp.Column) if not column.table and column.name.lower() == "rownum"
    )


def _most(condition: exp.Expr) -> exp.Expr:
    """The most rows under the condition: ROWNUM <= n, ROWNUM < n, ROWNUM = 1."""
    kind, left = type(condition), condition.this
    right: exp.Expr = condition.args.get("expression") or exp.Null()
    if kind in _TURNED and next(_numbers(right), None) is not None:
        kind, left, right = _TURNED[kind], right, left  # type: ignore[assignment]
    if isinstance(left, exp.Column) and right.find(exp.Column, exp.Query) is None:
        bound = float(right.this) if isinstance(right, exp.Literal) and not right.is_string else None
        if right.find(exp.Null):
            return exp.Literal.number(0)
        if kind is exp.LT and bound is not None:
            return exp.Literal.number(max(0, math.ceil(bound) - 1))
        if kind is exp.LTE:
            return right.copy() if bound is None else exp.Literal.number(math.floor(bound))
        if kind is exp.EQ and bound == 1:
            return exp.Literal.number(1)
    hint = f"write ROWNUM <= n; {_ORDER_FIRST}, and compare the number outside"
    fail(InvalidQuery("this condition on ROWNUM does not keep the first rows", hint), condition)


def _ordered(query: exp.Select) -> exp.Query | None:
    """The query in FROM, if it is alone there and has an order."""
    item = alone(query)
    inner = item.this if isinstance(item, exp.Subquery) else None
    return inner if isinstance(inner, exp.Query) and inner.args.get("order") else None


def _limit(query: exp.Select, most: exp.Expr | None) -> None:
    """Keep the first rows of the query, before they are grouped or ordered."""
    order = query.args.get("order")
    shaped = any(query.args.get(part) for part in _SHAPES if part != "order")
    shaped = shaped or (order is not None and SIBLINGS not in order.meta)
    shaped = shaped or next(own(query, exp.AggFunc, exp.Window), None) is not None
    if not shaped:
        query.set("limit", exp.Limit(expression=most))
        return
    enclose(query, clauses=("where",))
    query.args["from_"].this.this.set("limit", exp.Limit(expression=most))


def _number(query: exp.Select, ordered: exp.Query | None, most: exp.Expr | None) -> None:
    """Give the rows of the ordered query their numbers, and read these in place of ROWNUM."""
    if ordered is None:
        refuse(next(_numbers(query)), "ROWNUM of rows without an order is not supported", _ORDER_FIRST)
    terms, added = terms_of_result(ordered, "ROWNUM")
    number = exp.Window(this=exp.RowNumber(), order=exp.Order(expressions=terms))
    rows = exp.select(exp.Star(), exp.alias_(number, _NUMBER)).from_(ordered.copy().subquery("ordered#"))
    ordered.replace(rows)
    hide(query, [_NUMBER, *added])
    items = [
        exp.alias_(item, "rownum") if item in list(_numbers(item)) else item for item in query.expressions
    ]
    query.set("expressions", items)
    for column in list(_numbers(query)):
        column.replace(exp.column(_NUMBER))
    if most is not None:
        query.where(exp.LTE(this=exp.column(_NUMBER), expression=most), copy=False)
