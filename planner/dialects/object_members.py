"""JSON objects made of names and values: Snowflake's OBJECT functions, and constants in braces."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from planner.native.templates import Args, sql
from planner.positions import refuse

_MEMBER = "CAST(to_json(CAST({0} AS VARCHAR)) AS VARCHAR) || ':' || CAST(to_json({1}) AS VARCHAR)"
_OWN = "json_extract({0}, '/' || replace(replace({1}, '~', '~0'), '/', '~1'))"


def made(args: Args) -> exp.Expression:
    """The object of these names and values, without those that are NULL."""
    return _object([("CASE WHEN {1} IS NOT NULL THEN " + _MEMBER + " END", pair) for pair in _pairs(args)])


def made_with_nulls(args: Args) -> exp.Expression:
    """The same with JSON's null for each NULL value."""
    value = _MEMBER.replace(
        "CAST(to_json({1}) AS VARCHAR)", "coalesce(CAST(to_json({1}) AS VARCHAR), 'null')"
    )
    return _object([(value, pair) for pair in _pairs(args)])


def picked(args: Args) -> exp.Expression:
    """The object's members of these names."""
    whole, *names = args
    member = f"CAST(to_json(CAST({{1}} AS VARCHAR)) AS VARCHAR) || ':' || CAST({_OWN} AS VARCHAR)"
    test = "CASE WHEN list_contains(json_keys({0}), {1}) THEN " + member + " END"
    return _object([(test, (whole, name)) for name in names])


def without(args: Args) -> exp.Expression:
    """The object without the members of these names."""
    whole, *names = args
    places = ", ".join(f"{{{place}}}, NULL" for place in range(1, len(names) + 1))
    return sql(f"json_merge_patch({{0}}, json_object({places}))", [whole, *names])


def _pairs(args: Args) -> list[tuple[exp.Expression, exp.Expression]]:
    """The names and values of a call that alternates them. Raises Unsupported if one has no other."""
    if len(args) % 2:
        hint = "write a name and a value of each member, and not *"
        refuse(args[-1], "an object of these arguments is not supported", hint)
    return list(zip(args[::2], args[1::2], strict=True))


def _object(members: Sequence[tuple[str, Sequence[exp.Expression]]]) -> exp.Expression:
    """The object of members, each a text or NULL, by its template and the nodes in its places."""
    if not members:
        return sql("CAST('{' || '}' AS JSON)", [])
    texts = [sql(template, args) for template, args in members]
    places = ", ".join(f"{{{place}}}" for place in range(len(texts)))
    return sql(f"CAST('{{' || concat_ws(',', {places}) || '}}' AS JSON)", texts)
