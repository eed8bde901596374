"""FETCH and TOP with ties, which DuckDB does not have: the rows by their rank in the order.

    SELECT a FROM t ORDER BY b OFFSET 1 FETCH FIRST 2 ROWS WITH TIES
      →   SELECT * EXCLUDE (...) FROM (
            SELECT *, rank() OVER (ORDER BY "by0#") AS "rank#",
              row_number() OVER (ORDER BY "by0#") AS "place#"
            FROM (SELECT a, b AS "by0#" FROM t)) AS "ordered#"
          WHERE "rank#" <= 1 + 2 AND "place#" > 1 ORDER BY "place#"

A view has such rows by a join (`planner/bind/row_limits.py`).
"""

from __future__ import annotations

from sqlglot import exp

from planner.native.templates import sql
from planner.positions import refuse
from planner.rewriting.enclosed_rows import hide
from planner.rewriting.result_order import terms_of_result

_RANK, _PLACE, _ORDERED = "rank#", "place#", "ordered#"


def with_tied_limits(query: exp.Expression) -> exp.Expression:
    """The query without limits that have ties; changes the tree. Raises Unsupported."""
    for node in reversed(list(query.find_all(exp.Query, bfs=False))):
        limit = node.args.get("limit")
        options = limit.args.get("limit_options") if limit is not None else None
        if limit is None or options is None or not options.args.get("with_ties"):
            continue
        found = _ranked(node, limit)
        if node is query:
            query = found
        else:
            node.replace(found)
    return query


def _ranked(node: exp.Query, limit: exp.Expression) -> exp.Select:
    query, offset = node.copy(), node.args.get("offset")
    if node.args.get("order") is None:
        refuse(limit, "WITH TIES without ORDER BY is not supported", "say which rows are equal by ORDER BY")
    terms, added = terms_of_result(query, "WITH TIES")
    with_, skipped = query.args.get("with_"), exp.Literal.number(0) if offset is None else offset.expression
    for part in ("order", "limit", "offset", "with_"):
        query.set(part, None)
    order = exp.Order(expressions=terms)
    places = [
        exp.alias_(exp.Window(this=number, order=order.copy()), name)
        for number, name in ((exp.Rank(), _RANK), (exp.RowNumber(), _PLACE))
    ]
    rows = exp.select(exp.Star(), *places).from_(query.subquery(_ORDERED))
    outer = exp.select(exp.Star()).from_(rows.subquery(_ORDERED))
    hide(outer, [*added, _RANK, _PLACE])
    count = limit.args.get("count") or limit.args.get("expression") or exp.Literal.number(1)
    rank, place = exp.column(_RANK, quoted=True), exp.column(_PLACE, quoted=True)
    kept = sql("{0} <= {2} + {3} AND {1} > {3} AND {2} > 0", [rank, place, count, skipped])
    outer.where(kept, copy=False)
    outer.set("order", exp.Order(expressions=[exp.Ordered(this=place.copy())]))
    outer.set("with_", with_)
    outer.meta.update(node.meta)
    return outer
