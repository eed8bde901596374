"""T-SQL's OPENJSON: the members of an object or the elements of an array, or rows with columns by WITH."""

from __future__ import annotations

from sqlglot import exp

from planner.identifiers import fold
from planner.native import templates
from planner.native.json_paths import JsonPath, json_path, member, text
from planner.positions import refuse
from planner.rewriting.json_values import ELEMENT, KEY, element, is_text, lateral, named

_ROWS = (
    "list_transform([{0}], lambda x: CASE json_type(x) WHEN 'ARRAY' THEN json_extract(x, '$[*]') "
    "WHEN 'OBJECT' THEN {1} END)[1]"
)
_KEYS = (
    "list_transform([{0}], lambda x: CASE json_type(x) WHEN 'ARRAY' "
    "THEN list_transform(range(CAST(json_array_length(x) AS BIGINT)), lambda place: CAST(place AS VARCHAR)) "
    "WHEN 'OBJECT' THEN json_keys(x) END)[1]"
)
_TYPE = (
    "CASE json_type({0}) WHEN 'NULL' THEN 0 WHEN 'VARCHAR' THEN 1 WHEN 'BOOLEAN' THEN 3 WHEN 'ARRAY' THEN 4 "
    "WHEN 'OBJECT' THEN 5 ELSE 2 END"
)


def open_json(node: exp.Expression, dialect: str) -> exp.Expression | None:
    """The query for OPENJSON in FROM; None for any other item."""
    call = node.this if isinstance(node, exp.Table | exp.Lateral) else None
    if not isinstance(call, exp.OpenJSON):
        return None
    path = _path(call.args.get("path"))
    document = f"json_extract({{0}}, {text(path.whole)})"
    columns = call.args.get("expressions")
    members = "[x]" if columns else "json_extract(x, '$.' || '*')"
    rows = templates.whole(_ROWS.replace("{0}", document).replace("{1}", members), call.this)
    if columns:
        items, tables = [_column(column) for column in columns], element(rows)
    else:
        keys = templates.whole(_KEYS.replace("{0}", document), call.this)
        items, tables = _pairs(), element(rows, keys)
    query = exp.select(*items, copy=False).from_(tables)
    alias = node.args.get("alias") or exp.TableAlias(this=exp.to_identifier("openjson"))
    return lateral(query, alias, node)


def _path(node: exp.Expression | None) -> JsonPath:
    """A path to one value."""
    if not node:
        return JsonPath((), is_lax=False)
    path = json_path(node, is_lax=False)
    if not path.is_single:
        refuse(node, f"a path of OPENJSON leads to one value, not '{node.name}'", "write '$.a[0]'")
    return path


def _pairs() -> list[exp.Expression]:
    """The columns without WITH: key, value and type."""
    value = templates.whole("json_extract_string({0}, '$')", ELEMENT)
    return [named(KEY.copy(), "key"), named(value, "value"), named(templates.whole(_TYPE, ELEMENT), "type")]


def _column(column: exp.OpenJSONColumnDef) -> exp.Expression:
    written = column.args.get("path")
    path = _path(written) if written else JsonPath((member(column.this.name),), is_lax=False)
    found = f"json_extract({{0}}, {text(path.whole)})"
    nested = f"json_type({found}) IN ('OBJECT', 'ARRAY')"
    if column.args.get("as_json"):
        value = templates.whole(f"CASE WHEN {nested} THEN CAST({found} AS VARCHAR) END", ELEMENT)
    else:
        value = templates.whole(f"CASE WHEN NOT {nested} THEN {found} ->> '$' END", ELEMENT)
    kind = column.args["kind"]
    typed = value if is_text(kind) else exp.Cast(this=value, to=kind.copy())
    return named(typed, fold(column.this))
