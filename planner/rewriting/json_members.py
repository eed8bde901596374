"""DuckDB's json_each in a view: the members of an object, the elements of an array, or the value itself.

The columns ID and PARENT, which number what DuckDB has parsed, are left out. A query outside a view keeps the
call, which DuckDB answers with them.
"""

from __future__ import annotations

from sqlglot import exp

from planner.native import templates
from planner.rewriting.json_values import ELEMENT, KEY, element, lateral, named

_CALL = "json_each"
_VALUES = (
    "list_transform([{0}], lambda x: CASE WHEN x IS NULL THEN NULL WHEN json_type(x) = 'ARRAY' THEN "
    "json_extract(x, '$[*]') WHEN json_type(x) = 'OBJECT' THEN json_extract(x, '$.' || '*') ELSE [x] END)[1]"
)
_KEYS = (
    "list_transform([{0}], lambda x: CASE json_type(x) WHEN 'OBJECT' THEN json_keys(x) WHEN 'ARRAY' THEN "
    "list_transform(range(CAST(json_array_length(x) AS BIGINT)), lambda n: CAST(n AS VARCHAR)) END)[1]"
)
_ATOM = "CASE WHEN json_type({0}) NOT IN ('OBJECT', 'ARRAY', 'NULL') THEN {0} END"
_QUOTED = """'$."' || replace(replace({0}, '\\', '\\\\'), '"', '\\"') || '"'"""
_FULL_KEY = (
    "CASE WHEN {0} IS NULL THEN '$' WHEN json_type({1}) = 'ARRAY' THEN '$[' || {0} || ']' "
    f"WHEN regexp_full_match({{0}}, '[A-Za-z_][A-Za-z0-9_]*') THEN '$.' || {{0}} ELSE {_QUOTED} END"
)


def json_members(node: exp.Expression, dialect: str) -> exp.Expression | None:
    """The query for json_each in FROM; None for any other item."""
    call = node.this if isinstance(node, exp.Table | exp.Lateral) and dialect == "duckdb" else None
    if not isinstance(call, exp.Anonymous) or call.name.lower() != _CALL or len(call.expressions) != 1:
        return None
    (document,) = call.expressions
    query = exp.select(
        named(KEY.copy(), "key"),
        named(ELEMENT.copy(), "value"),
        named(templates.whole("json_type({0})", ELEMENT), "type"),
        named(templates.whole(_ATOM, ELEMENT), "atom"),
        named(templates.whole(_FULL_KEY, KEY, document), "fullkey"),
        named(templates.sql("'$'", ()), "path"),
        copy=False,
    ).from_(element(templates.whole(_VALUES, document), templates.whole(_KEYS, document)))
    alias = node.args.get("alias") or exp.TableAlias(this=exp.to_identifier(_CALL))
    item = lateral(query, alias, node)
    templates.keep_native(item, node)
    return item
