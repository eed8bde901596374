"""MAX_BY and MIN_BY of a row whose value is NULL, which DuckDB's functions of these names pass over.

MAX_BY(name, age)   →   arg_max_null(name, age)
"""

from __future__ import annotations

from sqlglot import exp


def of_nulls_too(node: exp.ArgMax | exp.ArgMin) -> exp.Expression:
    """The value in the row with the greatest or the least key, also where it is NULL; the node itself if it
    asks for several rows."""
    if node.args.get("count") is not None:
        return node
    name = "arg_max_null" if isinstance(node, exp.ArgMax) else "arg_min_null"
    return exp.Anonymous(this=name, expressions=[node.this.copy(), node.expression.copy()])
