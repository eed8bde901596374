"""Decimals as BigQuery and ClickHouse write them in texts: without the zeros at their ends."""

from __future__ import annotations

from sqlglot import exp

from planner.native.templates import sql

_DONE = "no_zeros_at_its_end"
_IS_LONG = "typeof({0}) LIKE 'DECIMAL%' AND contains({1}, '.')"
_SHORTENED = f"CASE WHEN {_IS_LONG} THEN rtrim(rtrim({{1}}, '0'), '.') ELSE {{1}} END"


def shortened(cast: exp.Cast) -> exp.Expression:
    """CAST(NUMERIC '1.50' AS STRING) is 1.5, and of NUMERIC '2' it is 2. Other casts are themselves."""
    to_text = cast.to.is_type(*exp.DataType.TEXT_TYPES) and not cast.args.get("format")
    if not to_text or isinstance(cast.this, exp.Literal) or _DONE in cast.meta:
        return cast
    inner = cast.copy()
    inner.meta[_DONE] = True
    return sql(_SHORTENED, [cast.this, inner])
