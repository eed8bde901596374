"""COPY: the sub-protocol in both directions, and what is done with the data.

Into a table, the whole body is taken first, within the budget of a body, and becomes one epoch, or a part of
the block. Out of a query, rows go piece by piece, as fast as the client reads. A COPY of a SUBSCRIBE has no
end but UP TO, or a cancel.
"""

from __future__ import annotations

from typing import Protocol

import pyarrow as pa

from planner.errors import Unsupported
from planner.parsing.script import Piece
from planner.statements.show_create import relation_text
from planner.suggestions import did_you_mean
from service.accounts.privileges import Privilege
from service.changes.table_changes import TableChanges
from service.definitions.definition import Definition
from service.errors import Invalid
from service.pgformats.data_rows import AnswerRows
from service.pgformats.wire_types import BINARY
from service.postgres import backend_messages as out
from service.postgres import frontend_messages as f
from service.postgres.client_session import ClientSession
from service.postgres.copy_bodies import changes_of_copy
from service.postgres.copy_statements import Copy, CopyFormat, copy_of
from service.postgres.copy_texts import (
    BYTES,
    END,
    HEAD,
    binary_rows,
    column_texts,
    format_of,
    lines,
    messages,
)
from service.postgres.session_readers import session_statement
from service.postgres.session_statements import SubscribeStatement
from service.running.process_memory import LARGE
from service.settings.budget import too_large

_PIECE = 10_000
"""Rows that are written together."""


class CopyInlet(Protocol):
    """Where the data comes from."""

    async def next(self) -> f.Frontend | f.Startup | None: ...


async def run_copy(session: ClientSession, piece: Piece, inlet: CopyInlet) -> str:
    """Runs a COPY. Returns its tag."""
    copy = copy_of(piece)
    if copy.is_from:
        return f"COPY {await _copy_in(session, copy, piece, inlet)}"
    if copy.query is not None and isinstance(session_statement(copy.query), SubscribeStatement):
        return f"COPY {await _copy_changes(session, copy.query, copy.format)}"
    return f"COPY {await _copy_out(session, copy)}"


# In


async def _copy_in(session: ClientSession, copy: Copy, piece: Piece, inlet: CopyInlet) -> int:
    runs = session.runs
    runtime, principal = runs.runtime, runs.principal
    assert principal is not None
    name = runs.relation(copy.schema, copy.relation)
    principal.require(Privilege.INSERT, name)
    definition = runtime.definition(name, view=False)
    places = _places(copy, definition)
    if copy.format.kind == "CSV" and copy.format.escape != copy.format.quote:
        raise Unsupported(
            "COPY FROM with an ESCAPE other than the QUOTE is not supported",
            "write a quote inside a quoted field twice",
            *piece.place(),
        )
    if runs.block is not None:
        runs.block.must_write()
    runtime.must_lead()
    form = format_of(copy.format)
    session.outlet.write(out.copy_response(b"G", form, len(places)))
    body = await _received(session, inlet)
    budget, dictionary = session.hall.settings.budget, runtime.dictionary
    with runs.calling() as caller, dictionary.holding():
        changes = await session.hall.lanes.planning.run(
            changes_of_copy,
            body,
            copy.format,
            definition,
            places,
            dictionary,
            budget,
            session.settings.zone,
        )
        caller.check()
        await _apply(session, definition, changes, len(body))
    return len(changes)


async def _apply(session: ClientSession, definition: Definition, changes: TableChanges, size: int) -> None:
    """Makes the changes an epoch, or a part of the block."""
    runs = session.runs
    if runs.block is None:
        await runs.runtime.apply({definition.name: changes}, size=size)
    else:
        await session.hall.lanes.planning.run(runs.block.apply, {definition.name: changes})


async def _received(session: ClientSession, inlet: CopyInlet) -> bytes:
    """The whole body. After an error, the rest of it is read and dropped, as the protocol wants it."""
    most = session.hall.settings.body_limit
    parts: list[bytes] = []
    size = 0
    while True:
        await session.outlet.drain()
        message = await inlet.next()
        match message:
            case f.CopyData(data=data):
                size += len(data)
                if size > most:
                    raise too_large(most)
                if size > LARGE:
                    session.runs.runtime.memory.check("a large COPY")
                parts.append(data)
            case f.CopyDone():
                return b"".join(parts)
            case f.CopyFail(reason=reason):
                raise Invalid(f"the client has ended the COPY: {reason[:200]}", code="copy_cancelled")
            case f.Flush() | f.Sync():
                continue
            case None | f.Terminate():
                raise ConnectionResetError
            case _:
                raise f.Malformed(f"a message {type(message).__name__} is out of place in a COPY")


def _places(copy: Copy, definition: Definition) -> tuple[int, ...]:
    """The columns of a COPY. Raises Invalid for an unknown one, and for one that is named twice."""
    schema = definition.schema
    for number, name in enumerate(copy.columns):
        if name not in schema.names:
            raise Invalid(
                f'table "{definition.name}" has no column "{name}"',
                did_you_mean(name, schema.names),
                code="unknown_column",
            )
        if name in copy.columns[:number]:
            raise Invalid(f"column {name} is named twice", code="duplicate_column")
    if copy.columns:
        return tuple(schema.index(name) for name in copy.columns)
    generated = () if definition.filling is None else definition.filling.generated
    return tuple(place for place in range(len(schema)) if place not in generated)


# Out


async def _copy_out(session: ClientSession, copy: Copy) -> int:
    piece = copy.query or await _query(session, copy)
    result = await session.runs.run(piece, session.parameters)
    if result.answer is None:
        raise Invalid("the statement inside COPY returns no rows", "add RETURNING", code="invalid_query")
    rows = AnswerRows.of(result.answer)
    sending = CopySending(session, copy.format, rows)
    for start in range(0, rows.size, _PIECE):
        await sending.send(rows, start, min(start + _PIECE, rows.size))
    sending.end()
    return rows.size


async def _query(session: ClientSession, copy: Copy) -> Piece:
    """The query for the rows of a relation, in the order of its columns."""
    quoted = ['"' + name.replace('"', '""') + '"' for name in copy.columns]
    relation = relation_text(session.runs.relation(copy.schema, copy.relation))
    (piece,) = await session.runs.pieces(f"SELECT {', '.join(quoted) or '*'} FROM {relation}")
    return piece


class CopySending:
    """Sends rows, each in a message. `rows` have the columns of all that follow."""

    def __init__(self, session: ClientSession, form: CopyFormat, rows: AnswerRows) -> None:
        self._session = session
        self._form = form
        self._is_binary = form.kind == "BINARY"
        names = [column.name for column in rows.columns]
        self._columns = column_texts(form, names)
        self._head = HEAD if self._is_binary else b""
        session.outlet.write(out.copy_response(b"H", format_of(form), len(names)))
        if form.header:
            line = lines(form, self._columns, [pa.array([name.encode()], BYTES) for name in names])
            session.outlet.write(messages(line))

    async def send(self, rows: AnswerRows, start: int, stop: int) -> None:
        """Sends the rows from `start` to `stop`, and waits until the client has read most of them."""
        data = await self._session.hall.lanes.answers.run(self._messages, rows, start, stop)
        self._session.outlet.write(data)
        await self._session.outlet.drain()

    async def send_shared(self, rows: AnswerRows) -> None:
        """Sends all rows, which other clients are sent too: the bytes are made once for all whose sessions
        have the same time zone."""
        if self._head:
            await self.send(rows, 0, rows.size)
            return
        shared, key = self._session.hall.shared, (self._form, self._session.settings.zone)
        data = await shared.once(rows.answer, key, lambda: self._messages(rows, 0, rows.size))
        self._session.outlet.write(data)
        await self._session.outlet.drain()

    def _messages(self, rows: AnswerRows, start: int, stop: int) -> bytes:
        zone = self._session.settings.zone
        if not self._is_binary:
            return messages(lines(self._form, self._columns, rows.texts(start, stop, zone)))
        written = binary_rows(rows.fields((BINARY,) * len(rows.columns), start, stop, zone))
        if written:
            written[0], self._head = self._head + written[0], b""
        return b"".join(map(out.copy_data, written))

    def end(self) -> None:
        end = out.copy_data(self._head + END) if self._form.kind == "BINARY" else b""
        self._session.outlet.write(end + out.COPY_DONE)


async def _copy_changes(session: ClientSession, piece: Piece, form: CopyFormat) -> int:
    """Sends changes until UP TO is reached, or the statement is cancelled."""
    subscription = await session.subscription(piece)
    sent = 0
    try:
        with session.runs.calling() as caller:
            first = AnswerRows.of(await subscription.take(0, 0, caller), subscription.columns)
            sending = CopySending(session, form, first)
            await session.outlet.drain()  # changes may be long in coming
            while not subscription.is_done:
                rows = AnswerRows(await subscription.take(_PIECE, None, caller), subscription.columns)
                await sending.send_shared(rows)
                sent += rows.size
        sending.end()
    finally:
        subscription.close()
    return sent
