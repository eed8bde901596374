"""The distances of a frame that PostgreSQL takes as texts.

RANGE BETWEEN '1 month' PRECEDING AND CURRENT ROW   →   RANGE BETWEEN INTERVAL '1 month' PRECEDING ...
ROWS '2' PRECEDING                                  →   ROWS 2 PRECEDING
"""

from __future__ import annotations

import re

from sqlglot import exp

_DIALECTS = frozenset({"materialize", "postgres", "redshift", "risingwave"})
_NUMBER = re.compile(r"\s*\d+(?:\.\d+)?\s*")


def frame_text(node: exp.Expression, dialect: str) -> exp.Expression | None:
    """The window with distances that are no texts; None for any other node."""
    spec = node.args.get("spec") if isinstance(node, exp.Window) and dialect in _DIALECTS else None
    if spec is None or not any(_is_text(spec.args.get(end)) for end in ("start", "end")):
        return None
    found = node.copy()
    for end in ("start", "end"):
        if _is_text(distance := found.args["spec"].args.get(end)):
            found.args["spec"].set(end, _distance(distance))
    return found


def _is_text(distance: object) -> bool:
    return isinstance(distance, exp.Literal) and bool(distance.is_string)


def _distance(text: exp.Literal) -> exp.Expression:
    if _NUMBER.fullmatch(text.name):
        return exp.Literal.number(text.name.strip())
    return exp.cast(text.copy(), "interval")
