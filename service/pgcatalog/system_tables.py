"""The catalogs as tables for queries: each is made when a query first reads it, and kept until what it is
made from changes. What changes all the time, or differs from session to session, is made for each query."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from dataclasses import replace
from types import MappingProxyType

import pyarrow as pa

from engine.schema import BIGINT, BOOLEAN, TEXT, Type
from planner.catalog_queries import CatalogSession, Signal
from planner.catalog_queries.system_catalog import CatalogRelation
from service.pgcatalog import catalog_lookups, view_rows
from service.pgcatalog.builtin_objects import OIDS, Row, SystemRelation, system_relations
from service.pgcatalog.catalog_description import CatalogDescription
from service.pgcatalog.catalog_lookups import LOOKUPS
from service.pgcatalog.class_rows import CLASS_ROWS
from service.pgcatalog.constraint_rows import CONSTRAINT_ROWS
from service.pgcatalog.information_rows import INFORMATION_ROWS
from service.pgcatalog.role_rows import ROLE_ROWS
from service.pgcatalog.session_rows import SESSION_ROWS
from service.pgcatalog.type_rows import TYPE_ROWS
from service.pgcatalog.view_rows import VIEW_ROWS

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
_OF_LOOKUPS: Mapping[Type, pa.DataType] = {BIGINT: pa.int64(), TEXT: pa.string(), BOOLEAN: pa.bool_()}

FILLED: Mapping[str, Callable[[CatalogDescription], Iterator[Row]]] = {
    **{
        f"pg_catalog.{name}": rows
        for group in (CLASS_ROWS, TYPE_ROWS, CONSTRAINT_ROWS, ROLE_ROWS, SESSION_ROWS, VIEW_ROWS)
        for name, rows in group.items()
    },
    **{f"information_schema.{name}": rows for name, rows in INFORMATION_ROWS.items()},
}
"""What makes the rows of a relation. A relation of PostgreSQL's that is not here is empty."""
_FRESH = catalog_lookups.FRESH | {f"pg_catalog.{name}" for name in (*view_rows.FRESH, *SESSION_ROWS)}
"""What is never kept."""


class SystemTables:
    """The catalogs that one description fills. `signal` sends a signal to the session with a number, and says
    whether there is one. Any thread may use it."""

    def __init__(self, description: CatalogDescription, signal: Callable[[int, Signal], bool]) -> None:
        self.description = description
        self.signal = signal
        self._tables: dict[str, pa.Table] = {}
        self._numbers: dict[str, dict[str, int]] = {}

    def of(self, session: CatalogSession) -> SystemTables:
        """The same catalogs for another session of the user with the same search path."""
        found = copy(self)
        found.description = replace(self.description, session=session)
        return found

    @property
    def session(self) -> CatalogSession:
        return self.description.session

    @property
    def relations(self) -> Mapping[str, CatalogRelation]:
        return RELATIONS

    @property
    def oid_columns(self) -> frozenset[str]:
        return _OID_COLUMNS

    def number(self, kind: str, name: str) -> int | None:
        """The OID that a name means, as it is written: `public."Orders"`."""
        numbers = self._numbers.get(kind)
        if numbers is None:
            numbers = self._numbers[kind] = (
                dict(LOOKUPS[f"pg_catalog.#to_{kind}"].rows(self.description))
                if f"pg_catalog.#to_{kind}" in LOOKUPS
                else {}
            )
        return numbers.get(name) or numbers.get(name if '"' in name else name.lower().strip())

    def table(self, name: str, columns: Iterable[str] | None = None) -> pa.Table:
        """The rows of a relation or a lookup; only the columns whose lower-case names are given, but one at
        least."""
        found = self._tables.get(name)
        if found is None:
            found = self._made(name)
            if name not in _FRESH:
                self._tables[name] = found
        if columns is None:
            return found
        wanted = set(columns)
        return found.select([c for c in found.column_names if c.lower() in wanted] or found.column_names[:1])

    def _made(self, name: str) -> pa.Table:
        lookup = LOOKUPS.get(name)
        if lookup is not None:
            rows = list(lookup.rows(self.description))
            arrays = [
                pa.array([row[place] for row in rows], _OF_LOOKUPS.get(type, pa.list_(pa.string())))
                for place, type in enumerate(lookup.columns.values())
            ]
            return pa.Table.from_arrays(arrays, list(lookup.columns))
        relation = system_relations()[name]
        make = FILLED.get(name)
        return _table(relation, () if make is None else make(self.description))


def _table(relation: SystemRelation, rows: Iterable[Row]) -> pa.Table:
    made = list(rows)
    arrays = [
        pa.array([row.get(column.name, column.zero) for row in made], arrow_type(column.type))
        for column in relation.columns
    ]
    return pa.Table.from_arrays(arrays, [column.name for column in relation.columns])


def arrow_type(type: str) -> pa.DataType:
    """The type of a column, by PostgreSQL's name of it."""
    if type.endswith("[]"):
        return pa.list_(_ARROW.get(type[:-2], pa.string()))
    return _ARROW.get(type, pa.string())


RELATIONS: Mapping[str, CatalogRelation] = MappingProxyType({**system_relations(), **LOOKUPS})
"""Every relation of the catalogs, and every lookup."""
_OID_COLUMNS = frozenset(
    column.name
    for relation in system_relations().values()
    for column in relation.columns
    if column.type in OIDS
)
