"""Reads PREPARE, and DECLARE, FETCH, MOVE and CLOSE."""

from __future__ import annotations

from planner.statements.prepare_statements import Prepare, prepare
from service.postgres.session_statements import (
    CloseCursor,
    DeclareCursor,
    FetchCursor,
    Refused,
)
from service.postgres.token_reader import TokenReader

TWO_PHASE = Refused("two-phase commits are not supported", "use COMMIT")


def read_prepare(reader: TokenReader) -> Prepare | Refused:
    return TWO_PHASE if reader.word == "TRANSACTION" else prepare(reader.piece)


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
