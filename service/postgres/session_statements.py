"""Statements that a session runs itself: blocks, settings, cursors, prepared statements and COPY.

`service/postgres/session_readers.py` reads them from the tokens of a statement.
"""

from __future__ import annotations

from dataclasses import dataclass

from planner.parsing.script import Piece
from planner.statements.prepare_statements import Deallocate, Execute, Prepare


@dataclass(frozen=True)
class BeginBlock:
    """`isolation` and `read_only` are None where the statement does not say."""

    isolation: str | None = None
    read_only: bool | None = None


@dataclass(frozen=True)
class CommitBlock:
    chain: bool = False


@dataclass(frozen=True)
class RollbackBlock:
    chain: bool = False


@dataclass(frozen=True)
class Savepoint:
    name: str


@dataclass(frozen=True)
class ReleaseSavepoint:
    name: str


@dataclass(frozen=True)
class RollbackToSavepoint:
    name: str


@dataclass(frozen=True)
class SetSetting:
    """`value` is None for DEFAULT."""

    name: str
    value: str | None
    local: bool = False


@dataclass(frozen=True)
class SetTransaction:
    """For the block, or `session` for all that follow."""

    isolation: str | None
    read_only: bool | None
    session: bool


@dataclass(frozen=True)
class SetConstraints:
    pass


@dataclass(frozen=True)
class ShowSetting:
    """`name` is `ALL` for all."""

    name: str


@dataclass(frozen=True)
class SettingCall:
    """A call of `current_setting` or, with a `value`, of `set_config`. A value may be a parameter, `$1`."""

    column: str
    name: str
    value: str | None = None
    local: bool = False
    missing_ok: bool = False


@dataclass(frozen=True)
class SettingCalls:
    """SELECT of such calls alone, which only the session can answer."""

    calls: tuple[SettingCall, ...]


@dataclass(frozen=True)
class ResetSetting:
    name: str


@dataclass(frozen=True)
class Discard:
    what: str


@dataclass(frozen=True)
class DeclareCursor:
    name: str
    query: Piece
    hold: bool


@dataclass(frozen=True)
class FetchCursor:
    """`count` is None for ALL. `direction` is NEXT, PRIOR, ABSOLUTE, RELATIVE. `timeout` is a text."""

    name: str
    count: int | None
    direction: str = "NEXT"
    move: bool = False
    timeout: str | None = None


@dataclass(frozen=True)
class CloseCursor:
    """`name` is None for ALL."""

    name: str | None


@dataclass(frozen=True)
class CopyStatement:
    """COPY, whose parts `copy_statements` reads."""

    piece: Piece


@dataclass(frozen=True)
class SubscribeStatement:
    piece: Piece


@dataclass(frozen=True)
class Unlisten:
    pass


@dataclass(frozen=True)
class LockTables:
    """`relations` are schemas, if they are written, and names. `pins` says that the mode keeps others from
    changing rows, so what the block reads has to stay the same."""

    relations: tuple[tuple[str | None, str], ...]
    pins: bool


@dataclass(frozen=True)
class Maintain:
    """A statement of maintenance, of which the service has no need: its tag, why, and the relations that it
    names. One that stands `alone` cannot be in a block."""

    tag: str
    told: str
    relations: tuple[tuple[str | None, str], ...] = ()
    alone: bool = False


@dataclass(frozen=True)
class Refused:
    """A statement that a session knows and cannot run."""

    message: str
    hint: str


SessionStatement = (
    BeginBlock
    | CommitBlock
    | RollbackBlock
    | Savepoint
    | ReleaseSavepoint
    | RollbackToSavepoint
    | SetSetting
    | SetTransaction
    | SetConstraints
    | ShowSetting
    | ResetSetting
    | SettingCalls
    | Discard
    | Prepare
    | Execute
    | Deallocate
    | DeclareCursor
    | FetchCursor
    | CloseCursor
    | CopyStatement
    | SubscribeStatement
    | Unlisten
    | LockTables
    | Maintain
    | Refused
)
