"""ClickHouse's functions of JSON in texts: JSONExtractInt(json, 'b', 1); what is absent is 0 or empty.

Members are named by texts, elements of arrays by numbers from 1, or from the end by negative ones.
"""

from __future__ import annotations

from sqlglot import exp

from planner.dialects.clickhouse.clickhouse_casts import cast_to_named
from planner.native.templates import Args, Made, Meanings, sql
from planner.positions import refuse

_JSON = "CASE WHEN json_valid({0}) THEN CAST({0} AS JSON) END"
_TYPE = (
    "CASE json_type({0}) WHEN 'OBJECT' THEN 'Object' WHEN 'ARRAY' THEN 'Array' WHEN 'VARCHAR' THEN 'String'"
    " WHEN 'BOOLEAN' THEN 'Bool' WHEN 'DOUBLE' THEN 'Double' WHEN 'UBIGINT' THEN"
    " CASE WHEN CAST({0} AS DECIMAL(38, 0)) > 9223372036854775807 THEN 'UInt64' ELSE 'Int64' END"
    " WHEN 'BIGINT' THEN 'Int64' ELSE 'Null' END"
)
_LENGTH = (
    "CASE json_type({0}) WHEN 'OBJECT' THEN len(json_keys({0})) WHEN 'ARRAY' THEN json_array_length({0})"
    " ELSE 0 END"
)
_NUMBER = "CASE WHEN json_type({0}) IN ('BIGINT', 'UBIGINT', 'DOUBLE') THEN TRY_CAST({0} AS TYPE) END"
_MEMBERS = (
    "CASE json_type({0}) WHEN 'ARRAY' THEN CAST(json_extract({0}, '$[*]') AS VARCHAR[])"
    " ELSE CAST([] AS VARCHAR[]) END"
)


def _along(args: Args) -> exp.Expression:
    """The part of a document that names and places lead to, as JSON; NULL if it is not there."""
    found = sql(_JSON, args[:1])
    for place in args[1:]:
        if isinstance(place, exp.Literal) and place.is_string:
            found = sql("json_extract({0}, '$.' || to_json({1}))", [found, place])
            continue
        number = place.this if isinstance(place, exp.Neg) else place
        if not isinstance(number, exp.Literal):
            refuse(place, "a computed place in JSON is not supported in clickhouse", "write the names")
        at = f"$[#-{number.name}]" if number is not place else f"$[{int(number.name) - 1}]"
        found = sql("json_extract({0}, {1})", [found, exp.Literal.string(at)])
    return found


def _of(template: str) -> Made:
    return lambda args: sql(template, [_along(args)])


def _extracted(args: Args) -> exp.Expression:
    """JSONEXTRACT('{"a": 5}', 'a', 'Int32'): a value of the type, or its default."""
    *path, type = args
    name = type.name if isinstance(type, exp.Literal) else ""
    if name.startswith("Array(") or name.startswith(("Tuple(", "Map(")):
        return sql("{0}", [cast_to_named([_along(path), type])])
    if name == "String":
        return sql(_STRING, [_along(path)])
    if name in ("Nullable(String)",):
        return sql("json_extract_string({0}, '$')", [_along(path)])
    if name == "Bool":
        return sql(_BOOL, [_along(path)])
    form = next((form for start, form in _NUMBERS.items() if name.startswith(start)), None)
    if form is None:
        refuse(type, f"JSONExtract of {name or 'a computed type'} is not supported", "cast the text")
    return cast_to_named([sql(form, [_along(path)]), type])


_STRING = "CASE json_type({0}) WHEN 'VARCHAR' THEN json_extract_string({0}, '$') ELSE '' END"
_BOOL = "coalesce(CASE WHEN json_type({0}) = 'BOOLEAN' THEN CAST({0} AS BOOLEAN) END, false)"
_INT, _UINT, _FLOAT = (
    f"coalesce({_NUMBER.replace('TYPE', type)}, 0)" for type in ("BIGINT", "UBIGINT", "DOUBLE")
)
_NUMBERS = {"Int": _INT, "UInt": _UINT, "Float": _FLOAT}
_RAW = "coalesce(CAST({0} AS VARCHAR), '')"

DOCUMENTS: Meanings = {
    "JSONHAS(json, ...)": _of("{0} IS NOT NULL"),
    "JSONLENGTH(json, ...)": _of(f"coalesce({_LENGTH}, 0)"),
    "JSONTYPE(json, ...)": _of(_TYPE),
    "JSONEXTRACTSTRING(json, ...)": _of(_STRING),
    "JSONEXTRACTINT(json, ...)": _of(_INT),
    "JSONEXTRACTUINT(json, ...)": _of(_UINT),
    "JSONEXTRACTFLOAT(json, ...)": _of(_FLOAT),
    "JSONEXTRACTBOOL(json, ...)": _of(_BOOL),
    "JSONEXTRACTRAW(json, ...)": _of(_RAW),
    "JSONEXTRACTARRAYRAW(json, ...)": _of(_MEMBERS),
    "JSONEXTRACTKEYS(json, ...)": _of(
        "CASE json_type({0}) WHEN 'OBJECT' THEN json_keys({0}) ELSE CAST([] AS VARCHAR[]) END"
    ),
    "JSONEXTRACT(json, ...)": _extracted,
    "ISVALIDJSON(text)": "json_valid({0})",
    "SIMPLEJSONEXTRACTINT | VISITPARAMEXTRACTINT(json, name)": _of(_INT),
    "SIMPLEJSONEXTRACTUINT | VISITPARAMEXTRACTUINT(json, name)": _of(_UINT),
    "SIMPLEJSONEXTRACTFLOAT | VISITPARAMEXTRACTFLOAT(json, name)": _of(_FLOAT),
    "SIMPLEJSONEXTRACTSTRING | VISITPARAMEXTRACTSTRING(json, name)": _of(_STRING),
    "SIMPLEJSONEXTRACTBOOL(json, name)": _of(_BOOL),
    "SIMPLEJSONEXTRACTRAW(json, name)": _of(_RAW),
    "SIMPLEJSONHAS | VISITPARAMHAS(json, name)": _of("{0} IS NOT NULL"),
    "TOJSONSTRING(value)": "CAST(to_json({0}) AS VARCHAR)",
    # JSON_VALUE('{"hello":"world"}', '$.x') is the empty text, and that of an object or an array too
    "JSON_VALUE(json, path)": (
        "CASE WHEN json_valid({0}) AND json_type(json_extract({0}, {1})) NOT IN ('OBJECT', 'ARRAY')"
        " THEN coalesce(json_extract_string({0}, {1}), '') ELSE '' END"
    ),
    "JSON_QUERY(json, path)": (
        "CASE WHEN json_valid({0}) AND json_extract({0}, {1}) IS NOT NULL"
        " THEN '[' || CAST(json_extract({0}, {1}) AS VARCHAR) || ']' ELSE '' END"
    ),
    "JSON_EXISTS(json, path)": "json_valid({0}) AND json_extract({0}, {1}) IS NOT NULL",
}
