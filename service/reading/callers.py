"""Callers: who asks, and whether the answer is still wanted.

What runs for a caller registers how it can be ended. When the caller leaves, all of it is ended.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType

from service.accounts.principals import ANYONE, Principal
from service.reading.query_errors import CallerGone
from service.reading.session_zones import SessionZone, session_zone

NO_SETTINGS: Mapping[str, str] = MappingProxyType({})


class Caller:
    """`address` says with whom the caller shares its turns, `principal` what it may do, `settings` what its
    session has set, by name, and `session` the session's number, 0 for none. Any thread may use a caller."""

    def __init__(
        self,
        address: str = "",
        principal: Principal = ANYONE,
        settings: Mapping[str, str] = NO_SETTINGS,
        session: int = 0,
    ) -> None:
        self.address = address
        self.principal = principal
        self.settings = settings
        self.session = session
        self._lock = threading.Lock()
        self._endings: dict[int, Callable[[], None]] = {}
        self._number = 0
        self._is_gone = False

    @property
    def zone(self) -> SessionZone:
        """The time zone of its session."""
        return session_zone(self.settings.get("timezone", "UTC"))

    @property
    def is_gone(self) -> bool:
        return self._is_gone

    def check(self) -> None:
        """Raises CallerGone if the caller has left."""
        if self._is_gone:
            raise CallerGone

    def leave(self) -> None:
        """Ends what runs for the caller, and all that begins later."""
        with self._lock:
            self._is_gone = True
            endings = list(self._endings.values())
            for end in endings:
                end()

    @contextmanager
    def ending(self, end: Callable[[], None]) -> Iterator[None]:
        """Inside the context, `end` is called if the caller leaves. Raises CallerGone if it has left.

        `end` must neither block nor raise. It is never called after the context.
        """
        with self._lock:
            self.check()
            self._number += 1
            number = self._number
            self._endings[number] = end
        try:
            yield
        finally:
            with self._lock:
                del self._endings[number]
