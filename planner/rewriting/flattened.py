"""Snowflake's FLATTEN: the members of an object, or the elements of an array or of JSON's array.

    LATERAL FLATTEN(INPUT => j) AS f
    →  LATERAL (SELECT key, path, index, value, this FROM unnest(values, keys, places)) AS f

SEQ, a number that Snowflake gives to the row that is flattened, is no function of the row, and left out.
"""

from __future__ import annotations

from sqlglot import exp

from planner.dialects.overloads import PREFIX
from planner.native import templates
from planner.native.json_paths import json_path, text
from planner.positions import refuse
from planner.rewriting.json_values import ELEMENT, KEY, PLACE, element, lateral, named

_COLUMNS = ("key", "path", "index", "value", "this")
_MODES = ("OBJECT", "ARRAY")
_PATH = (
    "CASE WHEN {1} IS NOT NULL THEN '[' || {1} || ']' WHEN regexp_full_match({0}, '[A-Za-z_][A-Za-z0-9_]*') "
    "THEN {2} || {0} ELSE '[''' || {0} || ''']' END"
)


def flattened(node: exp.Expression, dialect: str) -> exp.Expression | None:
    """The query for FLATTEN in FROM; None for any other item."""
    call = node.this if isinstance(node, exp.Lateral | exp.TableFromRows) else None
    if not isinstance(call, exp.Explode) or dialect != "snowflake":
        return None
    given = _arguments(call)
    source = given["INPUT"]
    if _is_true(given.get("RECURSIVE")):
        hint = "flatten one level after the other: FLATTEN(INPUT => f.value)"
        refuse(call, "FLATTEN with RECURSIVE is not supported", hint)
    before = ""
    if "PATH" in given and given["PATH"].name:
        before = given["PATH"].name
        path = json_path(
            exp.Literal.string(f"$.{before}" if before[0] != "[" else f"${before}"), is_lax=False
        )
        source = templates.whole(f"json_extract({{0}}, {text(path.whole)})", source)
    mode = given["MODE"].name.upper() if "MODE" in given else "BOTH"
    if mode in _MODES:
        source = templates.whole(f"CASE WHEN json_type({{0}}) = '{mode}' THEN {{0}} END", source)
    values, keys, places = (
        templates.call_of(f"{PREFIX}flat_{part}", [source], "FLATTEN")
        for part in ("values", "keys", "places")
    )
    if _is_true(given.get("OUTER")):
        values = templates.whole("CASE WHEN coalesce(len({0}), 0) = 0 THEN [NULL] ELSE {0} END", values)
    query = exp.select(*_items(source, before), copy=False).from_(element(values, keys, places))
    alias = node.args.get("alias")
    if alias is not None and alias.columns:
        alias.set("columns", alias.columns[1:])  # the first is SEQ
    return lateral(query, alias, node)


def _arguments(call: exp.Explode) -> dict[str, exp.Expression]:
    """The arguments by name; one without a name is the input."""
    found = {}
    for part in (call.this, *call.expressions):
        is_named = isinstance(part, exp.Kwarg)
        found[part.this.name.upper() if is_named else "INPUT"] = part.expression if is_named else part
    if "INPUT" not in found:
        refuse(call, "FLATTEN without an input is not supported", "write FLATTEN(INPUT => value)")
    return found


def _is_true(node: exp.Expression | None) -> bool:
    return isinstance(node, exp.Boolean) and bool(node.this)


def _items(source: exp.Expression, before: str) -> list[exp.Expression]:
    """The columns; paths begin with the one that leads to what is flattened."""
    path = f"{text(before)} || {_PATH.replace('{2}', text('.' if before else ''))}"
    found = templates.whole(path, KEY, PLACE)
    values = (KEY.copy(), found, PLACE.copy(), ELEMENT.copy(), source.copy())
    return [named(value, name) for name, value in zip(_COLUMNS, values, strict=True)]
