"""The order of a query as columns of its result, so that a query around it can number the rows."""

from __future__ import annotations

from sqlglot import exp

from planner.positions import refuse


def terms_of_result(query: exp.Query, construct: str) -> tuple[list[exp.Expr], list[str]]:
    """The query's order over columns of its result, and the names of those that it gets for that.

    Raises Unsupported, in the name of the construct, for an order that the result does not have.
    """
    order = query.args.get("order")
    terms: list[exp.Expr] = []
    added: list[str] = []
    names = {item.alias_or_name.lower(): item.alias_or_name for item in query.selects}
    for ordered in _each(order, query) if order is not None else ():
        term, node = ordered.copy(), ordered.this
        if node.is_int and not any(item.is_star for item in query.selects):
            name = query.selects[int(node.name) - 1].alias_or_name
        elif isinstance(node, exp.Column) and not node.table and node.name.lower() in names:
            name = names[node.name.lower()]
        elif isinstance(query, exp.Select) and not query.args.get("distinct") and not node.is_int:
            name = f"by{len(added)}#"
            query.append("expressions", exp.alias_(node.copy(), name))
            added.append(name)
        else:
            hint = "order by the names of columns of the result"
            refuse(node, f"{construct} in this order is not supported", hint)
        term.set("this", exp.column(name))
        terms.append(term)
    return terms, added


def _each(order: exp.Order, query: exp.Query) -> list[exp.Ordered]:
    """The terms of the order; ORDER BY ALL has one for each column of the result."""
    first = order.expressions[0]
    if not isinstance(first.this, exp.Var) or any(item.is_star for item in query.selects):
        return order.expressions
    terms = []
    for item in query.selects:
        term = first.copy()
        term.set("this", exp.column(item.alias_or_name))
        terms.append(term)
    return terms
