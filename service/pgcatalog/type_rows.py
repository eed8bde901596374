"""Rows about types."""

from __future__ import annotations

from collections.abc import Iterator

from service.pgcatalog.builtin_objects import Row, builtin_rows
from service.pgcatalog.catalog_description import CatalogDescription
from service.pgcatalog.object_numbers import OWNER

_ARRAY = 1009
"""The type text[], whose properties every array has."""
_ENUM = {
    "typlen": 4,
    "typbyval": True,
    "typtype": "e",
    "typcategory": "E",
    "typalign": "i",
    "typstorage": "p",
}
_RECORD = {"typlen": -1, "typtype": "c", "typcategory": "C", "typalign": "d", "typstorage": "x"}
_IO = {"typinput": "in", "typoutput": "out", "typreceive": "recv", "typsend": "send"}


def types(catalog: CatalogDescription) -> Iterator[Row]:
    """All types: PostgreSQL's and those of the service."""
    yield from builtin_rows("pg_type")
    yield from own_types(catalog)


def own_types(catalog: CatalogDescription) -> Iterator[Row]:
    """Enumerations, and the rows of tables and views; each with its arrays."""
    for enumeration in catalog.enumerations:
        more = {**_ENUM, "typnamespace": catalog.schemas[enumeration.schema]}
        yield from _pair(enumeration.oid, enumeration.array, enumeration.name, "enum", more)
    for relation in catalog.relations:
        more = {**_RECORD, "typrelid": relation.oid, "typnamespace": catalog.schemas[relation.schema]}
        yield from _pair(relation.row_type, relation.row_array, relation.name, "record", more)


def _pair(oid: int, array: int, name: str, family: str, more: Row) -> Iterator[Row]:
    """A type and the type of its arrays."""
    common = {
        "typnamespace": more["typnamespace"],
        "typowner": OWNER,
        "typisdefined": True,
        "typdelim": ",",
        "typtypmod": -1,
    }
    functions = {row["proname"]: row["oid"] for row in builtin_rows("pg_proc")}
    own = {column: functions[f"{family}_{end}"] for column, end in _IO.items()}
    yield {**common, **more, **own, "oid": oid, "typname": name, "typarray": array}
    like = next(row for row in builtin_rows("pg_type") if row["oid"] == _ARRAY)
    yield {**like, **common, "oid": array, "typname": f"_{name}", "typelem": oid, "typcollation": 0}


def labels(catalog: CatalogDescription) -> Iterator[Row]:
    """The labels of enumerations, in their order."""
    for enumeration in catalog.enumerations:
        for place, label in enumerate(enumeration.labels, 1):
            yield {
                "oid": enumeration.oid % (1 << 20) * 1000 + place,
                "enumtypid": enumeration.oid,
                "enumsortorder": float(place),
                "enumlabel": label,
            }


TYPE_ROWS = {"pg_type": own_types, "pg_enum": labels}
