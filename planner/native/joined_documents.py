"""Documents joined by PostgreSQL's `||`: the members of both, or the elements of both.

    '{"a": 1}'::jsonb || '{"b": 2}'::jsonb   →   {"a": 1, "b": 2}

A view knows the types. An ad-hoc query knows a document by its cast alone.
"""

from __future__ import annotations

from sqlglot import exp

from planner.native.templates import is_native, sql

_PATH = "'/' || replace(replace(name, '~', '~0'), '/', '~1')"
_PAIRS = (
    "list_transform(NAMES, lambda name: struct_pack(name := name, value := json_extract(DOCUMENT, PATH)))"
).replace("PATH", _PATH)
OF_PAIRS = "to_json(map_from_entries(PAIRS))"
_ELEMENTS = "CASE json_type({0}) WHEN 'ARRAY' THEN json_extract({0}, '$[*]') ELSE [{0}] END"
OTHERS = "list_filter(json_keys({0}), lambda name: NOT list_contains(TAKEN, name))"


def members(names: str, document: str) -> str:
    """The members of these names, as pairs."""
    return _PAIRS.replace("NAMES", names).replace("DOCUMENT", document)


_LEFT = members(OTHERS.replace("TAKEN", "json_keys({1})"), "{0}")
_BOTH = OF_PAIRS.replace("PAIRS", f"list_concat({_LEFT}, {members('json_keys({1})', '{1}')})")
JOINED = (
    f"CASE WHEN json_type({{0}}) = 'OBJECT' AND json_type({{1}}) = 'OBJECT' THEN {_BOTH}"
    " WHEN {0} IS NOT NULL AND {1} IS NOT NULL THEN"
    f" to_json(list_concat({_ELEMENTS}, {_ELEMENTS.replace('{0}', '{1}')})) END"
)


def joined_in_query(node: exp.Expression) -> exp.Expression:
    """A concatenation in an ad-hoc query with a side that is cast to a document; any other node itself."""
    if not isinstance(node, exp.DPipe) or is_native(node):
        return node
    sides = (node.this, node.expression)
    if not any(map(_is_document, sides)):
        return node
    return sql(JOINED, [side if _is_document(side) else exp.cast(side.copy(), "json") for side in sides])


def _is_document(node: exp.Expr) -> bool:
    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.DPipe):
        return _is_document(node.this) or _is_document(node.expression)
    return isinstance(node, exp.Cast) and node.to.is_type("json", "jsonb")
