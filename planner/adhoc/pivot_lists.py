"""PIVOT whose values come from data, in an ad-hoc query: a list of values that is made before the query runs.

    PIVOT t ON k USING sum(x)   →   PIVOT t ON k IN "pivot#0" USING sum(x)
                                    "pivot#0": SELECT DISTINCT CAST(k AS VARCHAR) FROM t

The list is an enumeration.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from planner.rewriting.open_pivots import open_keys


@dataclass(frozen=True)
class PivotList:
    """The values that the query `sql` gives in its one column stand under `name`."""

    name: str
    sql: str


def with_pivot_lists(query: exp.Expression) -> tuple[PivotList, ...]:
    """Name the lists of each PIVOT that leaves its values open; in the order in which they can be made.
    Changes the tree, which is DuckDB's."""
    lists: list[PivotList] = []
    for found in open_keys(query):
        name = f"pivot#{len(lists)}"
        lists.append(PivotList(name, found.values.sql("duckdb", comments=False)))
        key = found.key.copy()
        whole = exp.Paren(this=key) if isinstance(key, exp.Binary) else key
        found.node.replace(exp.In(this=whole, field=exp.column(exp.to_identifier(name, quoted=True))))
        found.pivot.set("columns", None)
    return tuple(lists)
