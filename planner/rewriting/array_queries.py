"""ARRAY(SELECT ...): the array of a query's values, in its order.

    ARRAY(SELECT x FROM t ORDER BY y)  →  (SELECT coalesce(array_agg(value ORDER BY by0), '[]')
                                           FROM (SELECT x, y FROM t) AS "array"(value, by0))

Without ORDER BY, the values are in their own order, as in array_agg.
"""

from __future__ import annotations

from sqlglot import exp

from planner.errors import InvalidQuery
from planner.native import templates
from planner.positions import fail

_TABLE, _VALUE = "array", "value"


def array_query(node: exp.Expression, dialect: str) -> exp.Expression | None:
    """The query as a value; None for an array of expressions. Raises InvalidQuery for several columns."""
    if not isinstance(node, exp.Array) or len(node.expressions) != 1:
        return None
    query = node.expressions[0]
    if not isinstance(query, exp.Query):
        return None
    inner = query.copy()
    if len(inner.selects) != 1 or (inner.selects[0].is_star and isinstance(inner, exp.Select)):
        fail(InvalidQuery("ARRAY takes a query of one column, by its name"), node)
    terms = _terms(inner)
    names = [_VALUE, *(term.name for term in terms if term.name != _VALUE)]
    alias = exp.TableAlias(this=exp.to_identifier(_TABLE), columns=[*map(exp.to_identifier, names)])
    value: exp.Expression = exp.column(_VALUE, _TABLE)
    if terms:
        value = exp.Order(this=value, expressions=terms)
    filled = exp.alias_(templates.sql("coalesce({0}, '[]')", (exp.ArrayAgg(this=value),)), _TABLE)
    return exp.select(filled).from_(exp.Subquery(this=inner, alias=alias)).subquery(copy=False)


def is_array_query(node: exp.Expr) -> bool:
    """Whether a query as a value is what `array_query` gives."""
    return isinstance(node, exp.Subquery) and [it.alias for it in node.selects] == [_TABLE]


def _terms(query: exp.Query) -> list[exp.Expression]:
    """The query's order over the columns of its result, to which what it orders by is added."""
    order = query.args.get("order")
    if order is None:
        return []
    if not any(query.args.get(part) for part in ("limit", "offset")):
        query.set("order", None)
    terms = []
    for place, ordered in enumerate(order.expressions):
        term = ordered.copy()
        is_value = _is_value(term.this, query)
        if not is_value:
            query.append("expressions", exp.alias_(term.this, f"by{place}"))
        term.set("this", exp.column(_VALUE if is_value else f"by{place}", _TABLE))
        terms.append(term)
    return terms


def _is_value(term: exp.Expression, query: exp.Query) -> bool:
    """Whether the query is ordered by its one column: by number, by name, or where nothing else is there."""
    if not isinstance(query, exp.Select) or query.args.get("distinct") or term.is_int:
        return True
    value = query.selects[0]
    return term == value.unalias() or (
        isinstance(term, exp.Column) and not term.table and term.name.lower() == value.alias.lower()
    )
