"""Reads COPY from and to files, which PostgreSQL and DuckDB have.

    COPY name FROM 'place' [[WITH] (option value, ...)]
    COPY {name | (query)} TO 'place' [[WITH] (option value, ...)]

The options are given to the readers and writers of loads and exports, in their words.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import PurePosixPath

from sqlglot import exp
from sqlglot.tokens import TokenType

from planner.dialects.traits import Trait, has
from planner.parsing.script import Piece
from planner.statements.outside import CopyFiles
from planner.statements.word_reader import WordReader

_FORM = "write COPY name FROM 'place' (FORMAT csv), or COPY {name | (query)} TO 'place' (FORMAT parquet)"
_FORMATS = {"csv": "csv", "tsv": "csv", "parquet": "parquet", "json": "json", "ndjson": "json", "orc": "orc"}
_OPTIONS = {
    "DELIMITER": "sep",
    "DELIM": "sep",
    "SEP": "sep",
    "QUOTE": "quote",
    "ESCAPE": "escape",
    "NULL": "nullValue",
    "NULLSTR": "nullValue",
    "ENCODING": "encoding",
    "COMPRESSION": "compression",
    "CODEC": "compression",
}
_MODES = {"OVERWRITE": "overwrite", "OVERWRITE_OR_IGNORE": "overwrite", "APPEND": "append"}
_TRUE = ("TRUE", "ON", "1", "YES")


def copies_files(piece: Piece) -> bool:
    """Whether a COPY names a place, not STDIN or STDOUT."""
    depth = 0
    for token, following in pairwise(piece.tokens):
        depth += {"(": 1, ")": -1}.get(token.text, 0) * (token.token_type != TokenType.STRING)
        if depth == 0 and token.text.upper() in ("FROM", "TO"):
            return following.token_type == TokenType.STRING
    return False


def copy_files(piece: Piece) -> CopyFiles:
    reader = WordReader(piece, 1, _FORM)
    query: exp.Expression | None = None
    relation = ""
    if reader.word == "(":
        query = _query(reader)
    else:
        relation = reader.relation()
        if reader.word == "(":
            raise piece.unsupported(
                "COPY of some columns is not supported",
                "columns are matched by name: leave the list out, or copy a query of the columns",
                reader.at,
            )
    is_from = reader.skip("FROM")
    if not is_from:
        reader.expect("TO")
    if is_from and query is not None:
        raise reader.failure("only a table can be copied into")
    if reader.word in ("STDIN", "STDOUT"):
        raise piece.unsupported(
            f"COPY with {reader.word} is part of PostgreSQL's protocol",
            "over HTTP, rows come with POST /v1/tables/{table}/deltas, and go with GET .../rows",
            reader.at,
        )
    place = reader.text()
    return _with_options(CopyFiles(piece, is_from, relation, query, place, ""), reader)


def _query(reader: WordReader) -> exp.Expression:
    """The query in the parentheses at which the reader stands."""
    piece, first = reader.piece, reader.at
    reader.at = reader.closed()
    inner = piece.tokens[first + 1 : reader.at]
    if not inner:
        raise reader.failure("a query is expected")
    reader.at += 1
    return piece.from_token(first + 1, reader.at - 1).parse()


def _with_options(copy: CopyFiles, reader: WordReader) -> CopyFiles:
    piece = copy.piece
    format = _FORMATS.get(PurePosixPath(copy.place).suffix.lower().lstrip("."), "")
    mode, options = copy.mode, {}
    header: bool | None = None
    reader.skip("WITH")
    listed = reader.skip("(")
    while not reader.is_done and not (listed and reader.skip(")")):
        word, at = reader.word, reader.at
        reader.at += 1
        if word == "FORMAT":
            wanted = reader.value().lower()
            if wanted not in _FORMATS:
                hint = f"formats are {', '.join(dict.fromkeys(_FORMATS.values()))}"
                raise piece.unsupported(f"COPY with FORMAT {wanted} is not supported", hint, at + 1)
            format = _FORMATS[wanted]
        elif word in _OPTIONS:
            options[_OPTIONS[word]] = reader.value()
        elif word == "HEADER":
            header = _is_on(reader)
        elif word in _MODES and not copy.is_from:
            mode = _MODES[word] if _is_on(reader) else mode
        else:
            hint = f"options are FORMAT, HEADER, {', '.join(_OPTIONS)}, and of COPY TO {', '.join(_MODES)}"
            raise piece.unsupported(f"COPY with {word or 'this option'} is not supported", hint, at)
        if listed and not reader.skip(",") and reader.word != ")":
            raise reader.failure(", or ) is expected")
    reader.end()
    if not format:
        raise piece.unsupported("COPY of files without a known format is not supported", "add (FORMAT csv)")
    if format == "csv":
        has_header = not has(piece.dialect, Trait.COPIES_WITHOUT_HEADER) if header is None else header
        options["header"] = str(has_header).lower()
    return CopyFiles(piece, copy.is_from, copy.relation, copy.query, copy.place, format, mode, options)


def _is_on(reader: WordReader) -> bool:
    """Whether a switch is on, which it is without a value."""
    if reader.is_done or reader.word in (",", ")"):
        return True
    return reader.value().upper() in _TRUE
