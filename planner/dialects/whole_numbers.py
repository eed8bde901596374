"""Whole numbers of others in ad-hoc queries, where the types are DuckDB's to know: cut, not rounded.

CAST(5.6 AS INT)  →  5
-5.9 DIV 1        →  -5
"""

from __future__ import annotations

from sqlglot import exp

from planner.dialects.traits import Trait, has
from planner.native.templates import sql

_FRACTIONS = "typeof({0}) IN ('DOUBLE', 'FLOAT') OR typeof({0}) LIKE 'DECIMAL%'"
_QUOTIENT = (
    f"CASE WHEN {_FRACTIONS.replace('{0}', '{0} // {1}')} THEN CAST(trunc({{0}} / {{1}}) AS BIGINT)"
    " ELSE CAST({0} // {1} AS BIGINT) END"
)


def whole_in_query(node: exp.Expression, dialect: str | None) -> exp.Expression:
    """A cast to a whole number, or a DIV, in a dialect that cuts fractions; any other node itself."""
    if dialect is None or not has(dialect, Trait.CUTS_FRACTIONS):
        return node
    match node:
        case exp.Cast(to=type) if type.is_type(*exp.DataType.INTEGER_TYPES):
            cast = "TRY_CAST" if isinstance(node, exp.TryCast) else "CAST"
            target = type.sql("duckdb")
            cut = f"{cast}(trunc(TRY_CAST({{0}} AS DOUBLE)) AS {target})"
            return sql(f"CASE WHEN {_FRACTIONS} THEN {cut} ELSE {cast}({{0}} AS {target}) END", [node.this])
        case exp.IntDiv():
            return sql(_QUOTIENT, [node.this, node.expression])
    return node
