"""Percentiles that may be inexact, as the exact ones.

APPROX_PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x)  →  PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x)
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

_EXACT: Mapping[str, type[exp.Expression]] = {
    "APPROX_PERCENTILE_CONT": exp.PercentileCont,
    "APPROX_PERCENTILE_DISC": exp.PercentileDisc,
}


def exact_percentile(node: exp.Expression, dialect: str) -> exp.Expression | None:
    """The exact percentile; None for any other node."""
    if not isinstance(node, exp.Anonymous) or not isinstance(node.parent, exp.WithinGroup):
        return None
    exact = _EXACT.get(node.name.upper())
    return exact(this=node.expressions[0].copy()) if exact and len(node.expressions) == 1 else None
