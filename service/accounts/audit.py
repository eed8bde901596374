"""The audit log: which key changed which definition or account, from where, and with what outcome.

A change writes its entry in its own transaction, so that there is never one without the other: whoever
changes the catalog calls `witness` before the commit. The act travels with the work as a context variable,
from the request to the thread that makes the change. A request that changes nothing gets its entry when it
ends.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass

import sqlalchemy as sa

from service.accounts.account_tables import audit
from service.accounts.principals import Principal
from service.concealing import conceal

DONE = "done"
_LONGEST = 1000
"""The most characters of an action that the log keeps."""

Transaction = Callable[[], AbstractContextManager[sa.Connection]]


@dataclass(eq=False)
class Act:
    """What somebody does. `is_recorded` once the transaction of the change has its entry."""

    principal: Principal
    address: str
    action: str
    is_recorded: bool = False


@dataclass(frozen=True)
class AuditEntry:
    number: int
    at: int
    key: str | None
    name: str | None
    address: str
    action: str
    outcome: str


acting: ContextVar[Act | None] = ContextVar("acting", default=None)


def about(action: str) -> None:
    """Says in words what the current request does, if it is one that the log records."""
    act = acting.get()
    if act is not None:
        act.action = action


def witness(connection: sa.Connection) -> None:
    """Writes the entry of the current act, if there is one, in the transaction of its change."""
    act = acting.get()
    if act is not None and not act.is_recorded:
        record(connection, act, DONE)
        act.is_recorded = True


def record(connection: sa.Connection, act: Act, outcome: str) -> None:
    """Writes an entry."""
    principal = act.principal
    values = {
        "at": time.time_ns() // 1000,
        "key": principal.id or None,
        "name": principal.name or None,
        "address": act.address,
        "action": conceal(act.action[:_LONGEST]),
        "outcome": outcome,
    }
    connection.execute(sa.insert(audit).values(values))


def entries(connection: sa.Connection, since: int, limit: int) -> list[AuditEntry]:
    """The entries after number `since`, the oldest first, at most `limit`."""
    query = sa.select(audit).where(audit.c.number > since).order_by(audit.c.number).limit(limit)
    return [AuditEntry(**row._mapping) for row in connection.execute(query)]
