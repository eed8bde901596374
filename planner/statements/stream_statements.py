"""Reads CREATE SOURCE and CREATE SINK, in RisingWave's words.

    CREATE SOURCE [IF NOT EXISTS] name [(column type, ...)] WITH (connector = '...', option = value, ...)
        FORMAT PLAIN ENCODE CSV [(option = value, ...)]
    CREATE SINK [IF NOT EXISTS] name FROM view WITH (connector = '...', ...) [FORMAT PLAIN ENCODE PARQUET]

Source of the syntax: RisingWave's manual, "CREATE SOURCE", "CREATE TABLE" and "CREATE SINK".
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot.tokens import Token, TokenType

from planner.parsing.script import Piece
from planner.statements.create_statements import create_table
from planner.statements.outside import CreateSink, CreateSource, Options
from planner.statements.statements import CreateTable
from planner.statements.word_reader import WordReader

_SOURCE = "CREATE SOURCE name (column type, ...) WITH (connector = '...', ...) FORMAT PLAIN ENCODE CSV (...)"
_SINK = "CREATE SINK name FROM view WITH (connector = '...', ...) FORMAT PLAIN ENCODE PARQUET"


def is_connected(piece: Piece) -> bool:
    """Whether a CREATE TABLE has a connector."""
    words = [token.text.upper() for token in piece.tokens]
    return any(words[i : i + 3] == ["WITH", "(", "CONNECTOR"] for i in range(len(words)))


def create_source(piece: Piece) -> CreateSource:
    """CREATE SOURCE, or CREATE TABLE with a connector, which is a source and its table."""
    reader = WordReader(piece, 2, _SOURCE)
    if_not_exists = reader.skip("IF", "NOT", "EXISTS")
    begin = reader.at
    schema, name = reader.qualified()
    table = None
    if reader.word == "(":
        end = reader.closed()
        table = _table(piece, begin, end)
        reader.at = end + 1
    elif schema is not None:
        raise piece.unsupported(f"source {name} cannot be in a schema", "leave the schema out", begin)
    options = _options(reader)
    format, encode, encoding = _encoding(reader)
    reader.end()
    return CreateSource(piece, name, table, options, format, encode, encoding, if_not_exists)


def create_sink(piece: Piece) -> CreateSink:
    reader = WordReader(piece, 2, _SINK)
    if_not_exists = reader.skip("IF", "NOT", "EXISTS")
    name = reader.name()
    if reader.skip("AS"):
        raise piece.unsupported(
            "CREATE SINK ... AS is not supported", "create a view of the query", reader.at
        )
    reader.expect("FROM")
    relation = reader.relation()
    options = _options(reader)
    format, encode, encoding = ("PLAIN", "PARQUET", {}) if reader.is_done else _encoding(reader)
    reader.end()
    return CreateSink(piece, name, relation, options, format, encode, encoding, if_not_exists)


def _table(piece: Piece, name: int, end: int) -> CreateTable:
    """The table that has the columns of a source, whose tokens are from its `name` to the `end`."""
    first = piece.tokens[1]
    word = Token(TokenType.TABLE, "TABLE", first.line, first.col, first.start, first.end)
    table = create_table(replace(piece, tokens=(piece.tokens[0], word, *piece.tokens[name : end + 1])))
    if not isinstance(table, CreateTable):
        raise piece.failure("columns and their types are expected", _SOURCE, name)
    return table


def _options(reader: WordReader) -> Options:
    reader.expect("WITH")
    return _listed(reader)


def _listed(reader: WordReader) -> dict[str, str]:
    """Options in parentheses: `name.part = value`."""
    found: dict[str, str] = {}
    reader.expect("(")
    while not reader.skip(")"):
        name = reader.name()
        while reader.skip("."):
            name += f".{reader.name()}"
        reader.expect("=")
        found[name.lower()] = reader.value()
        if not reader.skip(",") and reader.word != ")":
            raise reader.failure(", or ) is expected")
    return found


def _encoding(reader: WordReader) -> tuple[str, str, dict[str, str]]:
    reader.expect("FORMAT")
    format = reader.name().upper()
    reader.expect("ENCODE")
    encode = reader.name().upper()
    return format, encode, _listed(reader) if reader.word == "(" else {}
