"""Constructs of other systems as the queries that they stand for, before names are resolved.

A tree that the parser has made comes back without them, so that views and ad-hoc queries know one form. What
is added is written in DuckDB's SQL, and is not translated from the dialect again.
"""

from __future__ import annotations

from sqlglot import exp

from planner.rewriting.array_queries import array_query
from planner.rewriting.bit_strings import bit_string
from planner.rewriting.flattened import flattened
from planner.rewriting.json_calls import json_call, with_row_names
from planner.rewriting.json_tables import json_table
from planner.rewriting.open_json import open_json
from planner.rewriting.ordered_values import ordered_value
from planner.rewriting.table_calls import table_call
from planner.rewriting.window_tables import window_table

_RULES = (
    bit_string,
    array_query,
    ordered_value,
    window_table,
    flattened,
    json_call,
    json_table,
    open_json,
    table_call,
)
_CHANGED = (exp.Array, exp.Window, exp.Table, exp.Lateral, exp.TableFromRows, exp.Anonymous, exp.BitString)


def rewritten(tree: exp.Expression, dialect: str) -> exp.Expression:
    """The tree with every construct replaced, inner ones first. Raises Unsupported with the place of
    one that has no equal query."""
    with_row_names(tree, dialect)
    for node in reversed(list(tree.find_all(*_CHANGED))):
        for rule in _RULES:
            found = rule(node, dialect)
            if found is not None:
                node.replace(found)
                break
    return tree
