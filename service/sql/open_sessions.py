"""The sessions that are open, as others see them: who may look at one, cancel what it runs, and end it.

An admin may do so with every session, others with those of their own key.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Protocol

from planner.catalog_queries import Signal
from service.accounts.principals import Principal
from service.errors import Forbidden
from service.pgcatalog.shown_sessions import SessionWork, ShownSession

_SECRET = 4
"""Bytes of a secret, as protocol 3.0 has them."""


@dataclass(frozen=True)
class CancelKey:
    pid: int
    secret: bytes


class OpenSession(Protocol):
    """`work` may be asked for by any thread; the rest belongs to the event loop."""

    @property
    def principal(self) -> Principal: ...

    @property
    def work(self) -> SessionWork: ...

    def cancel(self) -> None:
        """Cancels the statement that runs, if one does."""

    def terminate(self) -> None:
        """Ends the session, whatever it does."""


class OpenSessions:
    """The event loop registers sessions and forgets them; any thread may ask for them and signal them."""

    def __init__(self) -> None:
        self._open: dict[int, tuple[bytes, OpenSession]] = {}
        self._numbers = count(1)
        self._loop: asyncio.AbstractEventLoop | None = None

    def __len__(self) -> int:
        return len(self._open)

    def register(self, session: OpenSession) -> CancelKey:
        """The key by which another connection can cancel what the session runs."""
        self._loop = asyncio.get_running_loop()
        key = CancelKey(next(self._numbers) % (1 << 31), secrets.token_bytes(_SECRET))
        self._open[key.pid] = key.secret, session
        return key

    def forget(self, key: CancelKey) -> None:
        self._open.pop(key.pid, None)

    def cancel(self, key: CancelKey) -> None:
        """Cancels what a session runs if the secret is right; nobody learns whether it was."""
        secret, session = self._open.get(key.pid, (b"\0" * _SECRET, None))
        if hmac.compare_digest(secret, key.secret) and session is not None:
            session.cancel()

    def seen_by(self, principal: Principal) -> Sequence[ShownSession]:
        return [
            ShownSession(pid, session.work if _may(principal, session) else None)
            for pid, (_, session) in list(self._open.items())
        ]

    def signal(self, pid: int, signal: Signal, principal: Principal) -> bool:
        """Sends the signal; False if no session has the number. Raises Forbidden."""
        _, session = self._open.get(pid, (b"", None))
        if session is None or self._loop is None:
            return False
        if not _may(principal, session):
            what = "cancel a statement" if signal is Signal.CANCEL else "end a session"
            raise Forbidden(
                f"only an admin may {what} of another key",
                "connect with that key, or as an admin",
            )
        send = session.cancel if signal is Signal.CANCEL else session.terminate
        self._loop.call_soon_threadsafe(send)
        return True


def _may(principal: Principal, session: OpenSession) -> bool:
    return principal.is_admin or principal.id == session.principal.id
