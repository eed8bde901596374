"""The types of tables as PostgreSQL's: their OIDs, and the digits of a NUMERIC as a type modifier."""

from __future__ import annotations

from collections.abc import Callable

from engine.schema import Kind, Type

_OIDS = {
    Kind.BOOLEAN: (16, 1000),
    Kind.SMALLINT: (21, 1005),
    Kind.INTEGER: (23, 1007),
    Kind.BIGINT: (20, 1016),
    Kind.NUMERIC: (1700, 1231),
    Kind.REAL: (700, 1021),
    Kind.DOUBLE: (701, 1022),
    Kind.TEXT: (25, 1009),
    Kind.DATE: (1082, 1182),
    Kind.TIME: (1083, 1183),
    Kind.TIMETZ: (1266, 1270),
    Kind.TIMESTAMP: (1114, 1115),
    Kind.TIMESTAMPTZ: (1184, 1185),
    Kind.INTERVAL: (1186, 1187),
    Kind.BYTEA: (17, 1001),
    Kind.UUID: (2950, 2951),
    Kind.BIT: (1562, 1563),
    Kind.JSON: (114, 199),
    Kind.MAP: (114, 199),
    Kind.STRUCT: (2249, 2287),
}
"""The OIDs of a type and of arrays of it."""
_NAMES = {
    Kind.NUMERIC: "numeric",
    Kind.TIME: "time without time zone",
    Kind.TIMETZ: "time with time zone",
    Kind.BIT: "bit varying",
    Kind.TIMESTAMP: "timestamp without time zone",
    Kind.TIMESTAMPTZ: "timestamp with time zone",
    Kind.ENUM: "USER-DEFINED",
    Kind.ARRAY: "ARRAY",
    Kind.MAP: "json",
    Kind.STRUCT: "record",
}
_UDT_NAMES = {
    Kind.BOOLEAN: "bool",
    Kind.SMALLINT: "int2",
    Kind.INTEGER: "int4",
    Kind.BIGINT: "int8",
    Kind.REAL: "float4",
    Kind.DOUBLE: "float8",
    Kind.BIT: "varbit",
    Kind.MAP: "json",
    Kind.STRUCT: "record",
}

Enumerations = Callable[[tuple[str, ...]], tuple[int, int]]
"""The OIDs of the enumeration with these labels, and of arrays of it."""


def type_number(type: Type, enumerations: Enumerations) -> int:
    """The OID of a type. An array of arrays has the type of an array, as in PostgreSQL."""
    inner = element_of(type)
    oid, of_array = enumerations(inner.labels) if inner.kind is Kind.ENUM else _OIDS[inner.kind]
    return of_array if type.kind is Kind.ARRAY else oid


def element_of(type: Type) -> Type:
    """The type of the innermost elements."""
    while type.element is not None:
        type = type.element
    return type


def dimensions(type: Type) -> int:
    count = 0
    while type.element is not None:
        type, count = type.element, count + 1
    return count


def modifier(type: Type) -> int:
    """PostgreSQL's type modifier; -1 for none."""
    inner = element_of(type)
    if inner.precision is None or inner.scale is None:
        return -1
    return (inner.precision << 16 | inner.scale) + 4


def standard_name(type: Type) -> str:
    """The name of the type in information_schema."""
    return _NAMES.get(type.kind, type.kind.value.lower())


def internal_name(type: Type, enumeration: str = "") -> str:
    """PostgreSQL's own name of the type; `enumeration` is the name of one."""
    inner = element_of(type)
    name = (
        _UDT_NAMES.get(inner.kind, inner.kind.value.lower()) if inner.kind is not Kind.ENUM else enumeration
    )
    return f"_{name}" if type.kind is Kind.ARRAY else name
