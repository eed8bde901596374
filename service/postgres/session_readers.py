"""Reads the statements that a session runs itself, each kind by a function that its first word names.

What none of them knows goes to the door of statements.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot.tokens import TokenType

from planner.errors import InvalidSyntax
from planner.parsing.script import Excerpt, Piece
from service.postgres.session_statements import (
    BeginBlock,
    CloseCursor,
    CommitBlock,
    CopyStatement,
    Deallocate,
    DeclareCursor,
    Discard,
    ExecuteStatement,
    FetchCursor,
    PrepareStatement,
    Refused,
    ReleaseSavepoint,
    ResetSetting,
    RollbackBlock,
    RollbackToSavepoint,
    Savepoint,
    SessionStatement,
    SetConstraints,
    SetSetting,
    SettingCall,
    SettingCalls,
    SetTransaction,
    ShowSetting,
    SubscribeStatement,
    Unlisten,
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
    isolation, read_only = _modes(reader)
    return BeginBlock(isolation, read_only)


def _modes(reader: TokenReader) -> tuple[str | None, bool | None]:
    """Transaction modes, to the end of the statement."""
    isolation: str | None = None
    read_only: bool | None = None
    while not reader.is_done:
        if reader.took("ISOLATION", "LEVEL"):
            words = reader.value().lower()
            isolation = words if words == "serializable" else f"{words} {reader.value().lower()}"
        elif reader.took("READ", "ONLY"):
            read_only = True
        elif reader.took("READ", "WRITE"):
            read_only = False
        elif not (reader.took("NOT", "DEFERRABLE") or reader.took("DEFERRABLE") or reader.took(",")):
            raise reader.failure()
    return isolation, read_only


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
        return _TWO_PHASE
    return CommitBlock(_chained(reader))


def _rollback(reader: TokenReader) -> RollbackBlock | RollbackToSavepoint | Refused:
    if reader.word == "PREPARED":
        return _TWO_PHASE
    reader.took_any("TRANSACTION", "WORK")
    if reader.took("TO"):
        reader.took("SAVEPOINT")
        return RollbackToSavepoint(_last_name(reader))
    return RollbackBlock(_chained(reader))


def _last_name(reader: TokenReader) -> str:
    name = reader.name()
    reader.end()
    return name


def _release(reader: TokenReader) -> ReleaseSavepoint:
    reader.took("SAVEPOINT")
    return ReleaseSavepoint(_last_name(reader))


def _set(reader: TokenReader) -> SessionStatement:
    local = reader.took("LOCAL")
    if not local and reader.took("SESSION"):
        if reader.took("CHARACTERISTICS", "AS", "TRANSACTION"):
            return SetTransaction(*_modes(reader), session=True)
        if reader.took("AUTHORIZATION"):
            return Refused("SET SESSION AUTHORIZATION is not supported", "connect as the other user")
    if reader.took("TRANSACTION"):
        return SetTransaction(*_modes(reader), session=False)
    if reader.took("CONSTRAINTS"):
        return SetConstraints()
    if reader.took("ROLE"):
        role = reader.value()
        if role.lower() == "none":
            return SetConstraints()
        return Refused("SET ROLE is not supported", "connect as the other user")
    if reader.took("TIME", "ZONE"):
        return SetSetting("TimeZone", _zone(reader), local)
    if reader.took("NAMES"):
        return SetSetting("client_encoding", None if reader.is_done else _values(reader), local)
    name = _setting_name(reader)
    if not (reader.took("TO") or reader.took("=")):
        raise reader.failure("write SET name = value")
    return SetSetting(name, _values(reader), local)


def _zone(reader: TokenReader) -> str | None:
    value = _values(reader)
    return None if value is None or value.lower() == "local" else value


def _setting_name(reader: TokenReader) -> str:
    name = reader.name()
    while reader.took("."):
        name += "." + reader.name()
    return name


def _values(reader: TokenReader) -> str | None:
    """The rest as a value: parts that commas divide; None for DEFAULT."""
    if reader.took("DEFAULT"):
        reader.end()
        return None
    parts = [reader.value()]
    while not reader.is_done:
        if not reader.took(","):
            raise reader.failure()
        parts.append(reader.value())
    return ", ".join(parts)


def _show(reader: TokenReader) -> ShowSetting | None:
    if reader.word in ("TABLES", "VIEWS", "COLUMNS", "CREATE", "SCHEMAS", "INDEXES", ""):
        return None
    if reader.took("TIME", "ZONE"):
        return ShowSetting("TimeZone")
    if reader.took("TRANSACTION", "ISOLATION", "LEVEL"):
        return ShowSetting("transaction_isolation")
    name = _setting_name(reader)
    reader.end()
    return ShowSetting("ALL" if name == "all" else name)


def _select(reader: TokenReader) -> SettingCalls | None:
    """A SELECT that has nothing but calls about settings; None for any other."""
    calls: list[SettingCall] = []
    try:
        while not calls or reader.took(","):
            reader.took("PG_CATALOG", ".")
            function = reader.took_any("CURRENT_SETTING", "SET_CONFIG")
            if function is None or not reader.took("("):
                return None
            calls.append(_setting_call(reader, function == "SET_CONFIG"))
    except InvalidSyntax:
        return None
    return SettingCalls(tuple(calls)) if reader.is_done else None


def _setting_call(reader: TokenReader, sets: bool) -> SettingCall:
    """The arguments of a call, and the name of its column."""
    name, value, flag = reader.text(), None, False
    if sets:
        if not reader.took(","):
            raise reader.failure()
        value = "$" + reader.value() if reader.took("$") else reader.text()
    if reader.took(","):
        flag = reader.took_any("TRUE", "FALSE") == "TRUE"
    if not reader.took(")"):
        raise reader.failure()
    column = reader.name() if reader.took("AS") else "set_config" if sets else "current_setting"
    return SettingCall(column, name, value, sets and flag, flag and not sets)


def _reset(reader: TokenReader) -> ResetSetting | SetConstraints:
    if reader.took("SESSION", "AUTHORIZATION") or reader.took("ROLE"):
        return SetConstraints()
    if reader.took("TIME", "ZONE"):
        return ResetSetting("TimeZone")
    name = _setting_name(reader)
    reader.end()
    return ResetSetting("ALL" if name == "all" else name)


def _discard(reader: TokenReader) -> Discard:
    what = reader.took_any("ALL", "PLANS", "SEQUENCES", "TEMP", "TEMPORARY")
    if what is None:
        raise reader.failure("write DISCARD ALL")
    reader.end()
    return Discard(what)


def _prepare(reader: TokenReader) -> PrepareStatement | Refused:
    if reader.word == "TRANSACTION":
        return _TWO_PHASE
    name, types = reader.name(), []
    if reader.took("("):
        words = ""
        while not reader.took(")"):
            if reader.took(","):
                types.append(words)
                words = ""
            else:
                words = f"{words} {reader.take().text}".strip()
        types.append(words)
    if not reader.took("AS"):
        raise reader.failure("write PREPARE name AS statement")
    return PrepareStatement(name, tuple(types), reader.rest())


def _execute(reader: TokenReader) -> ExecuteStatement:
    name = reader.name()
    arguments: list[Excerpt] = []
    if reader.took("("):
        depth, start, tokens = 0, reader.place, reader.piece.tokens
        for i in range(start, len(tokens)):
            type = tokens[i].token_type
            if depth == 0 and type in (TokenType.COMMA, TokenType.R_PAREN):
                if i == start:
                    raise reader.failure()
                script = reader.piece.script[tokens[start].start : tokens[i - 1].end + 1]
                arguments.append(Excerpt(script, *reader.piece.place(start)))
                start = i + 1
            depth += (type is TokenType.L_PAREN) - (type is TokenType.R_PAREN)
        if depth != -1:
            raise reader.failure()
    else:
        reader.end()
    return ExecuteStatement(name, tuple(arguments))


def _deallocate(reader: TokenReader) -> Deallocate:
    reader.took("PREPARE")
    if reader.took("ALL"):
        reader.end()
        return Deallocate(None)
    return Deallocate(_last_name(reader))


def _declare(reader: TokenReader) -> DeclareCursor | Refused:
    name = reader.name()
    while (option := reader.took_any("BINARY", "INSENSITIVE", "ASENSITIVE", "SCROLL", "NO")) is not None:
        if option == "BINARY":
            return Refused("DECLARE ... BINARY is not supported", "bind the FETCH with binary result formats")
    if not reader.took("CURSOR"):
        raise reader.failure("write DECLARE name CURSOR FOR query")
    hold = reader.took("WITH", "HOLD")
    if not hold:
        reader.took("WITHOUT", "HOLD")
    if not reader.took("FOR"):
        raise reader.failure("write DECLARE name CURSOR FOR query")
    return DeclareCursor(name, reader.rest(), hold)


def _fetch(reader: TokenReader) -> FetchCursor:
    direction, count = _direction(reader)
    reader.took_any("FROM", "IN")
    name, timeout = reader.name(), None
    if reader.took("WITH"):
        if not (reader.took("(") and reader.took("TIMEOUT")):
            raise reader.failure("write FETCH count name WITH (timeout = '1s')")
        reader.took("=")
        timeout = reader.value()
        if not reader.took(")"):
            raise reader.failure()
    reader.end()
    return FetchCursor(name, count, direction, timeout=timeout)


_DIRECTIONS = ("NEXT", "PRIOR", "FIRST", "LAST", "ABSOLUTE", "RELATIVE", "FORWARD", "BACKWARD", "ALL")


def _direction(reader: TokenReader) -> tuple[str, int | None]:
    word = reader.took_any(*_DIRECTIONS)
    match word:
        case "NEXT" | "PRIOR":
            return word, 1
        case "FIRST":
            return "ABSOLUTE", 1
        case "LAST":
            return "ABSOLUTE", -1
        case "ABSOLUTE" | "RELATIVE":
            return word, reader.integer()
        case "ALL":
            return "NEXT", None
    count: int | None = 1
    if reader.took("ALL"):
        count = None
    elif reader.word.isdigit() or reader.word == "-":
        count = reader.integer()
    if count is not None and count < 0:
        return ("NEXT" if word == "BACKWARD" else "PRIOR"), -count
    return ("PRIOR" if word == "BACKWARD" else "NEXT"), count


def _move(reader: TokenReader) -> FetchCursor:
    fetch = _fetch(reader)
    return FetchCursor(fetch.name, fetch.count, fetch.direction, True)


def _close(reader: TokenReader) -> CloseCursor:
    if reader.took("ALL"):
        reader.end()
        return CloseCursor(None)
    return CloseCursor(_last_name(reader))


_TWO_PHASE = Refused("two-phase commits are not supported", "use COMMIT")
_READERS: dict[str, Callable[[TokenReader], SessionStatement | None]] = {
    "BEGIN": _begin,
    "START": _start,
    "COMMIT": _commit,
    "END": _commit,
    "ROLLBACK": _rollback,
    "ABORT": _rollback,
    "SAVEPOINT": lambda reader: Savepoint(_last_name(reader)),
    "RELEASE": _release,
    "SET": _set,
    "SHOW": _show,
    "RESET": _reset,
    "SELECT": _select,
    "DISCARD": _discard,
    "PREPARE": _prepare,
    "EXECUTE": _execute,
    "DEALLOCATE": _deallocate,
    "DECLARE": _declare,
    "FETCH": _fetch,
    "MOVE": _move,
    "CLOSE": _close,
    "COPY": lambda reader: CopyStatement(reader.piece),
    "SUBSCRIBE": lambda reader: SubscribeStatement(reader.piece),
    "TAIL": lambda reader: SubscribeStatement(reader.piece),
    "UNLISTEN": lambda reader: Unlisten(),
    "LISTEN": lambda reader: Refused("LISTEN is not supported", "DECLARE a cursor FOR SUBSCRIBE"),
    "NOTIFY": lambda reader: Refused("NOTIFY is not supported", "DECLARE a cursor FOR SUBSCRIBE"),
    "LOCK": lambda reader: Refused("LOCK is not supported", "a block is checked at COMMIT: send it again"),
}
