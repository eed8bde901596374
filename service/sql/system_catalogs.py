"""The system catalogs as each principal sees them, kept as long as definitions, types and accounts stay."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from planner.catalog_queries import CatalogSession
from planner.parsing.namespace import SearchPath
from planner.relation_names import DATABASE
from service.accounts.known_accounts import KnownAccounts
from service.accounts.principals import Principal
from service.concealing import conceal
from service.definitions.known_relations import KnownRelations
from service.pgcatalog.catalog_description import described
from service.pgcatalog.server_settings import VERSION
from service.pgcatalog.system_tables import SystemTables
from service.running.runtime import Runtime

_log = logging.getLogger("freshet.queries")
_KEPT = 16
"""Catalogs that are kept, each of one principal and session."""
_LOGGED = 4_000
"""Characters of a query."""
_VERSION = f"PostgreSQL {VERSION} (Freshet)"
"""What `version()` says: drivers read the number after the first word."""


@dataclass(frozen=True, eq=False)
class _Source:
    """What a catalog was made from, and for whom."""

    known: KnownRelations
    types: object
    accounts: KnownAccounts
    schemas: Mapping[str, int]
    principal: Principal
    session: CatalogSession

    def is_same(self, other: _Source) -> bool:
        return (
            self.known is other.known
            and self.types is other.types
            and self.accounts is other.accounts
            and self.schemas == other.schemas
            and self.principal.has_rights_of(other.principal)
            and self.session == other.session
        )


class SystemCatalogs:
    """Any thread may use it."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._started = datetime.now(UTC).isoformat(" ")
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, str], tuple[_Source, SystemTables]] = OrderedDict()

    def of(self, principal: Principal, path: SearchPath, settings: Mapping[str, str]) -> SystemTables:
        """The catalogs for a principal whose session has a search path and settings."""
        runtime, accounts = self._runtime, self._runtime.accounts.known
        user = principal.name or settings.get("session_authorization") or DATABASE
        session = CatalogSession(user, DATABASE, _VERSION, path, settings, self._started)
        known, schemas = runtime.readable.known, runtime.schemas()
        source = _Source(known, runtime.types(), accounts, schemas, principal, session)
        place = (principal.id, session.user)
        with self._lock:
            kept = self._kept.get(place)
            if kept is not None and kept[0].is_same(source):
                self._kept.move_to_end(place)
                return kept[1]
        tables = SystemTables(
            described(
                source.known, runtime.types(), source.accounts, principal, session, runtime.size, schemas
            )
        )
        with self._lock:
            self._kept[place] = (source, tables)
            self._kept.move_to_end(place)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return tables


@contextmanager
def failures_logged(sql: str) -> Iterator[None]:
    """Logs a query of the catalogs that fails, so that the tool that sends it can be made to work."""
    try:
        yield
    except Exception as error:
        text = conceal(" ".join(sql.split()))[:_LOGGED]
        _log.warning("a query of the system catalogs has failed: %s: %s", conceal(str(error)), text)
        raise
