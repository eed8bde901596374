"""PostgreSQL's values: floats as it writes them, 16, not 16.0, and 1e+15; nothing before the first element.

    (ARRAY['a', 'b'])[-1]  →  NULL

A float has an exponent from 1e15 on, and a REAL from 1e6 on; below, DuckDB's digits are PostgreSQL's. In
ad-hoc queries the types are DuckDB's to know.
"""

from __future__ import annotations

from sqlglot import exp

from engine.schema import Kind, Type
from planner.dialects.traits import Trait, has
from planner.native.templates import is_native, sql

_ELEMENT = (
    "CASE WHEN typeof({0}) LIKE '%]' AND TRY_CAST(CAST({1} AS VARCHAR) AS BIGINT) < 1 THEN NULL"
    " ELSE {0}[{1}] END"
)
_TEXT = "CAST({0} AS VARCHAR)"
_SCIENTIFIC = (
    "list_transform([CAST(abs({0}) AS VARCHAR)], lambda digits: CASE WHEN {0} < 0 THEN '-' ELSE '' END"
    " || substring(digits, 1, 1) || rtrim('.' || rtrim(replace(substring(digits, 2), '.', ''), '0'), '.')"
    " || 'e+' || lpad(CAST(strpos(digits, '.') - 2 AS VARCHAR), 2, '0'))[1]"
)
_WRITTEN = (
    "CASE WHEN isnan({0}) THEN 'NaN'"
    " WHEN isinf({0}) THEN CASE WHEN {0} > 0 THEN 'Infinity' ELSE '-Infinity' END"
    f" WHEN abs({{0}}) >= LEAST AND NOT contains({_TEXT}, 'e') THEN {_SCIENTIFIC}"
    f" ELSE regexp_replace({_TEXT}, '\\.0$', '') END"
)
_OF_DOUBLE, _OF_REAL = (
    f"list_transform([{{0}}], lambda number: {_WRITTEN.replace('LEAST', least).replace('{0}', 'number')})[1]"
    for least in ("1e15", "1e6")
)
_IN_QUERY = (
    "CASE typeof({0}) WHEN 'DOUBLE' THEN "
    + _OF_DOUBLE.replace("{0}", "TRY_CAST(CAST({0} AS VARCHAR) AS DOUBLE)")
    + " WHEN 'FLOAT' THEN "
    + _OF_REAL.replace("{0}", "TRY_CAST(CAST({0} AS VARCHAR) AS FLOAT)")
    + " ELSE CAST({0} AS VARCHAR) END"
)


def written_float(type: Type, dialect: str) -> str | None:
    """The text of a value of the type, as DuckDB's SQL; None if the value is no float, or the dialect writes
    floats as DuckDB does."""
    if not type.is_float or not has(dialect, Trait.WRITES_FLOATS_BRIEFLY):
        return None
    return _OF_REAL if type.kind is Kind.REAL else _OF_DOUBLE


def float_text_in_query(node: exp.Expression, dialect: str | None) -> exp.Expression:
    """A cast to a text in an ad-hoc query, where the types are DuckDB's to know; any other node itself."""
    if dialect is None or not has(dialect, Trait.WRITES_FLOATS_BRIEFLY) or is_native(node):
        return node
    match node:
        case exp.TryCast():
            return node
        case exp.Cast(this=value, to=type) if type.is_type(*exp.DataType.TEXT_TYPES) and not type.expressions:
            return node if isinstance(value, exp.Literal) else sql(_IN_QUERY, [value])
    return node


def subscript_in_query(node: exp.Expression, dialect: str | None) -> exp.Expression:
    """A subscript that may be less than 1; any other node itself."""
    if dialect is None or not has(dialect, Trait.NOTHING_BEFORE_ARRAYS) or is_native(node):
        return node
    if not isinstance(node, exp.Bracket) or len(node.expressions) != 1:
        return node
    place = node.expressions[0]
    if isinstance(place, exp.Slice) or (isinstance(place, exp.Literal) and place.name != "0"):
        return node
    return sql(_ELEMENT, [node.this, place])
