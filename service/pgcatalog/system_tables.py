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
from service.pgcatalog.builtin_objects import OIDS, Row, system_relations
from service.pgcatalog.builtin_tables import BUILTIN, builtin_table, table_of
from service.pgcatalog.catalog_description import CatalogDescription
from service.pgcatalog.catalog_lookups import LOOKUPS
from service.pgcatalog.class_rows import CLASS_ROWS
from service.pgcatalog.constraint_rows import CONSTRAINT_ROWS
from service.pgcatalog.function_rows import FUNCTION_ROWS
from service.pgcatalog.information_rows import INFORMATION_ROWS
from service.pgcatalog.role_rows import ROLE_ROWS
from service.pgcatalog.session_rows import SESSION_ROWS
from service.pgcatalog.type_rows import TYPE_ROWS
from service.pgcatalog.view_rows import VIEW_ROWS

_OF_LOOKUPS: Mapping[Type, pa.DataType] = {BIGINT: pa.int64(), TEXT: pa.string(), BOOLEAN: pa.bool_()}

OWN_ROWS: Mapping[str, Callable[[CatalogDescription], Iterator[Row]]] = {
    **{
        f"pg_catalog.{name}": rows
        for group in (
            CLASS_ROWS,
            TYPE_ROWS,
            FUNCTION_ROWS,
            CONSTRAINT_ROWS,
            ROLE_ROWS,
            SESSION_ROWS,
            VIEW_ROWS,
        )
        for name, rows in group.items()
    },
    **{f"information_schema.{name}": rows for name, rows in INFORMATION_ROWS.items()},
}
"""What makes the rows of a service's own objects in a relation."""
FILLED = BUILTIN.union(OWN_ROWS)
"""The relations that have rows; any other of PostgreSQL's is empty."""
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

    def column_types(self, relation: str) -> Iterable[tuple[str, str]]:
        """The columns of a relation, with PostgreSQL's names of their types."""
        known = system_relations().get(relation)
        return [] if known is None else [(column.name, column.type) for column in known.columns]

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
        make = OWN_ROWS.get(name)
        own = table_of(name, () if make is None else make(self.description))
        shared = builtin_table(name)
        return own if shared is None else pa.concat_tables([shared, own])


RELATIONS: Mapping[str, CatalogRelation] = MappingProxyType({**system_relations(), **LOOKUPS})
"""Every relation of the catalogs, and every lookup."""
_OID_COLUMNS = frozenset(
    column.name
    for relation in system_relations().values()
    for column in relation.columns
    if column.type in OIDS
)
