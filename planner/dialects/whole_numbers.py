"""Whole numbers of others in ad-hoc queries, where the types are DuckDB's to know: cut, not rounded.

CAST(5.6 AS INT)    →  5
-5.9 DIV 1          →  -5
CAST('4.5' AS INT)  →  an error
"""

from __future__ import annotations

import re

from sqlglot import exp

from planner.dialects.traits import Trait, has
from planner.native.templates import is_native, sql

WHOLE_TEXT = "CASE WHEN contains({0}, '.') THEN {0} || ' is not whole' ELSE {0} END"
"""A text that spells no whole number if it has a fraction."""
_FRACTION = re.compile(r"\d[.eE]|\.\d")
_WHOLE = "is_whole"
"""A mark of what such a cast has become: it is a number, whose own cast needs no look at a text."""
_FRACTIONS = "typeof({0}) IN ('DOUBLE', 'FLOAT') OR typeof({0}) LIKE 'DECIMAL%'"
_QUOTIENT = (
    f"CASE WHEN {_FRACTIONS.replace('{0}', '{0} // {1}')} THEN CAST(trunc({{0}} / {{1}}) AS BIGINT)"
    " ELSE CAST({0} // {1} AS BIGINT) END"
)


def has_fraction(text: str) -> bool:
    """Whether a text spells a number with a point or an exponent, which DuckDB would round to a whole one."""
    return _FRACTION.search(text) is not None


def whole_in_query(node: exp.Expression, dialect: str | None) -> exp.Expression:
    """A cast to a whole number, or a DIV, in a dialect that cuts fractions; a cast in one that rounds no
    texts; any other node itself."""
    if dialect is None or is_native(node):
        return node
    if isinstance(node, exp.IntDiv) and has(dialect, Trait.DIV_GIVES_WHOLE):
        return sql(_QUOTIENT, [node.this, node.expression])
    if not has(dialect, Trait.CUTS_FRACTIONS):
        return _unrounded(node) if has(dialect, Trait.ROUNDS_NO_TEXTS) else node
    match node:
        case exp.Cast(to=type) if type.is_type(*exp.DataType.INTEGER_TYPES):
            cast = "TRY_CAST" if isinstance(node, exp.TryCast) else "CAST"
            target = type.sql("duckdb")
            cut = f"{cast}(trunc(TRY_CAST({{0}} AS DOUBLE)) AS {target})"
            return sql(f"CASE WHEN {_FRACTIONS} THEN {cut} ELSE {cast}({{0}} AS {target}) END", [node.this])
        case exp.IntDiv():
            return sql(_QUOTIENT, [node.this, node.expression])
    return node


def _unrounded(node: exp.Expression) -> exp.Expression:
    """A cast to a whole number that fails for a text with a fraction; any other node itself."""
    if not isinstance(node, exp.Cast) or not node.to.is_type(*exp.DataType.INTEGER_TYPES):
        return node
    if isinstance(node.this, exp.Literal) and not (node.this.is_string and "." in node.name):
        return node
    value = node.this.unnest()
    if isinstance(value, exp.Null) or (
        isinstance(value, exp.Cast) and not value.is_type(*exp.DataType.TEXT_TYPES)
    ):
        return node
    if _WHOLE in value.meta:
        return node
    cast = "TRY_CAST" if isinstance(node, exp.TryCast) else "CAST"
    target = node.to.sql("duckdb")
    text = f"{cast}({WHOLE_TEXT.replace('{0}', 'CAST({0} AS VARCHAR)')} AS {target})"
    whole = sql(
        f"CASE WHEN typeof({{0}}) = 'VARCHAR' THEN {text} ELSE {cast}({{0}} AS {target}) END", [node.this]
    )
    whole.meta[_WHOLE] = True
    return whole
