"""Constructs that have no equal query over bags of rows: refused, with what to write in their place."""

from __future__ import annotations

from sqlglot import exp

from planner.positions import refuse

_BY_NUMBERS = (
    "number the rows of both sides with row_number() OVER (ORDER BY ...), and join them by their numbers"
)
_BY_NEIGHBOURS = (
    "compare rows with lag and lead, number the runs with a sum of their beginnings over a window, and group "
    "by the numbers"
)


def unequal(node: exp.Expression, dialect: str) -> None:
    """Raise Unsupported for MATCH_RECOGNIZE and for a POSITIONAL JOIN."""
    if not isinstance(node, exp.Select):
        return
    if node.args.get("match") is not None:
        refuse(node.args["match"], "MATCH_RECOGNIZE is not supported", _BY_NEIGHBOURS)
    for join in node.args.get("joins") or ():
        if join.method == "POSITIONAL":
            refuse(join, "POSITIONAL JOIN is not supported: rows have no positions", _BY_NUMBERS)
