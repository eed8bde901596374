"""LIMIT, FETCH and TOP in percent: the rows whose place is within that part of all rows.

    SELECT a FROM t ORDER BY b LIMIT 10%   →   SELECT * EXCLUDE (...) FROM (
                                                 SELECT *, row_number() OVER (ORDER BY "by0#") AS "place#",
                                                   count(*) OVER () AS "count#"
                                                 FROM (SELECT a, b AS "by0#" FROM t)) AS "ordered#"
                                               WHERE "place#" <= floor("count#" * 10 / 100.0)

A part of a row is none in DuckDB, and a whole one in Oracle and T-SQL.
"""

from __future__ import annotations

from sqlglot import exp

from planner.errors import InvalidQuery
from planner.native import templates
from planner.positions import fail, refuse
from planner.rewriting.enclosed_rows import hide
from planner.rewriting.result_order import terms_of_result

_PLACE, _COUNT, _ORDERED = "place#", "count#", "ordered#"


def percent_limit(node: exp.Expression, dialect: str) -> exp.Expression | None:
    """The query without a limit in percent; None for any other. Raises Unsupported."""
    limit: exp.Expression | None = node.args.get("limit")
    options = limit.args.get("limit_options") if limit is not None else None
    if limit is None or not isinstance(node, exp.Query) or options is None or not options.args.get("percent"):
        return None
    query, offset = node.copy(), node.args.get("offset")
    if offset is not None and options.args.get("with_ties"):
        refuse(limit, "PERCENT WITH TIES after an OFFSET is not supported", "leave one of them out")
    terms, added = terms_of_result(query, "a limit in percent")
    for part in ("order", "limit", "offset"):
        query.set(part, None)
    over = {"order": exp.Order(expressions=terms)} if terms else {}
    place = exp.Window(this=exp.Rank() if options.args.get("with_ties") else exp.RowNumber(), **over)
    count = exp.Window(this=exp.Count(this=exp.Star(), big_int=True))
    rows = exp.select(exp.Star(), exp.alias_(place, _PLACE), exp.alias_(count, _COUNT))
    outer = exp.select(exp.Star()).from_(rows.from_(query.subquery(_ORDERED)).subquery(_ORDERED))
    hide(outer, [*added, _PLACE, _COUNT])
    share: exp.Expr = limit.args.get("count") or limit.expression
    if isinstance(share, exp.Neg) or (isinstance(share, exp.Literal) and not 0 <= float(share.this) <= 100):
        fail(InvalidQuery("a limit in percent is between 0 and 100"), limit)
    last = templates.sql(
        f"{'floor' if dialect == 'duckdb' else 'ceil'}({{0}} * {{1}} / 100.0)", (exp.column(_COUNT), share)
    )
    if offset is not None:
        outer.where(exp.GT(this=exp.column(_PLACE), expression=offset.expression.copy()), copy=False)
        last = exp.Add(this=last, expression=offset.expression.copy())
    outer.where(exp.LTE(this=exp.column(_PLACE), expression=last), copy=False)
    outer.set("order", exp.Order(expressions=[exp.Ordered(this=exp.column(_PLACE))]))
    return outer
