"""PostgreSQL's functions that give rows, in the select list and, with several columns, in FROM.

jsonb_array_elements(x)           →   unnest(x as an array)
... FROM t, jsonb_each(t.x) AS e  →   ... FROM t, unnest(keys of x, values of x) AS e(key, value)
"""

from __future__ import annotations

from sqlglot import exp

from planner.native import templates

OF_POSTGRES = frozenset({"materialize", "postgres", "redshift", "risingwave"})
_ELEMENTS = "CAST({0} AS JSON[])"
_ENTRIES = "CAST({0} AS MAP(VARCHAR, JSON))"
_TEXTS = "list_transform({}, lambda e: e ->> '$')"
_JSON = {
    "array_elements": (("value", _ELEMENTS),),
    "array_elements_text": (("value", _TEXTS.format(_ELEMENTS)),),
    "object_keys": (("", f"map_keys({_ENTRIES})"),),
    "each": (("key", f"map_keys({_ENTRIES})"), ("value", f"map_values({_ENTRIES})")),
    "each_text": (("key", f"map_keys({_ENTRIES})"), ("value", _TEXTS.format(f"map_values({_ENTRIES})"))),
}
_LISTS = {
    **{f"{prefix}_{name}": columns for name, columns in _JSON.items() for prefix in ("json", "jsonb")},
    "generate_subscripts": (("", "generate_series(1, len({0}))"),),
    "regexp_split_to_table": (("", "regexp_split_to_array({0}, {1})"),),
    "string_to_table": (("", "string_to_array({0}, {1})"),),
}
"""For each function the names of its columns, empty for that of the table, and DuckDB's lists for them."""


def row_function(node: exp.Expression, dialect: str) -> exp.Expression | None:
    """The unnested list for a call in a select list; None for any other node, and for a call in FROM."""
    if not isinstance(node, exp.Anonymous) or isinstance(node.parent, exp.Table | exp.Lateral):
        return None
    columns = row_columns(node, dialect)
    return exp.Explode(this=columns[0][1]) if len(columns) == 1 else None


def row_columns(call: exp.Expr, dialect: str) -> list[tuple[str, exp.Expression]]:
    """The columns of the call's rows, as names and lists; none for any other function."""
    if dialect not in OF_POSTGRES or not isinstance(call, exp.Anonymous):
        return []
    given = call.expressions
    if call.name.lower() == "generate_subscripts":
        given = given[:1] if len(given) == 2 and given[1].is_int and given[1].name == "1" else []
    columns = _LISTS.get(call.name.lower(), ())
    if any(f"{{{len(given) - 1}}}" not in text or f"{{{len(given)}}}" in text for _, text in columns):
        return []
    return [(name, templates.whole(text, *given)) for name, text in columns]
