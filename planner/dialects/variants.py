"""Variants, which are JSON here: a text and a variant become each other without JSON's quotes.

v:name::VARCHAR   →  v ->> '$.name'
v:name = 'Ann'    →  v -> '$.name' = to_json('Ann')
'Ann'::VARIANT    →  to_json('Ann')
"""

from __future__ import annotations

from sqlglot import exp

from planner.native.templates import sql

VARIANTS = frozenset({"databricks", "redshift", "snowflake", "spark", "trino"})
"""Dialects whose JSON is a variant: a text in it is that text, not its spelling."""
AS_TEXT, AS_VARIANT = "{0} ->> '$'", "to_json({0})"
_ANY_AS_TEXT = "CASE typeof({0}) WHEN 'JSON' THEN CAST({0} AS VARCHAR) ->> '$' ELSE CAST({0} AS VARCHAR) END"


def cast_variant(node: exp.Expression, dialect: str | None) -> exp.Expression:
    """A cast to text in an ad-hoc query, where nobody knows what is cast; any other node itself."""
    is_text = isinstance(node, exp.Cast) and node.to.is_type(*exp.DataType.TEXT_TYPES)
    if not is_text or dialect not in VARIANTS or isinstance(node.this, exp.Literal):
        return node
    return sql(_ANY_AS_TEXT, [node.this])
