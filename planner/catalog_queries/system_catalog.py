"""What a rewriting has to know of the system catalogs: their columns, names and OIDs, and the session.

Relations of the catalogs are called `pg_catalog.pg_class`. Beside them stand lookups, which are relations
too: `pg_catalog.#regclass` and its like have the columns `#key` and `#value`, so that no name of a user's
query means them. No user has relations in these schemas.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from engine.schema import Schema
from planner.relation_names import CATALOG, INFORMATION

SCHEMAS = (CATALOG, INFORMATION)


class CatalogRelation(Protocol):
    """A relation of the catalogs, or a lookup."""

    @property
    def schema(self) -> Schema: ...

    @property
    def period(self) -> None: ...


@dataclass(frozen=True)
class CatalogSession:
    """Who asks, and with which settings (by lower-case name). `search_path` names schemas of the user's;
    `pid` is the number of the session, 0 for a request over HTTP."""

    user: str
    database: str
    version: str
    search_path: tuple[str, ...] = ("public",)
    settings: Mapping[str, str] = field(default_factory=dict)
    started: str = "1970-01-01 00:00:00+00"
    """When the service started, as a TIMESTAMPTZ."""
    pid: int = 0

    @property
    def schema(self) -> str | None:
        """The schema of names without one."""
        return next(iter(self.search_path), None)


class SystemCatalog(Protocol):
    """`relations` has the relations of the catalogs, and lookups."""

    @property
    def relations(self) -> Mapping[str, CatalogRelation]: ...

    @property
    def session(self) -> CatalogSession: ...

    @property
    def oid_columns(self) -> frozenset[str]:
        """The names of all columns of OIDs."""
        ...

    def column_types(self, relation: str) -> Iterable[tuple[str, str]]:
        """The columns of a relation, with PostgreSQL's names of their types."""
        ...

    def number(self, kind: str, name: str) -> int | None:
        """The OID that `name::kind` means, such as `'orders'::regclass`; None if there is no such object."""
        ...
