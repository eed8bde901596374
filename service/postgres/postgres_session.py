"""The protocol after the start-up: simple and extended queries, errors and the way back to Sync.

Statements of one message, and those up to a Sync, are one block, unless BEGIN opens another. A statement
whose Sync has arrived with it commits by itself.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Protocol

from service.concealing import conceal
from service.errors import Invalid, Problem, as_seen, problem_of
from service.pgformats.wire_types import BY_OID, WireColumn, WireType
from service.postgres import backend_messages as out
from service.postgres import frontend_messages as f
from service.postgres.client_session import ClientSession
from service.postgres.parameter_values import bound
from service.postgres.prepared_statements import Portal, PreparedStatement
from service.postgres.sqlstates import CANCELED, error_fields, problem_for, sqlstate_of, unwrapped
from service.problems import INTERNAL
from service.reading.query_errors import CallerGone

_log = logging.getLogger("freshet.postgres")
_LOGGED = 2_000
"""Characters of a statement in the log."""


class Inlet(Protocol):
    """Where messages come from."""

    async def next(self) -> f.Frontend | None:
        """The next message; None at the end of the connection. Raises Malformed and TooLong."""

    def peek(self, place: int = 0) -> f.Frontend | None:
        """The message after so many others, if it has arrived."""


class PostgresSession:
    """Serves a session's messages until its client leaves."""

    def __init__(self, session: ClientSession, inlet: Inlet) -> None:
        self._session = session
        self._inlet = inlet
        self._skips = False
        """Whether messages are ignored until the next Sync."""
        self._waits = False

    @property
    def is_between(self) -> bool:
        """Whether the session waits for the first message of a statement."""
        return self._waits and not self._skips

    async def serve(self) -> None:
        """Raises Malformed and TooLong, which end the connection."""
        self._ready()
        while True:
            self._waits = True
            message = await self._inlet.next()
            self._waits = False
            if message is None or isinstance(message, f.Terminate):
                return
            if isinstance(message, f.QueryMessage):
                self._skips = False
                await self._query(message)
            elif isinstance(message, f.Sync):
                await self._sync()
            elif not self._skips:
                await self._extended(message)
            if not (isinstance(message, f.Sync | f.QueryMessage | f.Flush) or self._inlet.peek() is None):
                continue
            await self._session.outlet.drain()

    # Simple queries

    async def _query(self, message: f.QueryMessage) -> None:
        session = self._session
        session.record.begin(message.sql)
        session.objects.close_portal("")
        try:
            pieces = await session.runs.pieces(message.sql)
            if not pieces:
                self._write(out.EMPTY_QUERY)
            for number, piece in enumerate(pieces):
                if session.runs.block is None and len(pieces) > 1 and number < len(pieces) - 1:
                    session.runs.begin(False, False, is_implicit=True)
                statement = session.prepared(message.sql, [piece], ())
                await self._run_simply(Portal(statement))
            await session.commit_implicit()
        except Exception as error:
            self._failed(error, message.sql)
        self._ready()

    async def _run_simply(self, portal: Portal) -> None:
        session = self._session
        await session.run_portal(portal)
        rows = portal.rows
        if rows is not None:
            formats = portal.result_formats(len(rows.columns))
            self._write(out.row_description(rows.columns, formats))
            await session.send(rows, formats, 0, rows.size)
        self._complete(portal.tag)

    # Extended queries

    async def _extended(self, message: f.Frontend) -> None:
        handler = _HANDLERS.get(type(message))
        sql = ""
        try:
            if isinstance(message, f.Unreadable):
                raise Invalid("a text of the message is not UTF-8", code="invalid_value")
            if handler is None:
                raise f.Malformed(f"a message {type(message).__name__} is out of place")
            sql = self._text_of(message)
            if sql:
                self._session.record.begin(sql)
            await handler(self, message)
        except f.Malformed:
            raise
        except Exception as error:
            self._skips = True
            self._failed(error, sql)

    def _text_of(self, message: f.Frontend) -> str:
        """The text of the statement that a message is about."""
        objects = self._session.objects
        match message:
            case f.ParseMessage(sql=sql):
                return sql
            case f.ExecuteMessage(portal=name) | f.DescribeMessage(kind="P", name=name):
                found = objects.portals.get(name)
                return "" if found is None else found.statement.sql
            case f.BindMessage(statement=name) | f.DescribeMessage(kind="S", name=name):
                statement = objects.statements.get(name)
                return "" if statement is None else statement.sql
        return ""

    async def _parse(self, message: f.ParseMessage) -> None:
        session = self._session
        pieces = await session.runs.pieces(message.sql)
        declared = tuple(_declared(oid) for oid in message.types)
        statement = session.prepared(message.sql, pieces, declared)
        session.check_block(statement)
        if message.name or not isinstance(self._inlet.peek(), f.BindMessage):
            await session.check(statement)  # what is not bound at once waits for the answer to this message
        if not message.name:
            session.objects.statements.pop("", None)
        session.objects.keep_statement(message.name, statement)
        self._write(out.PARSED)

    async def _bind(self, message: f.BindMessage) -> None:
        session = self._session
        statement = session.objects.statement(message.statement)
        session.check_block(statement)
        types = await session.types_of(statement)
        parameters = bound(message, types, statement.wanted, session.settings.zone)
        if not message.portal:
            session.objects.close_portal("")
        session.objects.keep_portal(message.portal, Portal(statement, parameters, message.result_formats))
        self._write(out.BOUND)

    async def _describe(self, message: f.DescribeMessage) -> None:
        session = self._session
        if message.kind == "S":
            statement = session.objects.statement(message.name)
            session.check_block(statement)
            types = await session.types_of(statement)
            columns = await session.columns_of(statement)
            self._write(out.parameter_description([type.oid for type in types]))
            self._describe_columns(columns, () if columns is None else (0,) * len(columns))
            return
        portal = session.objects.portal(message.name)
        session.check_block(portal.statement)
        if not portal.is_run and _only_reads(portal.statement):
            self._open_block(1)
            await session.run_portal(portal)
        columns = portal.columns if portal.is_run else await session.columns_of(portal.statement)
        self._describe_columns(columns, () if columns is None else portal.result_formats(len(columns)))

    def _describe_columns(self, columns: tuple[WireColumn, ...] | None, formats: tuple[int, ...]) -> None:
        self._write(out.NO_DATA if columns is None else out.row_description(columns, formats))

    async def _execute(self, message: f.ExecuteMessage) -> None:
        session = self._session
        portal = session.objects.portal(message.portal)
        if portal.statement.piece is None:
            self._write(out.EMPTY_QUERY)
            return
        self._open_block(0)
        await session.run_portal(portal)
        if portal.rows is None:
            self._complete(portal.tag)
            return
        session.objects.check_bytes()
        rows, start = portal.rows, min(portal.at, portal.rows.size)
        stop = rows.size if message.limit <= 0 else min(start + message.limit, rows.size)
        formats = portal.result_formats(len(rows.columns))
        await session.send(rows, formats, start, stop)
        portal.at = stop
        if message.limit > 0 and stop - start == message.limit and stop < rows.size:
            self._write(out.SUSPENDED)
            return
        is_read = portal.tag.startswith(("SELECT ", "FETCH "))
        tag = f"{portal.tag.split()[0]} {stop - start}" if is_read else portal.tag
        self._complete(tag)

    def _open_block(self, executed: int) -> None:
        """Opens a block for the statements up to Sync, unless only this one comes before it: `executed` is
        the number of messages until it has been executed."""
        ahead = [self._inlet.peek(place) for place in range(executed + 1)]
        is_alone = isinstance(ahead[-1], f.Sync) and all(
            isinstance(it, f.ExecuteMessage) for it in ahead[:-1]
        )
        if self._session.runs.block is None and not is_alone:
            self._session.runs.begin(False, False, is_implicit=True)

    async def _close(self, message: f.CloseMessage) -> None:
        objects = self._session.objects
        if message.kind == "S":
            objects.statements.pop(message.name, None)
        else:
            objects.close_portal(message.name)
        self._write(out.CLOSED)

    async def _flush(self, message: f.Flush) -> None:
        await self._session.outlet.drain()

    async def _nothing(self, message: f.Frontend) -> None:
        """What is left of a COPY that has failed."""

    async def _sync(self) -> None:
        self._skips = False
        try:
            await self._session.commit_implicit()
        except Exception as error:
            self._failed(error, "")
        if self._session.runs.block is None:
            self._session.objects.end_block()
        self._ready()

    # Both

    def _ready(self) -> None:
        self._session.record.rest()
        self._write(out.ready(self._session.status))

    def _complete(self, tag: str) -> None:
        self._session.hall.metrics.postgres_statements.add(1, tag.split(" ", 1)[0])
        self._write(out.command_complete(tag))

    def _write(self, data: bytes) -> None:
        self._session.outlet.write(data)

    def _failed(self, error: Exception, sql: str) -> None:
        """Answers with the error, which fails the block."""
        session = self._session
        session.fail()
        found = unwrapped(error)
        if isinstance(found, ConnectionError):
            raise error
        if session.runs.principal is not None and isinstance(found, Exception):
            found = as_seen(found, session.runs.principal)
        problem, sqlstate = problem_for(found), None
        if isinstance(found, CallerGone):
            why = "because of statement_timeout" if session.runs.timed_out else "at the client's request"
            problem, sqlstate = Problem(409, "cancelled", f"the statement was cancelled {why}"), CANCELED
        elif problem is INTERNAL or (problem_of(found) is None and problem.status == 500):
            _log.error("a statement failed: %s", conceal(sql[:_LOGGED]), exc_info=found)
        session.hall.metrics.postgres_errors.add(1, problem.code)
        self._write(out.error(error_fields(problem, script=sql, sqlstate=sqlstate or sqlstate_of(problem))))


def _declared(oid: int) -> WireType | None:
    """The type of an OID; None for one that is not said, or that the service has to find out itself."""
    return BY_OID.get(oid) if oid not in (0, 705) else None


def _only_reads(statement: PreparedStatement) -> bool:
    """Whether the statement may run before it is executed, because it changes nothing."""
    piece = statement.piece
    return (
        statement.own is None
        and piece is not None
        and piece.words(1) in (("SELECT",), ("VALUES",), ("TABLE",))
    )


_HANDLERS: dict[type, Callable] = {
    f.ParseMessage: PostgresSession._parse,
    f.BindMessage: PostgresSession._bind,
    f.DescribeMessage: PostgresSession._describe,
    f.ExecuteMessage: PostgresSession._execute,
    f.CloseMessage: PostgresSession._close,
    f.Flush: PostgresSession._flush,
    f.CopyData: PostgresSession._nothing,
    f.CopyDone: PostgresSession._nothing,
    f.CopyFail: PostgresSession._nothing,
}
