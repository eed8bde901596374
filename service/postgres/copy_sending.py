"""How the rows of COPY TO become messages, and the sending of them to one client."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from service.pgformats.data_rows import AnswerRows
from service.pgformats.wire_types import BINARY, WireColumn
from service.postgres import backend_messages as out
from service.postgres.client_session import ClientSession
from service.postgres.copy_statements import CopyFormat
from service.postgres.copy_texts import (
    BYTES,
    END,
    HEAD,
    ColumnText,
    binary_rows,
    column_texts,
    format_of,
    lines,
    messages,
)
from service.reading.session_zones import SessionZone

PIECE = 10_000
"""Rows that are written together."""


@dataclass(frozen=True)
class CopyMessages:
    """The messages of rows with these columns, for every session with the time zone. Any thread may ask."""

    form: CopyFormat
    columns: tuple[WireColumn, ...]
    zone: SessionZone

    @cached_property
    def _texts(self) -> list[ColumnText]:
        return column_texts(self.form, self._names)

    @property
    def _names(self) -> list[str]:
        return [column.name for column in self.columns]

    def beginning(self) -> bytes:
        """The messages before the rows."""
        begin = out.copy_response(b"H", format_of(self.form), len(self.columns))
        if not self.form.header:
            return begin
        names = [pa.array([name.encode()], BYTES) for name in self._names]
        return begin + messages(lines(self.form, self._texts, names))

    def of(self, rows: AnswerRows, start: int, stop: int) -> bytes:
        """The rows from `start` to `stop`, each in a message."""
        if self.form.kind != "BINARY":
            return messages(lines(self.form, self._texts, rows.texts(start, stop, self.zone)))
        fields = rows.fields((BINARY,) * len(self.columns), start, stop, self.zone)
        return b"".join(map(out.copy_data, binary_rows(fields)))


class CopySending:
    """Sends rows to a session's client. In the binary format the head travels with the first of them."""

    def __init__(self, session: ClientSession, form: CopyFormat, columns: Sequence[WireColumn]) -> None:
        self._session = session
        self._head = HEAD if form.kind == "BINARY" else b""
        self.messages = CopyMessages(form, tuple(columns), session.settings.zone)
        session.outlet.write(self.messages.beginning())

    async def send(self, rows: AnswerRows) -> None:
        """Sends the rows piece by piece, as fast as the client reads."""
        session = self._session
        for start in range(0, rows.size, PIECE):
            stop = min(start + PIECE, rows.size)
            data = await session.hall.lanes.answers.run(self.messages.of, rows, start, stop)
            session.outlet.write(self._headed(data))
            await session.outlet.drain()

    def send_made(self, data: bytes) -> bool:
        """Sends the messages of some rows, without waiting. Returns whether the client has read most of all
        that was sent."""
        return self._session.outlet.send(self._headed(data))

    def end(self) -> None:
        end = out.copy_data(self._head + END) if self.messages.form.kind == "BINARY" else b""
        self._session.outlet.write(end + out.COPY_DONE)

    def _headed(self, data: bytes) -> bytes:
        """The messages of rows, of which the first gets the head if it was not sent yet."""
        if not self._head:
            return data
        size = int.from_bytes(data[1:5], "big")
        first = out.copy_data(self._head + data[5 : size + 1])
        self._head = b""
        return first + data[size + 1 :]
