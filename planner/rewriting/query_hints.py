"""Hints of T-SQL, which tell it how to run a query and not what it means.

FROM t WITH (NOLOCK)      →   FROM t
INNER HASH JOIN t ON ...  →   INNER JOIN t ON ...
... OPTION (MAXDOP 1)     →   ...
"""

from __future__ import annotations

from sqlglot import exp

_DIALECTS = frozenset({"fabric", "tsql"})
_HINTS = ("hint", "hints", "options")


def without_hints(node: exp.Expression, dialect: str) -> exp.Expression | None:
    """The node without its hints; None for a node that has none, and in other dialects."""
    if dialect not in _DIALECTS or not any(node.args.get(hint) for hint in _HINTS):
        return None
    found = node.copy()
    for hint in _HINTS:
        if hint in found.args:
            found.set(hint, None)
    return found
