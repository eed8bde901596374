"""Casts to PostgreSQL's own types, and arrays in PostgreSQL's text."""

from __future__ import annotations

import re

from sqlglot import exp

from planner.catalog_queries.catalog_functions import NUMBER_KINDS
from planner.catalog_queries.object_casts import object_cast, type_name
from planner.catalog_queries.system_catalog import SystemCatalog
from planner.native.templates import sql

VECTORS = frozenset(
    {"indkey", "indclass", "indcollation", "indoption", "proargtypes", "partattrs", "partclass"}
    | {"partcollation", "tgattr", "stxkeys"}
)
"""Columns of vectors: their first element has number 0, and their text has spaces."""
_TEXTS = (
    "name char cstring aclitem pg_node_tree sql_identifier character_data yes_or_no text varchar anyarray "
    "bpchar regconfig"
)
_TYPES = {
    **dict.fromkeys(_TEXTS.split(), "VARCHAR"),
    **dict.fromkeys(("oid", "xid", "cid"), "UINTEGER"),
    **dict.fromkeys(("cardinal_number", "int4", "integer"), "INTEGER"),
    **dict.fromkeys(("time_stamp", "timestamptz"), "TIMESTAMPTZ"),
    **dict.fromkeys(("int8", "bigint"), "BIGINT"),
    **dict.fromkeys(("float8", "numeric"), "DOUBLE"),
    **dict.fromkeys(("bool", "boolean"), "BOOLEAN"),
    **dict.fromkeys(("json", "jsonb"), "JSON"),
    "int2": "SMALLINT",
    "float4": "REAL",
    "int2vector": "SMALLINT[]",
    "oidvector": "UINTEGER[]",
    "timestamp": "TIMESTAMP",
    "interval": "INTERVAL",
}
"""DuckDB's types for those that are written with a schema, or that only PostgreSQL has."""
_ELEMENT = re.compile(r'\s*(?:"((?:[^"\\]|\\.)*)"|([^,"{}\\]+))\s*(?:,|$)')


def shown_vector(column: exp.Expression) -> exp.Expression:
    """A vector as its text."""
    return sql("array_to_string({0}, ' ')", [column])


def catalog_cast(node: exp.Cast, catalog: SystemCatalog) -> exp.Expr:
    to = node.to
    name = type_name(to)
    is_array = isinstance(to, exp.DataType) and to.this is exp.DType.ARRAY
    if (
        name in ("text", "varchar")
        and isinstance(node.this, exp.Column)
        and node.this.name.lower() in VECTORS
    ):
        return shown_vector(node.this)
    if name in NUMBER_KINDS:
        return _array_cast(node, name) if is_array else object_cast(node, name, catalog)
    if is_array and isinstance(node.this, exp.Literal) and node.this.is_string:
        found = elements(node.this)
        if found is not None:
            return sql(f"CAST({{0}} AS {_TYPES.get(name, name)}[])", [found])
    plain = isinstance(to, exp.ObjectIdentifier | exp.PseudoType) or (
        isinstance(to, exp.DataType) and (to.this is exp.DType.USERDEFINED or is_array)
    )
    if name in _TYPES and (plain or name == "name"):
        return sql(f"CAST({{0}} AS {_TYPES[name]}{'[]' if is_array else ''})", [node.this])
    return node


def _array_cast(node: exp.Cast, kind: str) -> exp.Expr:
    """An array of OIDs as the array of their names."""
    kind = "regproc" if kind == "regprocedure" else kind
    return sql(
        f'(SELECT CASE WHEN {{0}} IS NOT NULL THEN coalesce(list(coalesce("#value", '
        f'CAST(given."#oid" AS VARCHAR)) ORDER BY given."#place"), []) END FROM '
        f'(SELECT unnest({{0}}) AS "#oid", generate_subscripts({{0}}, 1) AS "#place") AS given '
        f'LEFT JOIN pg_catalog."#{kind}" ON "#key" = given."#oid")',
        [node.this],
    )


def listed(node: exp.Any | exp.All) -> exp.Expr:
    """`ANY ('{a,b}')` with a list of the elements."""
    given = node.this.unnest()
    if (
        isinstance(given, exp.Array)
        and len(given.expressions) == 1
        and isinstance(given.expressions[0], exp.Query)
    ):
        node.set("this", exp.Subquery(this=given.expressions[0]))  # ANY (ARRAY (SELECT ...))
        return node
    found = elements(given) if isinstance(given, exp.Literal) and given.is_string else None
    if found is not None:
        node.set("this", exp.paren(found))
    return node


def elements(literal: exp.Literal) -> exp.Expression | None:
    """The elements of an array in PostgreSQL's text, of one dimension; None if it is another text."""
    text = literal.name.strip()
    if not (text.startswith("{") and text.endswith("}")):
        return None
    inner, at = text[1:-1].strip(), 0
    found: list[exp.Expression] = []
    while at < len(inner):
        match = _ELEMENT.match(inner, at)
        if match is None:
            return None
        if match[1] is not None:
            found.append(exp.Literal.string(re.sub(r"\\(.)", r"\1", match[1])))
        else:
            word = match[2].strip()
            found.append(exp.Null() if word.upper() == "NULL" else exp.Literal.string(word))
        at = match.end()
    places = ", ".join(f"{{{place}}}" for place in range(len(found)))
    return sql(f"CAST([{places}] AS VARCHAR[])", found)
