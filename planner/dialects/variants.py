"""Variants, which are JSON here: a text and a variant become each other without JSON's quotes.

    v:name::VARCHAR   →  v ->> '$.name'
    v:name = 'Ann'    →  v -> '$.name' = to_json('Ann')
    'Ann'::VARIANT    →  to_json('Ann')

A view knows the types. An ad-hoc query asks DuckDB for the type of what is cast, and elsewhere knows a
variant by its path alone.
"""

from __future__ import annotations

from sqlglot import exp

from planner.dialects.traits import Trait, has
from planner.native.templates import sql

AS_TEXT, AS_VARIANT = "{0} ->> '$'", "to_json({0})"
_ANY_AS_TEXT = "CASE typeof({0}) WHEN 'JSON' THEN CAST({0} AS VARCHAR) ->> '$' ELSE CAST({0} AS VARCHAR) END"
_OF_TEXTS = (
    *(exp.Concat, exp.DPipe, exp.ILike, exp.Initcap, exp.Left, exp.Like, exp.Lower, exp.Pad, exp.RegexpLike),
    *(exp.RegexpReplace, exp.Replace, exp.Right, exp.Split, exp.SplitPart, exp.StrPosition, exp.Substring),
    *(exp.Trim, exp.Upper),
)
"""Nodes that take texts."""


def variant_in_query(node: exp.Expression, dialect: str | None) -> exp.Expression:
    """A node of an ad-hoc query in which a variant is a text, or a text a variant; any other node itself."""
    if dialect is None or not has(dialect, Trait.JSON_IS_VARIANT):
        return node
    match node:
        case exp.Cast() if node.to.is_type(*exp.DataType.TEXT_TYPES) and not isinstance(
            node.this, exp.Literal
        ):
            return sql(_ANY_AS_TEXT, [node.this])
        case exp.JSONExtract() if _is_path(node) and isinstance(node.parent, _OF_TEXTS):
            return exp.paren(exp.JSONExtractScalar(this=node.this.copy(), expression=node.expression.copy()))
        case exp.Predicate(this=left, expression=right) if _is_path(left) and _is_text(right):
            return _compared(node, "expression")
        case exp.Predicate(this=left, expression=right) if _is_text(left) and _is_path(right):
            return _compared(node, "this")
    return node


def _is_path(node: object) -> bool:
    return isinstance(node, exp.JSONExtract) and bool(node.args.get("variant_extract"))


def _is_text(node: object) -> bool:
    return isinstance(node, exp.Literal) and node.is_string


def _compared(node: exp.Expression, part: str) -> exp.Expression:
    """The comparison with its text as a variant; LIKE takes texts."""
    if isinstance(node, _OF_TEXTS):
        return node
    found = node.copy()
    found.set(part, sql(AS_VARIANT, [node.args[part]]))
    return found
