"""Where in the user's text a parsed node stands.

sqlglot marks names, literals and functions with the place of their token; a node without a
mark stands where its first marked descendant does.
"""

from __future__ import annotations

from typing import NoReturn

from sqlglot import exp

from planner.errors import PlannerError


def position(node: exp.Expression | None) -> tuple[int | None, int | None]:
    """Line and column, both from 1; (None, None) for a node that no text stands behind."""
    if node is None:
        return None, None
    marked = [meta for meta in (n.meta for n in node.walk()) if "line" in meta and "start" in meta]
    if not marked:
        return None, None
    first = min(marked, key=lambda meta: meta["start"])
    return first["line"], first["col"] - (first["end"] - first["start"])


def fail(error: PlannerError, node: exp.Expression | None) -> NoReturn:
    """Raise `error` at the place of `node`."""
    raise error.at(*position(node))
