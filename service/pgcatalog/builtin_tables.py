"""The rows of PostgreSQL's own objects as tables, which all services share: each is made once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial

import pyarrow as pa

from service.pgcatalog.builtin_objects import OIDS, Row, builtin_rows, system_relations
from service.pgcatalog.relation_layout import attribute, class_row

_MOMENT = pa.timestamp("us", "UTC")
_ARROW: Mapping[str, pa.DataType] = {
    **dict.fromkeys(OIDS, pa.uint32()),
    "int2": pa.int16(),
    "int4": pa.int32(),
    "int8": pa.int64(),
    "cardinal_number": pa.int32(),
    "float4": pa.float32(),
    "float8": pa.float64(),
    "numeric": pa.float64(),
    "bool": pa.bool_(),
    "bytea": pa.binary(),
    "timestamptz": _MOMENT,
    "time_stamp": _MOMENT,
    "interval": pa.duration("us"),
    "int2vector": pa.list_(pa.int16()),
    "oidvector": pa.list_(pa.uint32()),
}
_COLLATIONS = {"^": 950, "~": 100, "": 0}
_CSTRING, _NAME = 2275, 19


def classes() -> Iterator[Row]:
    """Relations and their indexes."""
    for row in builtin_rows("pg_class"):
        yield class_row(row["oid"], row["relname"], row["relkind"], row["relnamespace"]) | row


def attributes() -> Iterator[Row]:
    numbers = {row["typname"]: row["oid"] for row in builtin_rows("pg_type")}
    columns: dict[tuple[int, int], Row] = {}
    for system in system_relations().values():
        for place, known in enumerate(system.columns, 1):
            name = f"_{known.type[:-2]}" if known.type.endswith("[]") else known.type
            collation = _COLLATIONS[known.collation]
            row = attribute(system.oid, known.name, place, numbers[name], attnotnull=known.always)
            columns[system.oid, place] = row | {"attcollation": collation}
    yield from columns.values()
    for index in builtin_rows("pg_index"):
        for place, column in enumerate(index["indkey"], 1):
            of = columns[index["indrelid"], column]
            type = _CSTRING if of["atttypid"] == _NAME else of["atttypid"]
            made = attribute(index["indexrelid"], of["attname"], place, type)
            yield made | {"attcollation": index["indcollation"][place - 1]}


def _indexes() -> Iterator[Row]:
    names = {row["oid"]: row["relname"] for row in builtin_rows("pg_class")}
    for index in builtin_rows("pg_index"):
        yield {
            "schemaname": "pg_catalog",
            "tablename": names[index["indrelid"]],
            "indexname": names[index["indexrelid"]],
            "indexdef": index["indexdef"],
        }


def _tables() -> Iterator[Row]:
    indexed = {row["oid"] for row in builtin_rows("pg_class") if row["relhasindex"]}
    for system in system_relations().values():
        if system.kind == "r":
            yield {
                "schemaname": system.schema_name,
                "tablename": system.name,
                "tableowner": "admin",
                "hasindexes": system.oid in indexed,
                **dict.fromkeys(("hasrules", "hastriggers", "rowsecurity"), False),
            }


def _views() -> Iterator[Row]:
    for system in system_relations().values():
        if system.kind == "v":
            yield {"schemaname": system.schema_name, "viewname": system.name, "viewowner": "admin"}


_AS_WRITTEN = (
    *("pg_am", "pg_cast", "pg_collation", "pg_constraint", "pg_description", "pg_index", "pg_language"),
    *("pg_namespace", "pg_opclass", "pg_operator", "pg_opfamily", "pg_proc", "pg_range", "pg_tablespace"),
    "pg_type",
)
_MADE: Mapping[str, Callable[[], Iterable[Row]]] = {
    **{name: partial(builtin_rows, name) for name in _AS_WRITTEN},
    "pg_attribute": attributes,
    "pg_class": classes,
    "pg_indexes": _indexes,
    "pg_tables": _tables,
    "pg_views": _views,
}
BUILTIN = frozenset(f"pg_catalog.{name}" for name in _MADE)
"""The relations that have rows of PostgreSQL's own objects."""


@cache
def builtin_table(name: str) -> pa.Table | None:
    """The rows of PostgreSQL's own objects in a relation; None if it has none."""
    return table_of(name, _MADE[name.removeprefix("pg_catalog.")]()) if name in BUILTIN else None


def table_of(name: str, rows: Iterable[Row]) -> pa.Table:
    """The rows of a relation as a table."""
    made, relation = list(rows), system_relations()[name]
    arrays = [
        pa.array([row.get(column.name, column.zero) for row in made], _arrow_type(column.type))
        for column in relation.columns
    ]
    return pa.Table.from_arrays(arrays, [column.name for column in relation.columns])


def _arrow_type(type: str) -> pa.DataType:
    """The type of a column, by PostgreSQL's name of it."""
    if type.endswith("[]"):
        return pa.list_(_ARROW.get(type[:-2], pa.string()))
    return _ARROW.get(type, pa.string())
