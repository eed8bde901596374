"""Plain NDJSON into words by columns: most bodies that programs send.

A line is plain if it is an operation with a row, and each name in it is a column's, written as the table
writes it, and comes once. The words are those that `service/decoding/objects.py` makes of the same lines. A
piece with any other line, or with a value that does not fit, is left to it: it takes lines one by one, and
finds the place of an error.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import orjson

from engine.codec.json import encode_rows
from engine.codec.json_cells import JsonCells, is_unicode, scan_lines
from engine.codec.plain_texts import words_of_plain
from engine.errors import InvalidValue
from engine.kernels.scanning.json_lines import ESCAPED, FALSE, MISSING, NULL_CELL, NUMBER, TAKEN, TEXT, TRUE
from engine.schema import Column, Kind, Schema
from engine.state.dictionary import Dictionary
from service.changes.table_changes import TableChanges
from service.decoding.pieces import WHOLE
from service.definitions.definition import Definition

_ROWS = 1 << 13
"""Lines that are taken at once."""
_FEW = 16
"""Lines from which on columns are faster than objects."""
_EXACT = 16
"""The most characters of a number that is the same as a float."""
_STRINGS = frozenset({TEXT})
_NUMBERS = frozenset({NUMBER})
_CELLS = {
    Kind.TEXT: frozenset({TEXT, ESCAPED}),
    Kind.SMALLINT: _NUMBERS,
    Kind.INTEGER: _NUMBERS,
    Kind.BIGINT: _NUMBERS,
    Kind.NUMERIC: frozenset({TEXT, NUMBER}),
    Kind.REAL: _NUMBERS,
    Kind.DOUBLE: _NUMBERS,
    Kind.BOOLEAN: frozenset({TRUE, FALSE}),
    Kind.ENUM: _STRINGS,
    Kind.DATE: _STRINGS,
    Kind.TIME: _STRINGS,
    Kind.TIMESTAMP: _STRINGS,
    Kind.TIMESTAMPTZ: _STRINGS,
    Kind.UUID: _STRINGS,
}
"""By kind of column, the kinds of cells whose texts are read as plain texts."""


def pieces_of_lines(body: bytes) -> Iterator[tuple[bytes, int]]:
    """A body in pieces of whole lines, each with the number of its first line."""
    at, number = 0, 1
    while at < len(body):
        end = body.find(b"\n", at + WHOLE)
        end = len(body) if end < 0 else end + 1
        piece = body[at:end]
        yield piece, number
        number += piece.count(b"\n")
        at = end


def plain_changes(piece: bytes, definition: Definition, dictionary: Dictionary) -> TableChanges | None:
    """The changes in a piece of a body; None if a line is not plain or does not fit."""
    data = np.frombuffer(bytearray(piece), np.uint8)
    if len(piece) > 2 * WHOLE or piece.count(b"\n") < _FEW or not is_unicode(data):
        return None
    parts = [definition.no_changes]
    at = 0
    while at < len(data):
        cells = scan_lines(data, at, definition.schema.names, True, _ROWS)
        words = _words(cells, definition, dictionary) if cells.why == TAKEN else None
        if words is None:
            return None
        parts.append(TableChanges(definition.schema, cells.ops, words))
        at = cells.end
    return TableChanges.concat(parts)


def _words(cells: JsonCells, definition: Definition, dictionary: Dictionary) -> np.ndarray | None:
    words = np.empty((len(definition.schema), len(cells)), np.int64)
    for place, column in enumerate(definition.loose.columns):
        found = _plain(cells, place, column, dictionary)
        if found is None:
            found = _parsed(cells, place, column, dictionary)
        if found is None:
            return None
        words[place] = found
    missing = cells.kinds == MISSING
    if missing.any():
        words = np.where(missing, definition.defaults()[:, np.newaxis], words)
    return words


def _plain(cells: JsonCells, place: int, column: Column, dictionary: Dictionary) -> np.ndarray | None:
    """The words of a column of plain texts."""
    kinds = cells.kinds[place]
    found = set(np.flatnonzero(np.bincount(kinds, minlength=1)).tolist()) - {MISSING, NULL_CELL}
    if not found <= _CELLS.get(column.type.kind, frozenset()):
        return None
    if column.type.kind is Kind.NUMERIC and NUMBER in found:
        lengths = cells.stops[place] - cells.begins[place]
        if lengths[kinds == NUMBER].max() > _EXACT:
            return None
    texts = cells.texts(place)
    return None if texts is None else words_of_plain(texts, column.type, dictionary)


def _parsed(cells: JsonCells, place: int, column: Column, dictionary: Dictionary) -> np.ndarray | None:
    """The words of a column whose values are parsed; None if one does not fit."""
    data = cells.data.data
    texts = []
    spans = (cells.kinds[place].tolist(), cells.begins[place].tolist(), cells.stops[place].tolist())
    for kind, begin, stop in zip(*spans, strict=True):
        quote = kind in (TEXT, ESCAPED)
        texts.append(b"null" if kind in (MISSING, NULL_CELL) else bytes(data[begin - quote : stop + quote]))
    try:
        values = orjson.loads(b"[" + b",".join(texts) + b"]")
        return encode_rows([(value,) for value in values], Schema((column,)), dictionary)[0]
    except (orjson.JSONDecodeError, InvalidValue):
        return None
