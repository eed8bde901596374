"""Window functions of warehouses that are expressions over others.

ratio_to_report(x) OVER (PARTITION BY k)       →  x / nullif(sum(x) OVER (PARTITION BY k), 0)
conditional_true_event(test) OVER (ORDER BY y) →  sum of its ones OVER (ORDER BY y ROWS UNBOUNDED PRECEDING)
"""

from __future__ import annotations

from sqlglot import exp

from planner.native import templates


def warehouse_window(node: exp.Expression, dialect: str) -> exp.Expression | None:
    """The expression; None for any other node."""
    call = node.this if isinstance(node, exp.Window) else None
    if not isinstance(call, exp.Anonymous) or len(call.expressions) != 1:
        return None
    given = call.expressions[0]
    found = node.copy()
    match call.name.upper():
        case "RATIO_TO_REPORT":
            found.set("this", exp.Sum(this=given.copy()))
            return templates.sql("{0} / CAST(nullif({1}, 0) AS DOUBLE)", (given, found))
        case "CONDITIONAL_TRUE_EVENT" if node.args.get("order") and not node.args.get("spec"):
            found.set("this", exp.Sum(this=templates.sql("CASE WHEN {0} THEN 1 ELSE 0 END", (given,))))
            ends = {"start": "UNBOUNDED", "start_side": "PRECEDING", "end": "CURRENT ROW"}
            found.set("spec", exp.WindowSpec(kind="ROWS", **ends))
            return found
    return None
