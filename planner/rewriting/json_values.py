"""Rows made of JSON: the query that a call in FROM stands for, and members of JSON as values of a type."""

from __future__ import annotations

from sqlglot import exp

from planner.native import templates
from planner.native.json_paths import member, text

_TABLE = "row#"
"""The table of the inner query; a user cannot write this name without quotes."""
_TEXTS = frozenset(exp.DataType.TEXT_TYPES)
_NESTED = frozenset({exp.DType.ARRAY, exp.DType.LIST})


def _column(name: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True), exp.to_identifier(_TABLE, quoted=True))


ELEMENT, KEY, PLACE = _column("value#"), _column("key#"), _column("place#")
"""The elements of a row of the inner query, in turn."""


def element(*lists: exp.Expression) -> exp.Unnest:
    """The elements of lists side by side as the one table of the inner query."""
    names = [column.this.copy() for column in (ELEMENT, KEY, PLACE)[: len(lists)]]
    alias = exp.TableAlias(this=exp.to_identifier(_TABLE, quoted=True), columns=names)
    return exp.Unnest(expressions=list(lists), alias=alias)


def lateral(query: exp.Select, alias: exp.TableAlias | None, node: exp.Expression) -> exp.Expression:
    """The query in the place of an item of FROM, with the joins behind it."""
    item = exp.Lateral(this=exp.Subquery(this=query), alias=alias)
    joins = node.args.get("joins")
    return exp.Table(this=item, joins=joins) if joins else item


def named(value: exp.Expression, name: str) -> exp.Alias:
    """The value as a column of this name."""
    return exp.Alias(this=value, alias=exp.to_identifier(name, quoted=True))


def is_json(kind: exp.DataType) -> bool:
    """Whether a type is JSON's."""
    return kind.this in (exp.DType.JSON, exp.DType.JSONB, exp.DType.VARIANT)


def is_text(kind: exp.DataType) -> bool:
    """Whether values of a type are texts."""
    return kind.this in _TEXTS


def typed_member(document: exp.Expression, name: str, kind: exp.DataType) -> exp.Expression:
    """The member of an object as a value of the type; NULL where there is none."""
    path = text("$" + member(name))
    if is_json(kind):
        return templates.whole(f"json_extract({{0}}, {path})", document)
    if kind.this in _NESTED:
        return exp.Cast(this=templates.whole(f"json_extract({{0}}, {path})", document), to=kind.copy())
    value = templates.whole(f"json_extract_string({{0}}, {path})", document)
    return value if is_text(kind) else exp.Cast(this=value, to=kind.copy())
