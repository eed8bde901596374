"""Departures: the answers that one turn of the event loop makes leave together, at its end.

The writer answers many requests at once. If each answer left when it is made, it would wake a client that has
gone to sleep since the last one, which costs the event loop several times the sending itself.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

_log = logging.getLogger("freshet.http")


class Departures:
    """Used in one event loop."""

    def __init__(self) -> None:
        self._waiting: list[Callable[[], None]] = []

    def add(self, depart: Callable[[], None]) -> None:
        """Calls `depart` behind everything that the loop already has to do."""
        if not self._waiting:
            asyncio.get_running_loop().call_soon(self._leave)
        self._waiting.append(depart)

    def _leave(self) -> None:
        leaving, self._waiting = self._waiting, []
        for depart in leaving:
            try:
                depart()
            except Exception:
                _log.exception("an answer could not be sent")
