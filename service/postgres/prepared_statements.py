"""Prepared statements and portals of one session, in bounded numbers.

A portal is a statement with its parameters, and the rows that it still has. A cursor of DECLARE is a portal
too. A portal ends with the block that it belongs to, unless it is WITH HOLD. What all portals of a session
hold together is limited.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.schema import Type
from planner.parsing.parameters import NO_PARAMETERS, Parameters
from planner.parsing.script import Piece
from service.errors import Conflict, NotFound, Overloaded
from service.pgformats.data_rows import AnswerRows
from service.pgformats.value_formats import result_formats
from service.pgformats.wire_types import WireColumn, WireType
from service.postgres.circumstances import Circumstances
from service.postgres.inserts_of_values import InsertOfValues
from service.postgres.prepared_reads import PreparedRead
from service.postgres.session_statements import SessionStatement
from service.postgres.subscriptions import Subscription


@dataclass(eq=False)
class PreparedStatement:
    """`piece` is None for an empty text. `columns` are None if no rows are returned, and unknown until the
    statement `is_described`. `wanted` are the types that the places of the parameters want."""

    sql: str
    piece: Piece | None
    own: SessionStatement | None = None
    declared: tuple[WireType | None, ...] = ()
    wanted: tuple[Type | None, ...] = ()
    types: tuple[WireType, ...] | None = None
    columns: tuple[WireColumn, ...] | None = None
    is_described: bool = False
    read: PreparedRead | None = None
    """How it is run at once, if it was a point read."""
    insert: InsertOfValues | None = None
    """How it is run without being planned, if it was an INSERT of plain values."""
    is_named: bool = False
    """Whether it may be run often."""
    tried: Circumstances | None = None
    """Those in which a short way to run it was looked for."""


@dataclass(eq=False)
class Portal:
    """`at` is the number of rows that have been taken. `tag` names the statement that was run."""

    statement: PreparedStatement
    parameters: Parameters = NO_PARAMETERS
    formats: tuple[int, ...] = ()
    rows: AnswerRows | None = None
    subscription: Subscription | None = None
    at: int = 0
    tag: str = ""
    is_run: bool = False
    is_cursor: bool = False
    holds: bool = False

    def result_formats(self, count: int) -> tuple[int, ...]:
        """The format of each of so many columns. Raises Invalid."""
        return result_formats(self.formats, count)

    @property
    def columns(self) -> tuple[WireColumn, ...] | None:
        if self.subscription is not None:
            return self.subscription.columns
        return self.statement.columns if self.rows is None else self.rows.columns

    @property
    def nbytes(self) -> int:
        return 0 if self.rows is None else self.rows.answer.table.nbytes


@dataclass(eq=False)
class SessionObjects:
    """`most` is the largest number of statements, and of portals; `most_bytes` bounds what portals hold."""

    most: int
    most_bytes: int
    statements: dict[str, PreparedStatement] = field(default_factory=dict)
    portals: dict[str, Portal] = field(default_factory=dict)

    def keep_statement(self, name: str, statement: PreparedStatement) -> None:
        """Raises Conflict for a name that is taken, unless it is the empty one."""
        if name and name in self.statements:
            raise Conflict(
                f"there is a prepared statement called {name}",
                "close it first, with DEALLOCATE",
                code="duplicate_statement",
            )
        self._check_number(len(self.statements), "prepared statements", "DEALLOCATE")
        statement.is_named = bool(name)
        self.statements[name] = statement

    def keep_portal(self, name: str, portal: Portal) -> None:
        if name and name in self.portals:
            raise Conflict(f"there is a cursor called {name}", "close it first", code="duplicate_cursor")
        self._check_number(len(self.portals), "portals and cursors", "CLOSE")
        self.portals[name] = portal

    def check_bytes(self) -> None:
        """Raises Overloaded if the portals hold too much together."""
        if sum(portal.nbytes for portal in self.portals.values()) > self.most_bytes:
            raise Overloaded(
                f"the cursors of the session hold more than {self.most_bytes} bytes",
                "CLOSE some, or ask for fewer rows; FRESHET_KEPT_ANSWER_BYTES sets the limit",
            )

    def statement(self, name: str) -> PreparedStatement:
        if name not in self.statements:
            shown = name or "without a name"
            raise NotFound(f"there is no prepared statement {shown}", code="unknown_statement")
        return self.statements[name]

    def portal(self, name: str) -> Portal:
        if name not in self.portals:
            shown = f"called {name}" if name else "without a name"
            raise NotFound(f"there is no cursor or portal {shown}", code="unknown_cursor")
        return self.portals[name]

    def close_portal(self, name: str) -> None:
        portal = self.portals.pop(name, None)
        if portal is not None and portal.subscription is not None:
            portal.subscription.close()

    def close_cursors(self) -> None:
        for name in [name for name, portal in self.portals.items() if portal.is_cursor]:
            self.close_portal(name)

    def end_block(self, committed: bool = True) -> None:
        """Closes what does not outlive its block."""
        for name in [name for name, portal in self.portals.items() if not (portal.holds and committed)]:
            self.close_portal(name)

    def close(self) -> None:
        for name in list(self.portals):
            self.close_portal(name)

    def _check_number(self, number: int, what: str, how: str) -> None:
        if number >= self.most:
            raise Overloaded(
                f"the session has {number} {what}",
                f"{how} some; FRESHET_POSTGRES_STATEMENTS sets the limit",
            )
