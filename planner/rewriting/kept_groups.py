"""KEEP with aggregates: the aggregate of the rows of a group that come first in an order.

    SELECT k, sum(x) KEEP (DENSE_RANK FIRST ORDER BY y)   →   SELECT k, sum(x) FILTER (WHERE "keep0#" = 1)
    FROM t GROUP BY k                                         FROM (SELECT t.*, rank() OVER (PARTITION BY k
                                                                ORDER BY y) AS "keep0#" FROM t) AS t
                                                              GROUP BY k

`ordered_values` has MIN and MAX, which need no ranks.
"""

from __future__ import annotations

from sqlglot import exp

from planner.positions import refuse
from planner.rewriting.enclosed_rows import enclose, own
from planner.rewriting.group_keys import group_keys
from planner.rewriting.ordered_values import is_keep, kept_order


def kept_groups(node: exp.Expression, dialect: str) -> exp.Expression | None:
    """The query with the ranks of its rows; None for one without KEEP. Raises Unsupported."""
    if not isinstance(node, exp.Select) or not any(map(is_keep, own(node, exp.Window))):
        return None
    query = node.copy()
    ranks: list[exp.Expr] = []
    for window in [window for window in own(query, exp.Window) if is_keep(window)]:
        name = f"keep{len(ranks)}#"
        first = exp.EQ(this=exp.column(name), expression=exp.Literal.number(1))
        around = window.parent if isinstance(window.parent, exp.Window) else None
        keys = _keys_over(around, query) if around is not None else group_keys(query, window, "KEEP")
        order = exp.Order(expressions=kept_order(window))
        rank = exp.Window(this=exp.Rank(), partition_by=[key.copy() for key in keys], order=order)
        ranks.append(exp.alias_(rank, name))
        window.replace(exp.Filter(this=window.this, expression=exp.Where(this=first)))
    enclose(query, ranks, ("where",), frozenset(rank.alias for rank in ranks))
    return query


def _keys_over(around: exp.Window, query: exp.Select) -> list[exp.Expression]:
    """The keys of OVER."""
    if any(around.args.get(part) for part in ("order", "spec", "alias")):
        refuse(around, "KEEP over an ordered window is not supported", "give OVER only PARTITION BY")
    if query.args.get("group"):
        hint = "group in a query in FROM"
        refuse(around, "KEEP over the groups of GROUP BY is not supported", hint)
    return around.args.get("partition_by") or []
