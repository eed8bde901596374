"""The ends and the step of a series of moments that PostgreSQL takes as texts.

generate_series(TIMESTAMP '2008-03-01 00:00', '2008-03-04 12:00', '10 hours')
    →  generate_series(TIMESTAMP '2008-03-01 00:00', TIMESTAMP '2008-03-04 12:00', INTERVAL '10 hours')
"""

from __future__ import annotations

from typing import TypeGuard

from sqlglot import exp

_DIALECTS = frozenset({"materialize", "postgres", "redshift", "risingwave"})
_MOMENTS = ("timestamp", "timestamptz", "date")


def series_text(node: exp.Expression, dialect: str) -> exp.Expression | None:
    """The series with values of their types; None for any other node."""
    if not isinstance(node, exp.GenerateSeries | exp.ExplodingGenerateSeries) or dialect not in _DIALECTS:
        return None
    ends = {end: node.args.get(end) for end in ("start", "end")}
    type = next((end.to for end in ends.values() if _is_moment(end)), None)
    texts = {end: type for end, value in ends.items() if type is not None and _is_text(value)}
    if type is not None and _is_text(node.args.get("step")):
        texts["step"] = exp.DataType.build("interval")
    if not texts:
        return None
    found = node.copy()
    for part, wanted in texts.items():
        found.set(part, exp.cast(found.args[part].copy(), wanted.copy()))
    return found


def _is_moment(node: object) -> TypeGuard[exp.Cast]:
    return isinstance(node, exp.Cast) and node.to.is_type(*_MOMENTS)


def _is_text(node: object) -> bool:
    return isinstance(node, exp.Literal) and bool(node.is_string)
