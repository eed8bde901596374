"""JSON_OBJECT and JSON_ARRAY with what becomes of NULL: objects keep it and arrays leave it out, unless they
say otherwise.

JSON_OBJECT('a' VALUE NULL ABSENT ON NULL)   →   {}
JSON_ARRAY('a', NULL, 2 NULL ON NULL)        →   ["a", null, 2]
"""

from __future__ import annotations

from sqlglot import exp

from planner.dialects import object_members
from planner.native.templates import sql


def made_document(node: exp.JSONObject | exp.JSONArray) -> exp.Expression:
    """The document as DuckDB makes it."""
    handling = str(node.args.get("null_handling") or "").upper()
    if isinstance(node, exp.JSONArray):
        kept = handling == "NULL ON NULL"
        text = "CAST(to_json({0}) AS VARCHAR)"
        each = [
            sql(f"coalesce({text}, 'null')" if kept else text, [_value(part)]) for part in node.expressions
        ]
        places = ", ".join(f"{{{place}}}" for place in range(len(each)))
        body = f"concat_ws(',', {places})" if each else "''"
        return sql(f"CAST('[' || {body} || ']' AS JSON)", each)
    args = [part for pair in node.expressions for part in (pair.this, _value(pair.expression))]
    return object_members.made(args) if handling == "ABSENT ON NULL" else object_members.made_with_nulls(args)


def _value(node: exp.Expression) -> exp.Expression:
    return node.this if isinstance(node, exp.FormatJson) else node
