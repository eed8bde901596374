"""The system catalogs as each principal sees them, kept as long as definitions, types and accounts stay."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from planner.catalog_queries import CatalogSession, Signal
from planner.parsing.namespace import SearchPath
from planner.parsing.vocabulary import Vocabulary
from planner.relation_names import DATABASE
from service.accounts.known_accounts import KnownAccounts
from service.accounts.principals import Principal
from service.concealing import conceal
from service.definitions.known_relations import KnownRelations
from service.pgcatalog.catalog_description import described
from service.pgcatalog.server_settings import VERSION
from service.pgcatalog.system_tables import SystemTables
from service.reading.callers import Caller
from service.running.runtime import Runtime
from service.running.timeline import Timeline
from service.sql.open_sessions import OpenSessions

_log = logging.getLogger("freshet.queries")
_KEPT = 16
"""Catalogs that are kept, each of one principal and search path."""
_LOGGED = 4_000
"""Characters of a query."""
_VERSION = f"PostgreSQL {VERSION} (Freshet)"
"""What `version()` says: drivers read the number after the first word."""


@dataclass(frozen=True, eq=False)
class _Source:
    """What a catalog was made from, and for whom."""

    known: KnownRelations
    vocabulary: Vocabulary
    accounts: KnownAccounts
    schemas: Mapping[str, int]
    comments: Mapping[int, str]
    principal: Principal

    def is_same(self, other: _Source) -> bool:
        return (
            self.known is other.known
            and self.vocabulary is other.vocabulary
            and self.accounts is other.accounts
            and self.schemas == other.schemas
            and self.comments == other.comments
            and self.principal.has_rights_of(other.principal)
        )


class SystemCatalogs:
    """Any thread may use it. Sessions of one principal share what is kept, whatever else they have set."""

    def __init__(self, runtime: Runtime, sessions: OpenSessions) -> None:
        self._runtime = runtime
        self._sessions = sessions
        self._started = datetime.now(UTC).isoformat(" ")
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple, tuple[_Source, SystemTables]] = OrderedDict()

    def of(self, caller: Caller, path: SearchPath, timeline: Timeline) -> SystemTables:
        """The catalogs of a timeline for a caller whose session has a search path."""
        runtime, principal = self._runtime, caller.principal
        user = user_of(principal, caller.settings)
        session = CatalogSession(
            user, DATABASE, _VERSION, path, caller.settings, self._started, caller.session
        )
        vocabulary, schemas = runtime.vocabulary(), runtime.schemas()
        known, accounts, comments = timeline.readable.known, runtime.accounts.known, runtime.schema_comments()
        source = _Source(known, vocabulary, accounts, schemas, comments, principal)
        place = (principal.id, user, tuple(path), timeline.name)
        with self._lock:
            kept = self._kept.get(place)
            if kept is not None and kept[0].is_same(source):
                self._kept.move_to_end(place)
                return kept[1].of(session)
        tables = SystemTables(
            described(
                source.known,
                vocabulary,
                source.accounts,
                principal,
                session,
                timeline.size,
                schemas,
                partial(self._sessions.seen_by, principal),
                {name: comments[number] for name, number in schemas.items() if number in comments},
            ),
            partial(self._signal, principal),
        )
        with self._lock:
            self._kept[place] = (source, tables)
            self._kept.move_to_end(place)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return tables

    def _signal(self, principal: Principal, pid: int, signal: Signal) -> bool:
        return self._sessions.signal(pid, signal, principal)


def user_of(principal: Principal, settings: Mapping[str, str]) -> str:
    """The user that a session has to PostgreSQL's clients."""
    return principal.name or settings.get("session_authorization") or DATABASE


@contextmanager
def failures_logged(sql: str) -> Iterator[None]:
    """Logs a query of the catalogs that fails, so that the tool that sends it can be made to work."""
    try:
        yield
    except Exception as error:
        text = conceal(" ".join(sql.split()))[:_LOGGED]
        _log.warning("a query of the system catalogs has failed: %s: %s", conceal(str(error)), text)
        raise
