"""Reads PREPARE, EXECUTE and DEALLOCATE, and DECLARE, FETCH, MOVE and CLOSE."""

from __future__ import annotations

from sqlglot.tokens import TokenType

from planner.parsing.script import Excerpt
from service.postgres.session_statements import (
    CloseCursor,
    Deallocate,
    DeclareCursor,
    ExecuteStatement,
    FetchCursor,
    PrepareStatement,
    Refused,
)
from service.postgres.token_reader import TokenReader

TWO_PHASE = Refused("two-phase commits are not supported", "use COMMIT")


def read_prepare(reader: TokenReader) -> PrepareStatement | Refused:
    if reader.word == "TRANSACTION":
        return TWO_PHASE
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


def read_execute(reader: TokenReader) -> ExecuteStatement:
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


def read_deallocate(reader: TokenReader) -> Deallocate:
    reader.took("PREPARE")
    if reader.took("ALL"):
        reader.end()
        return Deallocate(None)
    return Deallocate(reader.last_name())


def read_declare(reader: TokenReader) -> DeclareCursor | Refused:
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


def read_fetch(reader: TokenReader) -> FetchCursor:
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


def read_move(reader: TokenReader) -> FetchCursor:
    fetch = read_fetch(reader)
    return FetchCursor(fetch.name, fetch.count, fetch.direction, True)


def read_close(reader: TokenReader) -> CloseCursor:
    if reader.took("ALL"):
        reader.end()
        return CloseCursor(None)
    return CloseCursor(reader.last_name())
