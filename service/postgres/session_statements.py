"""Statements that a session runs itself: blocks, settings, cursors, prepared statements and COPY.

`session_statement` reads them from the tokens of a piece. What it does not know goes to the door of
statements.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlglot.tokens import Token, TokenType

from planner.errors import InvalidSyntax
from planner.parsing.script import Excerpt, Piece


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
class PrepareStatement:
    """`types` are the words between the parentheses."""

    name: str
    types: tuple[str, ...]
    statement: Piece


@dataclass(frozen=True)
class ExecuteStatement:
    name: str
    arguments: tuple[Excerpt, ...]


@dataclass(frozen=True)
class Deallocate:
    """`name` is None for ALL."""

    name: str | None


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
    | PrepareStatement
    | ExecuteStatement
    | Deallocate
    | DeclareCursor
    | FetchCursor
    | CloseCursor
    | CopyStatement
    | SubscribeStatement
    | Unlisten
    | Refused
)


def session_statement(piece: Piece) -> SessionStatement | None:
    """The statement of a piece if the session runs it; None for one of the door. Raises InvalidSyntax."""
    words = piece.words(1)
    read = _READERS.get(words[0]) if words else None
    return None if read is None else read(TokenReader(piece))


class TokenReader:
    """Reads the tokens of a statement one after another, from the second one on."""

    def __init__(self, piece: Piece, at: int = 1) -> None:
        self.piece = piece
        # A token may have several words: sqlglot reads some pairs of words as one.
        self._words = [(word, token, i) for i, token in enumerate(piece.tokens) for word in _parts(token)]
        self._at = at

    @property
    def is_done(self) -> bool:
        return self._at >= len(self._words)

    @property
    def word(self) -> str:
        """The next word in upper case; empty at the end."""
        return "" if self.is_done else self._words[self._at][0].upper()

    @property
    def place(self) -> int:
        """The token at which the next word stands."""
        return self._words[self._at][2] if not self.is_done else len(self.piece.tokens) - 1

    def took(self, *words: str) -> bool:
        """Whether the next words are these; then they are behind."""
        at = self._at
        for word in words:
            if at >= len(self._words) or self._words[at][0].upper() != word or _is_quoted(self._words[at][1]):
                return False
            at += 1
        self._at = at
        return True

    def took_any(self, *words: str) -> str | None:
        return next((word for word in words if self.took(word)), None)

    def take(self) -> Token:
        """The next token. Raises InvalidSyntax at the end."""
        if self.is_done:
            raise self.failure()
        self._at += 1
        return self._words[self._at - 1][1]

    def name(self) -> str:
        """The next token as a name, folded unless it is quoted."""
        if self.is_done:
            raise self.failure()
        word, token, _ = self._words[self._at]
        is_name = word[:1].isalpha() or word[:1] == "_" or _is_quoted(token)
        if token.token_type is TokenType.STRING or not is_name:
            raise self.failure()
        self._at += 1
        return token.text if _is_quoted(token) else word.lower()

    def integer(self) -> int:
        sign = -1 if self.took("-") else 1
        token = self.take()
        if not token.text.isdigit() or len(token.text) > 18:
            self._at -= 1
            raise self.failure()
        return sign * int(token.text)

    def value(self) -> str:
        """The next token as a value: text, number or word."""
        sign = "-" if self.took("-") else ""
        if self.is_done:
            raise self.failure()
        word, token, _ = self._words[self._at]
        self._at += 1
        return sign + (token.text if token.token_type is TokenType.STRING or _is_quoted(token) else word)

    def text(self) -> str:
        """The next token, which has to be a text between quotes."""
        if self.is_done or self._words[self._at][1].token_type is not TokenType.STRING:
            raise self.failure()
        return self.value()

    def rest(self) -> Piece:
        """The statement that begins at the next word. Raises InvalidSyntax if there is none."""
        if self.is_done:
            raise self.failure()
        return self.piece.from_token(self.place)

    def end(self) -> None:
        """Raises InvalidSyntax unless all has been read."""
        if not self.is_done:
            raise self.failure()

    def failure(self, hint: str = "") -> InvalidSyntax:
        if self.is_done:
            return self.piece.failure("syntax error at the end of the statement", hint)
        return self.piece.failure(f'syntax error at or near "{self._words[self._at][0]}"', hint, self.place)


def _parts(token: Token) -> list[str]:
    if token.token_type in (TokenType.STRING, TokenType.IDENTIFIER):
        return [token.text]
    return token.text.split() or [token.text]


def _is_quoted(token: Token) -> bool:
    return token.token_type is TokenType.IDENTIFIER


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
