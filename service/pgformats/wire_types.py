"""The types of columns and parameters as PostgreSQL knows them: their OIDs, which are stable.

| Freshet | PostgreSQL |
|---|---|
| TEXT, and every type that is only printed | text |
| an ENUM | text |
| JSON, MAP | json |
| STRUCT | record |
| HUGEINT of an ad-hoc query | bigint, or numeric if a value needs it |
| UINTEGER of an ad-hoc query | oid |
| any other | the type of the same name |

Source: PostgreSQL 15's `pg_type`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from engine.schema import BIGINT, Kind, Type
from planner.errors import Unsupported
from planner.sql_types import UNTYPED, from_duckdb

TEXT, BINARY = 0, 1
"""The formats of values."""


@dataclass(frozen=True, eq=False)
class WireType:
    """There is one object for each type. `size` is that of its binary form in bytes, -1 if it varies. `kind`
    says how its values are written; `element` is that of an array, and `fields` are those of a record."""

    oid: int
    name: str
    size: int
    kind: Kind
    element: WireType | None = None
    fields: tuple[tuple[str, WireType], ...] = ()


@dataclass(frozen=True)
class WireColumn:
    """A column of an answer. `modifier` has the digits of a NUMERIC; -1 for none."""

    name: str
    type: WireType
    modifier: int = -1


_SCALARS = (
    (Kind.BOOLEAN, 16, "bool", 1, 1000),
    (Kind.BYTEA, 17, "bytea", -1, 1001),
    (Kind.BIGINT, 20, "int8", 8, 1016),
    (Kind.SMALLINT, 21, "int2", 2, 1005),
    (Kind.INTEGER, 23, "int4", 4, 1007),
    (Kind.TEXT, 25, "text", -1, 1009),
    (Kind.JSON, 114, "json", -1, 199),
    (Kind.REAL, 700, "float4", 4, 1021),
    (Kind.DOUBLE, 701, "float8", 8, 1022),
    (Kind.DATE, 1082, "date", 4, 1182),
    (Kind.TIME, 1083, "time", 8, 1183),
    (Kind.TIMESTAMP, 1114, "timestamp", 8, 1115),
    (Kind.TIMESTAMPTZ, 1184, "timestamptz", 8, 1185),
    (Kind.INTERVAL, 1186, "interval", 16, 1187),
    (Kind.TIMETZ, 1266, "timetz", 12, 1270),
    (Kind.BIT, 1562, "varbit", -1, 1563),
    (Kind.NUMERIC, 1700, "numeric", -1, 1231),
    (Kind.UUID, 2950, "uuid", 16, 2951),
)
"""Kind, OID, name, size and the OID of arrays."""
_ALIASES = (
    (18, "char", Kind.TEXT, 1, 1002),
    (19, "name", Kind.TEXT, 64, 1003),
    (26, "oid", Kind.BIGINT, 4, 1028),
    (705, "unknown", Kind.TEXT, -2, 0),
    (1042, "bpchar", Kind.TEXT, -1, 1014),
    (1043, "varchar", Kind.TEXT, -1, 1015),
    (1560, "bit", Kind.BIT, -1, 1561),
    (3802, "jsonb", Kind.JSON, -1, 3807),
)
"""Types that only parameters and columns of the catalogs have: OID, name, the kind whose values they have,
size, the OID of arrays."""

BY_KIND: dict[Kind, WireType] = {
    kind: WireType(oid, name, size, kind) for kind, oid, name, size, _ in _SCALARS
}
"""The type of values of each kind, besides arrays."""
BY_KIND[Kind.ENUM] = BY_KIND[Kind.TEXT]
BY_KIND[Kind.MAP] = BY_KIND[Kind.JSON]
WIRE_TEXT, WIRE_JSON, WIRE_INT8, WIRE_NUMERIC = (
    BY_KIND[kind] for kind in (Kind.TEXT, Kind.JSON, Kind.BIGINT, Kind.NUMERIC)
)
JSONB = 3802
_OID, _OID_ARRAY = 26, 1028
RECORD, _RECORDS = 2249, 2287
_ARRAYS: dict[Kind, WireType] = {
    kind: WireType(array, f"_{name}", -1, Kind.ARRAY, BY_KIND[kind]) for kind, _, name, _, array in _SCALARS
}
BY_OID: dict[int, WireType] = {found.oid: found for found in (*BY_KIND.values(), *_ARRAYS.values())}
"""Every type that a parameter may be declared to have."""
for _oid, _name, _kind, _size, _array in _ALIASES:
    BY_OID[_oid] = WireType(_oid, _name, _size, _kind)
    if _array:
        BY_OID[_array] = WireType(_array, f"_{_name}", -1, Kind.ARRAY, BY_OID[_oid])
OF_CATALOGS = {name: BY_OID[oid] for name, oid in (("char", 18), ("name", 19), ("name[]", 1003))}
"""The types of columns of the catalogs that are texts to DuckDB."""
BY_NAME: dict[str, WireType] = {found.name: found for found in BY_OID.values() if found.name != "char"}
"""The same by the names that catalogs have; `char` in SQL is another type."""


def wire_type(type: Type) -> WireType:
    """The type of a column of the engine's type. All dimensions of arrays are one type."""
    if type.kind is Kind.STRUCT:
        return _record(type)
    if type.element is None:
        return BY_KIND[type.kind]
    while type.element is not None:
        type = type.element
    if type.kind is Kind.STRUCT:
        return _records(type)
    return _ARRAYS[BY_KIND[type.kind].kind]


@lru_cache(1 << 12)
def _record(type: Type) -> WireType:
    fields = tuple((field.name, wire_type(field.type)) for field in type.fields)
    return WireType(RECORD, "record", -1, Kind.STRUCT, fields=fields)


@lru_cache(1 << 12)
def _records(type: Type) -> WireType:
    return WireType(_RECORDS, "_record", -1, Kind.ARRAY, _record(type))


def parameter_type(type: Type) -> WireType:
    """The type of a parameter that is wanted as the engine's type. Records come as texts, as nobody declares
    their fields, and maps too."""
    inner = type
    while inner.element is not None:
        inner = inner.element
    return WIRE_TEXT if inner.kind in (Kind.STRUCT, Kind.MAP) else wire_type(type)


def of_duckdb(name: str) -> WireType:
    """The type of an answer's column of DuckDB's type `name`."""
    bare = name
    while bare.endswith("]"):
        bare = bare[: bare.rindex("[")]
    if bare == "UINTEGER":
        return BY_OID[_OID if bare == name else _OID_ARRAY]
    try:
        found = from_duckdb(name, huge=BIGINT)
    except Unsupported:
        return WIRE_TEXT
    return WIRE_TEXT if found is UNTYPED else wire_type(found)


def modifier_of(name: str) -> int:
    """The type modifier of DuckDB's type `name`: the digits of a DECIMAL; -1 for none."""
    if not name.startswith("DECIMAL("):
        return -1
    precision, scale = (int(part) for part in name[8:].rstrip(")[]").split(","))
    return (precision << 16 | scale) + 4
