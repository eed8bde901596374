"""Rows about the sessions of PostgreSQL's protocol: what each does, and whether it is encrypted.

A request over HTTP is in no session. Where it asks, it has a row of its own, with the number 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from service.pgcatalog.builtin_objects import Row
from service.pgcatalog.catalog_description import CatalogDescription
from service.pgcatalog.object_numbers import DATABASE
from service.pgcatalog.shown_sessions import Encryption, SessionWork

_HIDDEN = "<insufficient privilege>"
"""What PostgreSQL says in place of a query that the asking user may not see."""
_LISTENING = {"wait_event_type": "Client", "wait_event": "ClientRead"}
_KIND = "client backend"


def _activity(catalog: CatalogDescription) -> Iterator[Row]:
    database = {"datid": DATABASE, "datname": catalog.session.database}
    for session in catalog.sessions():
        yield {**database, "pid": session.pid, **_work(session.work, catalog)}
    if not catalog.session.pid:
        user = catalog.session.user
        state = {"usename": user, "usesysid": _number(user, catalog), "state": "active"}
        yield {**database, "pid": 0, **state, "backend_type": _KIND}


def _work(work: SessionWork | None, catalog: CatalogDescription) -> Row:
    if work is None:
        return {"query": _HIDDEN}
    return {
        "usesysid": _number(work.user, catalog),
        "usename": work.user,
        "application_name": work.application,
        "client_addr": work.address or None,
        "client_port": work.port,
        "backend_start": _moment(work.began),
        "xact_start": _moment(work.block_began),
        "query_start": _moment(work.query_began),
        "state_change": _moment(work.changed),
        **({} if work.state == "active" else _LISTENING),
        "state": work.state,
        "query": work.query,
        "backend_type": _KIND,
    }


def _number(user: str, catalog: CatalogDescription) -> int | None:
    role = catalog.role(user)
    return None if role is None else role.oid


def _moment(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def _encryption(catalog: CatalogDescription) -> Iterator[Row]:
    for session in catalog.sessions():
        if session.work is not None:
            yield {"pid": session.pid, **_encrypted(session.work.encryption)}
    if not catalog.session.pid:
        yield {"pid": 0, "ssl": False}


def _encrypted(encryption: Encryption | None) -> Row:
    if encryption is None:
        return {"ssl": False}
    used = {"version": encryption.protocol, "cipher": encryption.cipher, "bits": encryption.bits}
    return {"ssl": True, **used}


SESSION_ROWS = {"pg_stat_activity": _activity, "pg_stat_ssl": _encryption}
