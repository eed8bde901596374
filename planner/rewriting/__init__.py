"""Constructs of other systems as the queries that they stand for, before names are resolved.

A tree that the parser has made comes back without them, so that views and ad-hoc queries know one form. What
is added is written in DuckDB's SQL, and is not translated from the dialect again.
"""

from __future__ import annotations

from sqlglot import exp

from planner.rewriting.array_queries import array_query
from planner.rewriting.dialect_queries import dialect_query
from planner.rewriting.join_marks import joined_by_marks
from planner.rewriting.ordered_values import ordered_value
from planner.rewriting.table_calls import table_call
from planner.rewriting.warehouse_windows import warehouse_window
from planner.rewriting.window_tables import window_table

_RULES = (
    array_query,
    ordered_value,
    warehouse_window,
    window_table,
    table_call,
    joined_by_marks,
    dialect_query,
)
_REWRITTEN = (
    exp.Array,
    exp.Window,
    exp.Table,
    exp.Lateral,
    exp.Select,
    exp.With,
    exp.Values,
    exp.Pivot,
    exp.Ordered,
    exp.Column,
    exp.DataType,
)


def rewritten(tree: exp.Expression, dialect: str) -> exp.Expression:
    """The tree with every construct replaced, inner ones first. Raises Unsupported with the place of
    one that has no equal query."""
    for node in reversed(list(tree.find_all(*_REWRITTEN))):
        for rule in _RULES:
            found = rule(node, dialect)
            if found is not None:
                if node is tree:
                    tree = found
                node.replace(found)
                break
    return tree
