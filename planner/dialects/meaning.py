"""The translation of a node, and of all the nodes of an ad-hoc query."""

from __future__ import annotations

from sqlglot import exp

from planner.dialects.dates import date_call, interval_sum
from planner.dialects.functions import function
from planner.dialects.reading import dialect_of
from planner.dialects.rules import rule
from planner.dialects.templates import is_native

_MARK = ("line", "col", "start", "end")
_TRANSLATIONS = (date_call, interval_sum, function, rule)


def translated(node: exp.Expression, dialect: str) -> exp.Expression:
    """A node of the same meaning that DuckDB or an overload has, or the node itself."""
    if is_native(node):
        return node
    for translation in _TRANSLATIONS:
        found = translation(node, dialect)
        if found is not node:
            _place(found, node)
            return translated(found, dialect)
    return node


def _place(found: exp.Expression, node: exp.Expression) -> None:
    """Puts what is found where the user wrote the node, for errors."""
    mark = {str(key): node.meta[key] for key in _MARK if key in node.meta}
    for new in (found, found.this):
        if mark and isinstance(new, exp.Paren | exp.Func) and "line" not in new.meta:
            new.meta.update(mark)


def in_duckdb(query: exp.Expression) -> exp.Expression:
    """The query with every node translated that was marked with a dialect, the outer ones first."""
    waiting = [query]
    while waiting:
        node = waiting.pop()
        dialect = dialect_of(node)
        found = translated(node, dialect) if dialect is not None else node
        if node is query:
            query = found
        elif found is not node:
            node.replace(found)
        waiting += found.iter_expressions()
    return query
