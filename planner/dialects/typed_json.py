"""Spark's FROM_JSON: a JSON text as a value of the type that a constant text describes.

    FROM_JSON('{"a": 1}', 'a INT, b STRING')  →  a struct of 1 and NULL

A part that is not of its type is NULL, as is a text that is no JSON; a struct is then one of NULLs. Names of
fields are matched with their case, as in Spark.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import exp
from sqlglot.errors import SqlglotError

from engine.schema import Kind, Type
from planner.native.templates import sql
from planner.positions import refuse
from planner.sql_types import data_type

_HINT = "write the type as a text: FROM_JSON(document, 'id INT, tags ARRAY<STRING>')"
_PLAIN = re.compile(r"[\w ]+")
_WHOLE = "'BIGINT', 'UBIGINT'"
_TESTS = {
    **dict.fromkeys((Kind.SMALLINT, Kind.INTEGER, Kind.BIGINT), _WHOLE),
    **dict.fromkeys((Kind.REAL, Kind.DOUBLE, Kind.NUMERIC), f"{_WHOLE}, 'HUGEINT', 'DOUBLE'"),
    Kind.BOOLEAN: "'BOOLEAN'",
    **dict.fromkeys((Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMPTZ), "'VARCHAR'"),
}
"""Which kinds of JSON a value of each type is read from."""


def typed_json(args: Sequence[exp.Expression]) -> exp.Expression:
    """The value of FROM_JSON(text, schema)."""
    if len(args) != 2 or not isinstance(args[1], exp.Literal):
        refuse(args[-1], "from_json with options, or a schema that is no constant, is not supported", _HINT)
    type = _schema(args[1])
    document = "CASE WHEN json_valid({0}) THEN CAST({0} AS JSON) END"
    value = _value(f"({document})", type, 0, args[1])
    if type.kind is Kind.ARRAY and type.parts[0].kind is Kind.STRUCT:
        alone = _value(f"({document})", type.parts[0], 0, args[1])
        value = f"CASE WHEN json_type({document}) = 'OBJECT' THEN [{alone}] ELSE {value} END"
    elif type.kind is Kind.STRUCT:
        nothing = _struct("CAST(NULL AS JSON)", type, 0, args[1])
        value = f"CASE WHEN trim({{0}}) <> '' THEN coalesce({value}, {nothing}) END"
    return sql(value, args[:1])


def _schema(literal: exp.Literal) -> Type:
    """The type that a text describes: one of SQL, or the fields of a struct."""
    for text in (literal.name, f"STRUCT<{literal.name}>"):
        try:
            node = exp.DataType.build(text, dialect="spark")
        except (SqlglotError, ValueError):
            continue
        if node.this not in (exp.DType.USERDEFINED, exp.DType.UNKNOWN):
            return data_type(node, "spark")
    refuse(literal, f"from_json to {literal.name} is not supported", _HINT)


def _value(json: str, type: Type, depth: int, place: exp.Expression) -> str:
    """The template of a value of JSON as one of the type."""
    each = f"x{depth}"
    match type.kind:
        case Kind.TEXT:
            return f"json_extract_string({json}, '$')"
        case Kind.JSON:
            return json
        case Kind.ARRAY:
            inner = _value(each, type.parts[0], depth + 1, place)
            made = f"list_transform(CAST({json} AS JSON[]), lambda {each}: {inner})"
            return f"CASE WHEN json_type({json}) = 'ARRAY' THEN {made} END"
        case Kind.STRUCT:
            return f"CASE WHEN json_type({json}) = 'OBJECT' THEN {_struct(json, type, depth, place)} END"
    if type.kind not in _TESTS:
        refuse(place, f"from_json to {type} is not supported", "take the member as STRING, and cast it")
    text = f"json_extract_string({json}, '$')"
    return f"CASE WHEN json_type({json}) IN ({_TESTS[type.kind]}) THEN TRY_CAST({text} AS {type}) END"


def _struct(json: str, type: Type, depth: int, place: exp.Expression) -> str:
    fields = []
    for field in type.fields:
        if not _PLAIN.fullmatch(field.name):
            refuse(place, f"from_json to a field called {field.name} is not supported", "rename it")
        member = f"json_extract({json}, '$.\"{field.name}\"')"
        fields.append(f'"{field.name}" := {_value(member, field.type, depth, place)}')
    return f"struct_pack({', '.join(fields)})"
