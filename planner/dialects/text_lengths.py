"""Casts to texts of a length, and of bytes: CAST('abc' AS VARCHAR(2)), CAST(b'abc' AS STRING).

PostgreSQL, Redshift, Trino, MySQL  →  the first two characters
Snowflake, BigQuery  →  an error; NULL for TRY_CAST and SAFE_CAST
"""

from __future__ import annotations

from sqlglot import exp

from planner.dialects.traits import Trait, has
from planner.native.templates import sql

_UTF8, _HEX = ("decode({0})", "encode({0})"), ("hex({0})", "unhex({0})")
BYTES_AS_TEXTS = {
    "bigquery": _UTF8,
    "databricks": _UTF8,
    "flink": _UTF8,
    "redshift": _UTF8,
    "snowflake": _HEX,
    "spark": _UTF8,
    "tsql": _UTF8,
}
"""What a cast of bytes to a text gives, and one of a text to bytes, by dialect."""
_PADDED = frozenset({"flink"})
"""Dialects in which a CHAR has spaces up to its length."""
_VARYING = (exp.DType.VARCHAR, exp.DType.NVARCHAR)
_UNWRITTEN = {"tsql": 30}
"""The length of a VARCHAR that is written without one in a cast."""
_UNLIMITED = 1_000_000
_DONE = "has_its_length"
_TOO_LONG = "CAST('a text is longer than {length} characters: ' || {0} AS INTEGER)"


def cast_to_length(node: exp.Expression, dialect: str) -> exp.Expression:
    """The cast with its length; the node itself for a cast without one, or in another dialect."""
    cuts = has(dialect, Trait.CASTS_CUT_TEXTS)
    if not (cuts or has(dialect, Trait.CASTS_OF_LONG_TEXTS_FAIL)):
        return node
    if not isinstance(node, exp.Cast) or _DONE in node.meta:
        return node
    length = _length(node.to, dialect)
    if length is None:
        return node
    inner = node.copy()
    inner.meta[_DONE] = True
    if dialect in _PADDED and node.to.is_type("char", "nchar"):
        return sql(f"rpad({{0}}, {length}, ' ')", [inner])
    if cuts:
        return sql(f"left({{0}}, {length})", [inner])
    too_long = "NULL" if isinstance(node, exp.TryCast) else _TOO_LONG.replace("{length}", str(length))
    fails = "NULL" if too_long == "NULL" else f"CAST({too_long} AS VARCHAR)"
    return sql(f"CASE WHEN length({{0}}) > {length} THEN {fails} ELSE {{0}} END", [inner])


def _length(type: exp.DataType, dialect: str) -> int | None:
    """The length of a type of texts, if it has one that is worth a look."""
    if type.this in _VARYING and not type.expressions:
        return _UNWRITTEN.get(dialect)
    if not type.is_type(*exp.DataType.TEXT_TYPES) or len(type.expressions) != 1:
        return None
    written = type.expressions[0].name
    return int(written) if written.isdigit() and int(written) < _UNLIMITED else None
