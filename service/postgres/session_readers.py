"""Reads the statements that a session runs itself, each kind by a function that its first word names.

What none of them knows goes to the door of statements.
"""

from __future__ import annotations

from collections.abc import Callable

from planner.parsing.script import Piece
from planner.statements.copy_files import copies_files
from planner.statements.prepare_statements import deallocate, execute
from service.postgres.cursor_readers import (
    TWO_PHASE,
    read_close,
    read_declare,
    read_fetch,
    read_move,
    read_prepare,
)
from service.postgres.maintenance_readers import (
    read_analyze,
    read_checkpoint,
    read_cluster,
    read_lock,
    read_reindex,
    read_vacuum,
)
from service.postgres.session_statements import (
    BeginBlock,
    CommitBlock,
    CopyStatement,
    Refused,
    ReleaseSavepoint,
    RollbackBlock,
    RollbackToSavepoint,
    Savepoint,
    SessionStatement,
    SubscribeStatement,
    Unlisten,
)
from service.postgres.setting_readers import (
    read_discard,
    read_modes,
    read_reset,
    read_select,
    read_set,
    read_show,
)
from service.postgres.token_reader import TokenReader


def session_statement(piece: Piece) -> SessionStatement | None:
    """The statement of a piece if the session runs it; None for one of the door. Raises InvalidSyntax."""
    words = piece.words(1)
    read = _READERS.get(words[0]) if words else None
    return None if read is None else read(TokenReader(piece))


# The readers


def _begin(reader: TokenReader) -> BeginBlock:
    reader.took_any("TRANSACTION", "WORK")
    isolation, read_only = read_modes(reader)
    return BeginBlock(isolation, read_only)


def _start(reader: TokenReader) -> BeginBlock | None:
    return _begin(reader) if reader.word == "TRANSACTION" else None


def _chained(reader: TokenReader) -> bool:
    reader.took_any("TRANSACTION", "WORK")
    chain = reader.took("AND", "CHAIN")
    if not chain:
        reader.took("AND", "NO", "CHAIN")
    reader.end()
    return chain


def _commit(reader: TokenReader) -> CommitBlock | Refused:
    if reader.word == "PREPARED":
        return TWO_PHASE
    return CommitBlock(_chained(reader))


def _rollback(reader: TokenReader) -> RollbackBlock | RollbackToSavepoint | Refused:
    if reader.word == "PREPARED":
        return TWO_PHASE
    reader.took_any("TRANSACTION", "WORK")
    if reader.took("TO"):
        reader.took("SAVEPOINT")
        return RollbackToSavepoint(reader.last_name())
    return RollbackBlock(_chained(reader))


def _release(reader: TokenReader) -> ReleaseSavepoint:
    reader.took("SAVEPOINT")
    return ReleaseSavepoint(reader.last_name())


_READERS: dict[str, Callable[[TokenReader], SessionStatement | None]] = {
    "BEGIN": _begin,
    "START": _start,
    "COMMIT": _commit,
    "END": _commit,
    "ROLLBACK": _rollback,
    "ABORT": _rollback,
    "SAVEPOINT": lambda reader: Savepoint(reader.last_name()),
    "RELEASE": _release,
    "SET": read_set,
    "SHOW": read_show,
    "RESET": read_reset,
    "SELECT": read_select,
    "DISCARD": read_discard,
    "PREPARE": read_prepare,
    "EXECUTE": lambda reader: execute(reader.piece),
    "DEALLOCATE": lambda reader: deallocate(reader.piece),
    "DECLARE": read_declare,
    "FETCH": read_fetch,
    "MOVE": read_move,
    "CLOSE": read_close,
    "COPY": lambda reader: None if copies_files(reader.piece) else CopyStatement(reader.piece),
    "SUBSCRIBE": lambda reader: SubscribeStatement(reader.piece),
    "TAIL": lambda reader: SubscribeStatement(reader.piece),
    "UNLISTEN": lambda reader: Unlisten(),
    "LISTEN": lambda reader: Refused("LISTEN is not supported", "DECLARE a cursor FOR SUBSCRIBE"),
    "NOTIFY": lambda reader: Refused("NOTIFY is not supported", "DECLARE a cursor FOR SUBSCRIBE"),
    "LOCK": read_lock,
    "ANALYZE": read_analyze,
    "ANALYSE": read_analyze,
    "VACUUM": read_vacuum,
    "REINDEX": read_reindex,
    "CLUSTER": read_cluster,
    "CHECKPOINT": read_checkpoint,
}
