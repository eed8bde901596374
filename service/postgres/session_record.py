"""The record that a session keeps of what it does, for pg_stat_activity."""

from __future__ import annotations

import time

_SHOWN = 1024
"""Characters of a query that others see, as PostgreSQL's track_activity_query_size has it."""


class SessionRecord:
    """The event loop writes it, any thread reads it. Times are seconds since 1970."""

    def __init__(self) -> None:
        self.began = self.changed = time.time()
        self.is_active = False
        self.query_began: float | None = None
        self._query = ""

    def begin(self, query: str) -> None:
        """A statement begins to run."""
        self._query, self.is_active = query, True
        self.query_began = self.changed = time.time()

    def rest(self) -> None:
        """The session waits for its client."""
        self.is_active = False
        self.changed = time.time()

    @property
    def query(self) -> str:
        """What runs, or ran last."""
        return self._query[:_SHOWN]
