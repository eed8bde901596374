"""What a COPY says: its table or query, its direction and its options.

    COPY name [(columns)] FROM STDIN [[WITH] (option value, ...)]
    COPY {name [(columns)] | (query)} TO STDOUT [[WITH] (option value, ...)]

The options of before PostgreSQL 9.0, without parentheses, are read too: psql writes them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from planner.errors import InvalidQuery, Unsupported
from planner.parsing.script import Piece
from service.postgres.token_reader import TokenReader

FORMATS = ("TEXT", "CSV", "BINARY")
_SWITCHES = ("HEADER", "FREEZE")
_LETTERS = {"DELIMITER": "delimiter", "NULL": "null", "QUOTE": "quote", "ESCAPE": "escape"}


@dataclass(frozen=True)
class CopyFormat:
    """`kind` is one of FORMATS. The parts mean what PostgreSQL says they do."""

    kind: str = "TEXT"
    header: bool = False
    delimiter: str = "\t"
    null: str = "\\N"
    quote: str = '"'
    escape: str = '"'
    force_quote: frozenset[str] | None = frozenset()
    """Columns whose values are quoted in any case; None for all."""


@dataclass(frozen=True)
class Copy:
    """`schema` is None where none is written, and `relation` empty for a query. `columns` is empty without a
    list."""

    is_from: bool
    schema: str | None
    relation: str
    columns: tuple[str, ...]
    query: Piece | None
    format: CopyFormat


def copy_of(piece: Piece) -> Copy:
    """The COPY of a piece. Raises a PlannerError with the place."""
    reader = TokenReader(piece)
    query: Piece | None = None
    schema, relation = None, ""
    columns: tuple[str, ...] = ()
    if reader.word == "(":
        query = reader.inside("write COPY (query) TO STDOUT")
    else:
        reader.took("BINARY")
        schema, relation = reader.relation()
        columns = _names(reader) if reader.word == "(" else ()
    is_from = reader.took("FROM")
    if not is_from and not reader.took("TO"):
        raise reader.failure("write COPY name FROM STDIN, or COPY name TO STDOUT")
    if reader.took_any("STDIN", "STDOUT") is None:
        raise Unsupported(
            "COPY reads and writes no files or programs of the server",
            "use STDIN or STDOUT; psql's \\copy has the client's files",
            *piece.place(reader.place),
        )
    if is_from and query is not None:
        raise reader.failure("only a table can be copied into")
    return Copy(is_from, schema, relation, columns, query, _format(reader))


def _names(reader: TokenReader) -> tuple[str, ...]:
    reader.take()
    names = [reader.name()]
    while reader.took(","):
        names.append(reader.name())
    if not reader.took(")"):
        raise reader.failure()
    return tuple(names)


def _format(reader: TokenReader) -> CopyFormat:
    given: dict[str, object] = {}
    reader.took("WITH")
    if reader.took("("):
        while not reader.took(")"):
            _option(reader, given, True)
            if not reader.took(",") and reader.word != ")":
                raise reader.failure()
    while not reader.is_done:
        _option(reader, given, False)
    kind = str(given.get("kind", "TEXT"))
    plain = CopyFormat(kind, delimiter=",", null="") if kind == "CSV" else CopyFormat(kind)
    if "quote" in given:
        given.setdefault("escape", given["quote"])
    found = replace(plain, **given)  # type: ignore[arg-type]
    _check(found, given, reader)
    return found


def _option(reader: TokenReader, given: dict[str, object], is_listed: bool) -> None:
    """One option; `is_listed` are those between parentheses."""
    if reader.took("FORMAT"):
        kind = reader.value().upper()
        if kind not in FORMATS:
            raise reader.failure("a format is text, csv or binary")
        given["kind"] = kind
    elif not is_listed and (plain := reader.took_any("CSV", "BINARY")) is not None:
        given["kind"] = plain
    elif (switch := reader.took_any(*_SWITCHES)) is not None:
        is_off = reader.took_any("FALSE", "OFF", "0") is not None
        if not is_off and is_listed:
            reader.took_any("TRUE", "ON", "1", "MATCH")
        if switch == "HEADER":
            given["header"] = not is_off
    elif (letter := reader.took_any(*_LETTERS)) is not None:
        reader.took("AS")
        given[_LETTERS[letter]] = reader.value()
    elif reader.took("ENCODING"):
        if reader.value().lower().replace("-", "") not in ("utf8", "unicode"):
            raise reader.failure("the only encoding is UTF8")
    elif reader.took("FORCE_QUOTE") or reader.took("FORCE", "QUOTE"):
        given["force_quote"] = None if reader.took("*") else frozenset(_listed(reader))
    elif reader.took("FORCE_NULL") or reader.took("FORCE_NOT_NULL"):
        raise Unsupported("FORCE_NULL is not supported", "say with NULL which text is NULL")
    else:
        raise reader.failure("options are FORMAT, HEADER, DELIMITER, NULL, QUOTE, ESCAPE and FORCE_QUOTE")


def _listed(reader: TokenReader) -> tuple[str, ...]:
    if reader.word == "(":
        return _names(reader)
    return (reader.name(),)


def _check(found: CopyFormat, given: dict[str, object], reader: TokenReader) -> None:
    for name in ("delimiter", "quote", "escape"):
        if len(getattr(found, name)) != 1 or getattr(found, name) in "\r\n":
            raise _wrong(reader, f"{name.upper()} is one character, and no line break")
    if found.kind == "BINARY" and given.keys() - {"kind"}:
        raise _wrong(reader, "the binary format has no options")
    if found.kind == "TEXT" and given.keys() & {"quote", "force_quote"}:
        raise _wrong(reader, "QUOTE, ESCAPE and FORCE_QUOTE belong to the format CSV")
    if found.delimiter in found.null or (found.delimiter == found.quote and found.kind == "CSV"):
        raise _wrong(reader, "the delimiter cannot be in the text of NULL, nor be the quote")


def _wrong(reader: TokenReader, fact: str) -> InvalidQuery:
    return InvalidQuery(fact, "", *reader.piece.place())
