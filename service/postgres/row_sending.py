"""Sending rows: a portal's, piece by piece, as fast as the client reads."""

from __future__ import annotations

from typing import Protocol

from service.pgformats.data_rows import AnswerRows
from service.reading.lanes import Lanes
from service.reading.session_zones import SessionZone

_PIECE = 2_000
"""Rows that are written together."""
_AT_ONCE = 200
"""Rows that are so few that they are written on the event loop."""


class Outlet(Protocol):
    """Where messages go. `write` gathers them; `drain` sends them and waits until the client has read most of
    them, and raises ConnectionError if it is gone. `send` sends them without waiting, and returns whether
    `drain` would not wait either."""

    def write(self, data: bytes) -> None: ...

    def send(self, data: bytes) -> bool: ...

    async def drain(self) -> None: ...


async def send_rows(
    rows: AnswerRows,
    formats: tuple[int, ...],
    start: int,
    stop: int,
    zone: SessionZone,
    outlet: Outlet,
    lanes: Lanes,
) -> None:
    """Sends the rows from `start` to `stop` as DataRow messages, to a session of a time zone."""
    if stop - start <= _AT_ONCE:
        outlet.write(rows.messages(formats, start, stop, zone))
        return
    for first in range(start, stop, _PIECE):
        last = min(first + _PIECE, stop)
        outlet.write(await lanes.answers.run(rows.messages, formats, first, last, zone))
        await outlet.drain()
