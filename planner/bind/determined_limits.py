"""Refuses limits in the step of a recursion that leave open which rows stay.

Elsewhere, rows that ORDER BY leaves equal are ordered by their values: any choice is a right answer. In a
recursion a choice decides what the following rounds find, and no two systems choose alike.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from planner.errors import Unsupported
from planner.positions import fail


def check_determined(step: exp.Expression) -> None:
    """Raise Unsupported for the first LIMIT, OFFSET or DISTINCT ON below whose ORDER BY does not name every
    column of the result."""
    for node in step.walk():
        clause = _chooses(node) if isinstance(node, exp.Query) else None
        if clause is not None and not _orders_all(node):
            error = Unsupported(
                f"{clause[0]} in the step of a recursion is supported only if ORDER BY names every column of "
                "the result: otherwise it is not determined which rows stay",
                "add the other columns to ORDER BY, or use WITH TIES",
            )
            fail(error, clause[1])


def _chooses(query: exp.Expr) -> tuple[str, exp.Expr] | None:
    """The clause by which the query keeps some of its rows, and its node."""
    distinct = query.args.get("distinct")
    if isinstance(distinct, exp.Distinct) and distinct.args.get("on"):
        return "DISTINCT ON", distinct
    for key in ("limit", "offset"):
        node = query.args.get(key)
        options = node.args.get("limit_options") if node is not None else None
        if node is not None and not (options is not None and options.args.get("with_ties")):
            return key.upper(), node
    return None


def _orders_all(query: exp.Expr) -> bool:
    order = query.args.get("order")
    terms = [term.this for term in order.expressions] if order is not None else []
    items = query.selects if isinstance(query, exp.Query) else []
    if any(isinstance(item, exp.Star) or item.is_star for item in items):
        return False
    return all(_is_ordered(terms, place, item) for place, item in _varying(items))


def _is_ordered(terms: list[exp.Expr], place: int, item: exp.Expr) -> bool:
    """Whether rows with equal terms have equal values of the item: it is a term, or all its columns are."""
    columns = list(item.find_all(exp.Column))
    is_function = columns and item.find(exp.Query, exp.AggFunc, exp.Window) is None
    return any(_is_item(term, place, item) for term in terms) or bool(
        is_function and all(column in terms for column in columns)
    )


def _varying(items: list[exp.Expr]) -> Iterator[tuple[int, exp.Expr]]:
    """The items that are not constants, with their places from 1."""
    for place, item in enumerate(items, 1):
        if item.find(exp.Column, exp.Query, exp.Func) is not None:
            yield place, item


def _is_item(term: exp.Expr, place: int, item: exp.Expr) -> bool:
    """Whether a term of ORDER BY is the item: its place, its name, or its expression."""
    if isinstance(term, exp.Literal):
        return not term.is_string and term.name == str(place)
    is_name = (
        isinstance(term, exp.Column) and not term.table and term.name.lower() == item.alias_or_name.lower()
    )
    return is_name or term == item.unalias()
