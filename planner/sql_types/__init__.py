"""Types in three systems: the engine's, sqlglot's and DuckDB's.

DuckDB's HUGEINT, as it gives it to sums and large numbers, becomes a NUMERIC; a column may be a HUGEINT.
UHUGEINT has no such type.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

from sqlglot import exp

from engine.scalar.duck_literals import type_name
from engine.schema import (
    BIGINT,
    BIT,
    BOOLEAN,
    BYTEA,
    DATE,
    DOUBLE,
    INTEGER,
    INTERVAL,
    JSON,
    REAL,
    SMALLINT,
    TEXT,
    TIME,
    TIMESTAMP,
    TIMESTAMPTZ,
    TIMETZ,
    UUID,
    WHOLES,
    Kind,
    Type,
    array_of,
    enumeration,
    map_of,
    numeric,
    row_of,
    struct_of,
    whole,
)
from planner.errors import SqlTooDeep, TypeMismatch, UnsupportedType
from planner.identifiers import fold
from planner.limits import depth_limit
from planner.positions import fail, refuse
from planner.sql_types.nested_names import NestedName, parsed_nested
from planner.sql_types.refused_types import instead

MAX_PRECISION = 38
MOST_LEVELS = 16
"""Levels of nesting in a type: marks in the texts of values double with each."""
DEFAULT_NUMERIC = numeric(18, 3)
_HUGE = numeric(MAX_PRECISION, 0)


@dataclass(frozen=True)
class _Untyped(Type):
    def __str__(self) -> str:
        return "NULL"


UNTYPED: Type = _Untyped(Kind.INTEGER)
"""The type of an untyped NULL until its context gives it one."""

_DT = exp.DType
_BY_SQLGLOT: dict[exp.DType, Type] = {
    _DT.BOOLEAN: BOOLEAN,
    _DT.TINYINT: whole("TINYINT"),
    _DT.UTINYINT: whole("UTINYINT"),
    _DT.USMALLINT: whole("USMALLINT"),
    _DT.UMEDIUMINT: whole("UINTEGER"),
    _DT.UINT: whole("UINTEGER"),
    _DT.UBIGINT: whole("UBIGINT"),
    _DT.INT128: whole("HUGEINT"),
    _DT.SMALLINT: SMALLINT,
    _DT.INT: INTEGER,
    _DT.MEDIUMINT: INTEGER,
    _DT.BIGINT: BIGINT,
    _DT.FLOAT: REAL,
    _DT.DOUBLE: DOUBLE,
    _DT.TEXT: TEXT,
    _DT.VARCHAR: TEXT,
    _DT.NVARCHAR: TEXT,
    _DT.CHAR: TEXT,
    _DT.NCHAR: TEXT,
    _DT.BPCHAR: TEXT,
    _DT.TINYTEXT: TEXT,
    _DT.MEDIUMTEXT: TEXT,
    _DT.LONGTEXT: TEXT,
    _DT.DATE: DATE,
    _DT.DATE32: DATE,
    _DT.TIME: TIME,
    _DT.TIMETZ: TIMETZ,
    _DT.TIMESTAMP: TIMESTAMP,
    _DT.TIMESTAMPNTZ: TIMESTAMP,
    _DT.DATETIME: TIMESTAMP,
    _DT.DATETIME2: TIMESTAMP,
    _DT.DATETIME64: TIMESTAMP,
    _DT.TIMESTAMPTZ: TIMESTAMPTZ,
    _DT.TIMESTAMPLTZ: TIMESTAMPTZ,
    _DT.INTERVAL: INTERVAL,
    _DT.BINARY: BYTEA,
    _DT.VARBINARY: BYTEA,
    _DT.BLOB: BYTEA,
    _DT.TINYBLOB: BYTEA,
    _DT.MEDIUMBLOB: BYTEA,
    _DT.LONGBLOB: BYTEA,
    _DT.UUID: UUID,
    _DT.BIT: BIT,
    _DT.JSON: JSON,
    _DT.JSONB: JSON,
    _DT.VARIANT: JSON,
    _DT.OBJECT: JSON,
    _DT.SUPER: JSON,
}
_MOMENTS = (_DT.DATETIME, _DT.DATETIME64)
_DIGITS_OF_SECONDS = tuple("0123456")
UTC_NAMES = ("UTC", "Etc/UTC", "GMT")
"""Names of the zone that moments have here."""
_ARRAYS = (_DT.ARRAY, _DT.LIST)
_STRUCTS = (_DT.STRUCT, _DT.OBJECT)
_DIGITS = re.compile("[0-9]{1,9}")

_BY_DUCKDB: dict[str, Type] = {
    "BOOLEAN": BOOLEAN,
    **{name: whole(name) for name in WHOLES if name != "HUGEINT"},
    "SMALLINT": SMALLINT,
    "INTEGER": INTEGER,
    "BIGINT": BIGINT,
    "FLOAT": REAL,
    "DOUBLE": DOUBLE,
    "VARCHAR": TEXT,
    "DATE": DATE,
    "TIME": TIME,
    "TIME WITH TIME ZONE": TIMETZ,
    "TIMESTAMP": TIMESTAMP,
    "TIMESTAMP_S": TIMESTAMP,
    "TIMESTAMP_MS": TIMESTAMP,
    "TIMESTAMP_NS": TIMESTAMP,
    "TIMESTAMP WITH TIME ZONE": TIMESTAMPTZ,
    "INTERVAL": INTERVAL,
    "BLOB": BYTEA,
    "UUID": UUID,
    "BIT": BIT,
    "JSON": JSON,
    '"NULL"': UNTYPED,
}


_WITH_BITS = frozenset({"duckdb", "postgres"})
"""Dialects in which BIT is a type of bits."""
_IN_WORDS = {"INTEGER_LITERAL": "INTEGER", "STRING_LITERAL": "VARCHAR", "DECIMAL": "NUMERIC"}
SUPPORTED = (
    "supported are SMALLINT, INTEGER, BIGINT and their unsigned kin, HUGEINT, REAL, DOUBLE PRECISION, "
    "NUMERIC(p, s), BOOLEAN, TEXT, VARCHAR, DATE, TIME, TIMETZ, TIMESTAMP, TIMESTAMPTZ, INTERVAL, BYTEA, "
    "UUID, BIT, JSON, ENUM, and arrays, STRUCT and MAP"
)


def data_type(node: exp.DataType, dialect: str = "postgres") -> Type:
    """The engine's type for an SQL type. Raises Unsupported if there is none, TypeMismatch for invalid
    digits or fields, SqlTooDeep for too many dimensions."""
    dimensions = 0
    while node.this in _ARRAYS and len(node.expressions) == 1:
        node = node.expressions[0]
        dimensions += 1
    if dimensions > depth_limit():
        fail(
            SqlTooDeep(f"an array has {dimensions} dimensions", f"at most {depth_limit()} are allowed"), node
        )
    found = _element_type(node, dialect)
    for _ in range(dimensions):
        found = array_of(found)
    if levels(found) > MOST_LEVELS:
        fail(SqlTooDeep("a type is too deep", f"at most {MOST_LEVELS} levels of nesting are allowed"), node)
    return found


def levels(type: Type) -> int:
    """How deep values of the type are nested; 0 for a scalar."""
    return 1 + max(map(levels, type.parts)) if type.parts else 0


def _element_type(node: exp.DataType, dialect: str) -> Type:
    if node.this in _STRUCTS and node.expressions:
        return _struct(node, dialect)
    if node.this is _DT.MAP and len(node.expressions) == 2:
        return map_of(*(data_type(part, dialect) for part in node.expressions))
    if node.this in (_DT.DECIMAL, _DT.UDECIMAL):
        return _numeric(node)
    if node.this is _DT.ENUM and node.expressions:
        return _enumeration(node)
    if node.this is _DT.LOWCARDINALITY and node.expressions:
        return _element_type(node.expressions[0], dialect)
    if node.this in _MOMENTS and dialect == "clickhouse":
        _check_moment(node)
    found = INTERVAL if isinstance(node.this, exp.Interval) else _BY_SQLGLOT.get(node.this)
    if node.this is _DT.BIT and (dialect not in _WITH_BITS or (node.expressions and dialect != "duckdb")):
        found = None
    if node.this is _DT.USERDEFINED and node.text("kind").startswith("BIT VARYING"):
        found = BIT
    if found is None and node.this is _DT.USERDEFINED and node.sql(dialect).upper() in WHOLES:
        found = whole(node.sql(dialect).upper())
    if found is None:
        written = node.sql(dialect)
        hint = instead(written, dialect, _near(node), SUPPORTED)
        refuse(node, f"type {written} is not supported", hint)
    return found


def _check_moment(node: exp.DataType) -> None:
    """Raises Unsupported for ClickHouse's moments in a zone, and with more digits of a second than here."""
    for parameter in node.expressions:
        given = parameter.this
        if given.is_string and given.name not in UTC_NAMES:
            refuse(node, "a moment keeps no zone here", "write the moments in UTC, without the zone")
        if not given.is_string and given.name not in _DIGITS_OF_SECONDS:
            refuse(node, "a moment has up to 6 digits of a second here", "write up to 6")


def _struct(node: exp.DataType, dialect: str) -> Type:
    """A struct, whose fields all have names or none has one."""
    types = [
        data_type(part.args["kind"] if isinstance(part, exp.ColumnDef) else part, dialect)
        for part in node.expressions
    ]
    names = [fold(part.this) for part in node.expressions if isinstance(part, exp.ColumnDef)]
    if not names:
        return row_of(types)
    if len(names) < len(types) or len({name.lower() for name in names}) < len(names):
        fail(TypeMismatch("a STRUCT needs a name of its own for each field"), node)
    for name in names:
        check_field_name(name, node)
    return struct_of(zip(names, types, strict=True))


def check_field_name(name: str, node: exp.Expression) -> None:
    """Raise Unsupported for a name that no template of DuckDB's SQL could hold."""
    if "{" in name or "}" in name:
        refuse(node, f"a field's name has no braces: {name}", "give the field another name")


def _near(node: exp.DataType) -> list[str]:
    """The names that an unknown name may resemble; none for a type that SQL knows."""
    if node.this is not _DT.USERDEFINED:
        return []
    names = {*_BY_DUCKDB, *(known.value for known in _BY_SQLGLOT), "NUMERIC", "STRING"}
    return [name for name in names if name.isalnum()]


def _numeric(node: exp.DataType) -> Type:
    written = [parameter.name for parameter in node.expressions]
    if not written:
        return DEFAULT_NUMERIC
    if not all(_DIGITS.fullmatch(digits) for digits in written):
        fail(
            TypeMismatch(
                f"NUMERIC({', '.join(written)}) is not a type", "write precision and scale as numbers"
            ),
            node,
        )
    digits = [int(digits) for digits in written]
    precision, scale = digits[0], digits[1] if len(digits) > 1 else 0
    if not (1 <= precision <= MAX_PRECISION and 0 <= scale <= precision):
        fail(
            TypeMismatch(
                f"NUMERIC({precision}, {scale}) is not a type",
                f"use a precision of 1 to {MAX_PRECISION}, and a scale of 0 to the precision",
            ),
            node,
        )
    return numeric(precision, scale)


def _enumeration(node: exp.DataType) -> Type:
    labels = [part.name for part in node.expressions]
    if len(set(labels)) < len(labels):
        fail(TypeMismatch("an ENUM cannot have a label twice"), node)
    return enumeration(*labels)


def duckdb_type(type: Type) -> str:
    """The type's name in DuckDB."""
    return '"NULL"' if type is UNTYPED else type_name(type)


def from_duckdb(name: str, huge: Type = _HUGE) -> Type:
    """The engine's type for DuckDB's `name`; `huge` for HUGEINT. Raises UnsupportedType if there is none."""
    decimal = re.fullmatch(r"DECIMAL\((\d+),(\d+)\)", name)
    if decimal:
        return numeric(int(decimal[1]), int(decimal[2]))
    nested = parsed_nested(name)
    if nested is not None:
        made = _nested(nested, huge)
        if levels(made) > MOST_LEVELS:
            raise UnsupportedType(
                "a type is too deep", f"at most {MOST_LEVELS} levels of nesting are allowed"
            )
        return made
    if name.startswith("ENUM("):
        labels = re.findall(r"'((?:[^']|'')*)'", name)
        return enumeration(*(label.replace("''", "'") for label in labels))
    found = huge if name == "HUGEINT" else _BY_DUCKDB.get(name)
    if found is None:
        raise UnsupportedType(f"type {name} is not supported", "cast it to a supported type")
    return found


def _nested(name: NestedName, huge: Type) -> Type:
    """A nested type; what DuckDB has no type for in it, an untyped NULL, is an INTEGER."""
    found = (from_duckdb(part, huge) for _, part in name.parts)
    parts = [INTEGER if part is UNTYPED else part for part in found]
    match name.kind:
        case "STRUCT":
            return struct_of(zip((field for field, _ in name.parts), parts, strict=True))
        case "TUPLE":
            return row_of(parts)
        case "MAP":
            return map_of(*parts)
    return array_of(*parts)


def written_type(name: str) -> str:
    """The name, in messages, of the type that DuckDB calls `name`; of a literal, that of its usual type."""
    plain = _IN_WORDS.get(name, name)
    try:
        return str(from_duckdb(plain))
    except UnsupportedType:
        return plain


def minus(number: Any) -> Any:
    """A number with the other sign and all of its digits: `-` would round a Decimal to 28."""
    return number.copy_negate() if isinstance(number, Decimal) and number else -number


def storable(value: object, type: Type) -> bool:
    """Whether a literal of `type` can hold the value unchanged."""
    match type.kind:
        case Kind.BOOLEAN:
            return isinstance(value, bool)
        case Kind.SMALLINT | Kind.INTEGER | Kind.BIGINT:
            low, high = type.bounds
            return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high
        case Kind.NUMERIC:
            if not isinstance(value, Decimal):
                return False
            if type.whole:
                return type.bounds[0] <= value <= type.bounds[1]
            return value.copy_abs() < Decimal(10) ** ((type.precision or 0) - (type.scale or 0))
        case Kind.REAL | Kind.DOUBLE:
            return isinstance(value, float)
        case Kind.TEXT:
            return isinstance(value, str)
        case Kind.ENUM:
            return value in type.labels
        case Kind.TIMESTAMP:
            return isinstance(value, datetime)
        case Kind.TIMESTAMPTZ:
            return isinstance(value, datetime) and value.tzinfo is not None
        case Kind.DATE:
            return isinstance(value, date) and not isinstance(value, datetime)
        case Kind.TIME:
            return isinstance(value, time) and value.tzinfo is None
        case Kind.TIMETZ:
            return isinstance(value, time) and value.tzinfo is not None
        case _:
            return False
