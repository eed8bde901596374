"""A session: what one connection has prepared, opened and set, and how its statements are run.

It knows no bytes of the protocol; `postgres_session.py` speaks it. A block that fails takes only ROLLBACK
until it ends.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.tokens import TokenType

from engine.schema import Kind, Type
from planner.errors import PlannerError
from planner.parsing.parameters import NO_PARAMETERS, Parameters
from planner.parsing.script import Piece
from planner.sql_types import data_type
from planner.statements.prepare_statements import Execute
from service.accounts.privileges import Privilege
from service.errors import Conflict, Invalid, Problem
from service.pgformats.data_rows import AnswerRows, columns_of
from service.pgformats.wire_types import (
    BY_KIND,
    BY_NAME,
    WIRE_TEXT,
    WireColumn,
    WireType,
    parameter_type,
    wire_type,
)
from service.postgres import backend_messages as out
from service.postgres import session_statements as s
from service.postgres.circumstances import Circumstances
from service.postgres.frontend_messages import BindMessage
from service.postgres.hall import Hall
from service.postgres.inserts_of_values import insert_of_values
from service.postgres.parameter_values import bound, engine_type
from service.postgres.prepared_reads import prepared_read
from service.postgres.prepared_statements import Portal, PreparedStatement, SessionObjects
from service.postgres.row_sending import Outlet, send_rows
from service.postgres.session_readers import session_statement
from service.postgres.session_record import SessionRecord
from service.postgres.session_settings import SessionSettings
from service.postgres.sqlstates import error_fields
from service.postgres.statement_runs import StatementRuns
from service.postgres.subscribe_statements import subscribe_options
from service.postgres.subscriptions import Subscription
from service.reading.found_rows import FoundRows
from service.sql.tasks import Result

_ALLOWED = s.CommitBlock | s.RollbackBlock | s.RollbackToSavepoint
"""What a block that has failed still takes."""
_TAGS = {
    "TRUNCATE": "TRUNCATE TABLE",
    "SHOW TABLES": "SHOW",
    "SHOW VIEWS": "SHOW",
    "SHOW COLUMNS": "SHOW",
    "SHOW CREATE": "SHOW",
}
_WAITING = {b"I": "idle", b"T": "idle in transaction", b"E": "idle in transaction (aborted)"}
_LONGEST_KEPT = 1 << 13
"""Characters of the longest INSERT that is read once more to be run again without being planned."""


class OwnOutcome(Protocol):
    """What a statement of the session's own gives: a tag, and rows if there are any."""

    @property
    def tag(self) -> str: ...

    @property
    def rows(self) -> AnswerRows | None: ...


RunOwn = Callable[["ClientSession", s.SessionStatement], Awaitable[OwnOutcome]]
RunCopy = Callable[["ClientSession", Piece], Awaitable[str]]


class ClientSession:
    """`run_own` runs the statements of the session's own, `copy` a COPY."""

    def __init__(self, hall: Hall, outlet: Outlet, address: str, run_own: RunOwn, copy: RunCopy) -> None:
        self.hall = hall
        self.outlet = outlet
        self.settings = SessionSettings(self._told)
        self.runs = StatementRuns(hall, self.settings, address)
        limits = hall.settings
        self.objects = SessionObjects(limits.postgres_statements, limits.kept_answer_bytes)
        self.has_failed = False
        """Whether the block has failed."""
        self.parameters = NO_PARAMETERS
        """Those of the portal that runs."""
        self.is_known = False
        self.record = SessionRecord()
        self._run_own = run_own
        self._copy = copy

    # Saying

    def _told(self, name: str, value: str) -> None:
        if self.is_known:
            self.outlet.write(out.parameter_status(name, value))

    async def send(self, rows: AnswerRows, formats: tuple[int, ...], start: int, stop: int) -> None:
        """Sends rows as DataRow messages."""
        await send_rows(rows, formats, start, stop, self.settings.zone, self.outlet, self.hall.lanes)

    def notice(self, sqlstate: str, fact: str, hint: str = "") -> None:
        problem = Problem(200, "notice", fact, hint)
        fields = error_fields(problem, "WARNING", sqlstate=sqlstate)
        self.outlet.write(out.notice({letter: text for letter, text in fields.items() if letter != "R"}))

    @property
    def status(self) -> bytes:
        """The state of the block, as ReadyForQuery says it."""
        if self.runs.block is None or self.runs.block.is_implicit:
            return b"I"
        return b"E" if self.has_failed else b"T"

    @property
    def state(self) -> str:
        """What the session does, as pg_stat_activity says it."""
        if self.record.is_active:
            return "active"
        return _WAITING[self.status]

    # Blocks

    def end_block(self, committed: bool) -> None:
        """Ends what belongs to the block, which has ended."""
        self.has_failed = False
        self.settings.end_block(committed)
        self.objects.end_block(committed)

    async def commit_implicit(self) -> None:
        """Commits the block that the statements of one message, or up to a Sync, are."""
        block = self.runs.block
        if block is not None and block.is_implicit:
            try:
                await self.commit()
            finally:
                self.objects.end_block()

    async def commit(self) -> None:
        """Commits the block, and tells the client what it should know."""
        for told in await self.runs.commit():
            self.notice("01000", told)

    def fail(self) -> None:
        """A statement has failed: so has its block."""
        block = self.runs.block
        if block is None:
            return
        if block.is_implicit:
            self.runs.roll_back()
            self.objects.end_block(False)
        else:
            self.has_failed = True

    def close(self) -> None:
        self.runs.leave()
        self.runs.roll_back()
        self.objects.close()

    # Prepared statements

    def prepared(
        self, sql: str, pieces: Sequence[Piece], declared: Sequence[WireType | None]
    ) -> PreparedStatement:
        """The statement of a Parse. Raises InvalidSyntax if there are several."""
        if len(pieces) > 1:
            raise pieces[1].failure("a prepared statement is one statement", "prepare each by itself")
        if not pieces:
            return PreparedStatement(sql, None, types=())
        own = session_statement(pieces[0])
        return PreparedStatement(sql, pieces[0], own, tuple(declared))

    async def types_of(self, prepared: PreparedStatement) -> tuple[WireType, ...]:
        """The types of the parameters, which are found out once."""
        if prepared.types is not None:
            return prepared.types
        piece = _inner(prepared)
        declared = prepared.declared
        if piece is not None and _has_parameters(piece):
            given = [None if type is None else engine_type(type) for type in declared]
            prepared.wanted = await self.runs.parameters(piece, [None] * len(given))
        length = max(len(prepared.wanted), len(declared))
        types = []
        for place in range(length):
            told = declared[place] if place < len(declared) else None
            want = prepared.wanted[place] if place < len(prepared.wanted) else None
            types.append(told or (WIRE_TEXT if want is None else parameter_type(want)))
        prepared.types = tuple(types)
        return prepared.types

    async def check(self, prepared: PreparedStatement) -> None:
        """Finds out what a statement takes and returns. Raises what is wrong with its text and its names."""
        if prepared.own is None:
            await self.columns_of(prepared)

    async def columns_of(self, prepared: PreparedStatement) -> tuple[WireColumn, ...] | None:
        """The columns that a statement returns, found out once without running it; None for none."""
        match prepared.own:
            case s.FetchCursor(move=False, name=name):
                return self.objects.portal(name).columns
            case Execute(name=name):
                return await self.columns_of(self.objects.statement(name))
            case s.ShowSetting():
                return (await self._shown(prepared.own)).columns
            case s.SettingCalls(calls=calls):
                return tuple(WireColumn(call.column, WIRE_TEXT) for call in calls)
        if prepared.own is not None or prepared.piece is None:
            return None
        if not prepared.is_described:
            types = await self.types_of(prepared)
            wanted = prepared.wanted
            given = [_nearer(type, wanted[i] if i < len(wanted) else None) for i, type in enumerate(types)]
            answer = await self.runs.describe(prepared.piece, given)
            prepared.columns = None if answer is None else columns_of(answer)
            prepared.is_described = True
        return prepared.columns

    async def _shown(self, statement: s.ShowSetting) -> AnswerRows:
        rows = (await self._run_own(self, statement)).rows
        assert rows is not None
        return rows

    def type_called(self, words: str) -> WireType | None:
        """The type of PREPARE's list. None for `unknown`. Raises a PlannerError."""
        name = words.lower().removeprefix("pg_catalog . ")
        if name == "unknown":
            return None
        if name in BY_NAME:
            return BY_NAME[name]
        try:
            return wire_type(data_type(exp.DataType.build(name, dialect="postgres")))
        except (PlannerError, ValueError, SqlglotError):
            raise Invalid(f"there is no type {words[:100]}", code="invalid_type") from None

    def parameters_of_texts(
        self, row: Sequence[str | None], types: Sequence[WireType], wanted: Sequence[Type | None]
    ) -> Parameters:
        """Parameters from their texts."""
        values = tuple(None if text is None else text.encode() for text in row)
        return bound(BindMessage("", "", (), values, ()), types, wanted, self.settings.zone)

    # Running

    async def run_portal(self, portal: Portal) -> None:
        """Runs a portal's statement, if that was not done yet."""
        if portal.is_run:
            return
        statement = portal.statement
        self.check_block(statement)
        self.parameters = portal.parameters
        portal.is_run = True
        if statement.own is not None:
            outcome = await self._run_own(self, statement.own)
            portal.tag, portal.rows = outcome.tag, outcome.rows
        elif statement.piece is not None:
            if await self._inserted(statement, portal):
                return
            result = await self.runs.run(statement.piece, portal.parameters)
            portal.tag = tag_of(result)
            if result.answer is not None:
                described = statement.columns if statement.is_described else None
                portal.rows = AnswerRows.of(result.answer, described)
            if self.runs.block is None:
                self._keep(statement, portal, result)
            for told in result.notices:
                self.notice("01000", told)

    async def _inserted(self, statement: PreparedStatement, portal: Portal) -> bool:
        """Whether the statement was an INSERT that did not have to be planned."""
        insert, runs = statement.insert, self.runs
        if insert is None or runs.block is not None or runs.principal is None:
            return False
        if not insert.circumstances.hold(runs.timeline, runs.reading):
            statement.insert = None
            return False
        slow = self.hall.door.slow
        count = await insert.run(runs.timeline, portal.parameters, runs.principal, slow)
        if count is not None:
            portal.tag = f"INSERT 0 {count}"
        return count is not None

    def _keep(self, statement: PreparedStatement, portal: Portal, result: Result) -> None:
        """Keeps with a prepared statement how it is run again, if there is a short way."""
        timeline, piece, principal = self.runs.timeline, statement.piece, self.runs.principal
        reading = self.runs.reading
        if piece is None or principal is None or not statement.is_named:
            return
        if statement.tried is not None and statement.tried.hold(timeline, reading):
            return
        now = statement.tried = Circumstances.now(timeline, reading)
        if not now.are_public(principal):
            return
        if portal.rows is not None and isinstance(result.answer, FoundRows):
            columns, door = portal.rows.columns, self.hall.door
            types = statement.types or ()
            statement.read = prepared_read(
                door.prepared, now, piece, portal.parameters, types, statement.wanted, columns
            )
        elif result.statement == "INSERT" and result.answer is None and piece.length <= _LONGEST_KEPT:
            statement.insert = insert_of_values(timeline, piece, now)

    def check_block(self, statement: PreparedStatement) -> None:
        """Raises Conflict if the block has failed and the statement does not end it."""
        if self.has_failed and not isinstance(statement.own, _ALLOWED) and statement.piece is not None:
            raise Conflict(
                "the block has failed, so its statements are ignored until it ends",
                "send ROLLBACK",
                code="block_failed",
            )

    async def subscription(self, piece: Piece) -> Subscription:
        """What a SUBSCRIBE follows; a query is maintained from now on until the subscription is closed."""
        hall, runs, options = self.hall, self.runs, subscribe_options(piece)
        timeline, principal = runs.timeline, runs.principal
        assert principal is not None
        if options.query is None:
            name = runs.relation(options.schema, options.relation)
            principal.require(Privilege.SELECT, name)
            return Subscription(hall, timeline, options, timeline.definition(name), principal)
        query = await runs.follow(options.query)
        try:
            return Subscription(hall, timeline, options, query.definition, principal, query)
        except BaseException:
            timeline.queries.leave(query)
            raise

    async def copy(self, piece: Piece) -> str:
        return await self._copy(self, piece)


def tag_of(result: Result) -> str:
    """The tag of a statement, as PostgreSQL gives it."""
    name = result.statement
    if name == "SELECT":
        return f"SELECT {result.size}"
    if name == "INSERT":
        return f"INSERT 0 {result.count or 0}"
    if name in ("UPDATE", "DELETE", "MERGE", "COPY"):
        return f"{name} {result.count or 0}"
    return _TAGS.get(name, name)


def _inner(prepared: PreparedStatement) -> Piece | None:
    """The piece whose parameters count: of DECLARE and COPY, that of their query."""
    if isinstance(prepared.own, s.DeclareCursor):
        return prepared.own.query
    if isinstance(prepared.own, s.SettingCalls | s.CopyStatement):
        return prepared.piece
    return None if prepared.own is not None else prepared.piece


def _has_parameters(piece: Piece) -> bool:
    return any(token.token_type is TokenType.PARAMETER for token in piece.tokens)


def _nearer(type: WireType, wanted: Type | None) -> Type | None:
    """The engine's type of a parameter: the wanted one where the wire has no finer."""
    if wanted is not None and parameter_type(wanted) is type:
        return wanted
    return None if type is BY_KIND[Kind.TEXT] else engine_type(type)
