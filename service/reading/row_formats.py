"""Rows as bytes: JSON objects, NDJSON, CSV, Arrow streams and Parquet, a piece at a time.

Each format turns a `Reading` into an iterator of pieces, so that no response is in memory as a whole. Text
formats write values as the REST contract does (`text_columns`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet

from engine.codec.arrow import arrow_type, decode_arrow, decode_named
from engine.codec.json import decode_rows
from engine.codec.numerals import are_special
from engine.codec.parquet import decode_parquet, parquet_schema
from engine.schema import Schema, Type
from engine.state.dictionary import Dictionary
from service.decoding.parsing import ARROW, CSV, JSON, NDJSON, PARQUET
from service.reading.piece_sink import PieceSink
from service.reading.row_readings import Reading
from service.reading.text_columns import csv_header, csv_lines, json_lines

TEXT_ROWS = 1 << 14
COLUMN_ROWS = 1 << 17
_SQL_TYPE = b"freshet.type"
"""The metadata of an Arrow field that has the SQL type of its column."""


def json_rows(words: np.ndarray, schema: Schema, dictionary: Dictionary) -> list[dict[str, object]]:
    """The rows of words int64[W, n] as JSON objects."""
    names = schema.names
    return [dict(zip(names, row, strict=True)) for row in decode_rows(words, schema, dictionary)]


def changes_of(delta: np.ndarray, schema: Schema, dictionary: Dictionary) -> list[dict[str, object]]:
    """The changes of a delta int64[W + 2, n] as JSON objects."""
    rows = json_rows(np.ascontiguousarray(delta[:-2]), schema, dictionary)
    epochs, diffs = delta[-2].tolist(), delta[-1].tolist()
    return [{"epoch": e, "diff": d, "row": row} for e, d, row in zip(epochs, diffs, rows, strict=True)]


def ndjson(reading: Reading, dictionary: Dictionary, start: int, stop: int) -> Iterator[bytes]:
    for words in _parts(reading, start, stop, TEXT_ROWS):
        yield json_lines(words, reading.schema, dictionary)


def csv(reading: Reading, dictionary: Dictionary, start: int, stop: int) -> Iterator[bytes]:
    yield csv_header(reading.schema)
    for words in _parts(reading, start, stop, TEXT_ROWS):
        yield csv_lines(words, reading.schema, dictionary)


def check_decimals(reading: Reading, dictionary: Dictionary) -> None:
    """Raises InvalidValue, with the column, for a number that decimals lack: before their stream begins."""
    for words, column in zip(reading.words, reading.schema.columns, strict=True):
        if column.type.has_specials:
            decode_named(words[are_special(words, dictionary)], column, dictionary)
        elif _has_numbers_inside(column.type):
            decode_named(np.unique(words), column, dictionary)


def _has_numbers_inside(type: Type) -> bool:
    return any(part.has_specials or _has_numbers_inside(part) for part in type.parts)


def arrow_stream(reading: Reading, dictionary: Dictionary, start: int, stop: int) -> Iterator[bytes]:
    sink = PieceSink()
    with pyarrow.ipc.new_stream(sink, _arrow_schema(reading.schema)) as writer:
        for words in _parts(reading, start, stop, COLUMN_ROWS):
            writer.write_table(decode_arrow(words, reading.schema, dictionary))
            yield sink.take()
    yield sink.take()


def parquet(reading: Reading, dictionary: Dictionary, start: int, stop: int) -> Iterator[bytes]:
    sink = PieceSink()
    with pyarrow.parquet.ParquetWriter(sink, parquet_schema(reading.schema)) as writer:
        for words in _parts(reading, start, stop, COLUMN_ROWS):
            writer.write_table(decode_parquet(words, reading.schema, dictionary))
            yield sink.take()
    yield sink.take()


@dataclass(frozen=True)
class RowFormat:
    """`pieces(reading, dictionary, start, stop)` returns the bytes of rows `start` to `stop`; `check` raises
    for a reading that the format cannot have."""

    media_type: str
    pieces: Callable[[Reading, Dictionary, int, int], Iterator[bytes]]
    check: Callable[[Reading, Dictionary], None] = lambda reading, dictionary: None

    def checked(self, reading: Reading, dictionary: Dictionary, start: int, stop: int) -> Iterator[bytes]:
        """The pieces of a reading that the format can have. Raises InvalidValue for any other."""
        self.check(reading, dictionary)
        return self.pieces(reading, dictionary, start, stop)


STREAMS: dict[str, RowFormat] = {
    NDJSON: RowFormat(NDJSON, ndjson),
    CSV: RowFormat(f"{CSV}; charset=utf-8; header=present", csv),
    ARROW: RowFormat(ARROW, arrow_stream, check_decimals),
    PARQUET: RowFormat(PARQUET, parquet, check_decimals),
}


OFFERED = (JSON, *STREAMS)


def _parts(reading: Reading, start: int, stop: int, rows: int) -> Iterator[np.ndarray]:
    for at in range(start, stop, rows):
        yield reading.part(at, min(at + rows, stop))


def _arrow_schema(schema: Schema) -> pa.Schema:
    """The schema of a stream. Its fields say their SQL types, for Arrow has no JSON and no UUID."""
    return pa.schema(
        [
            pa.field(c.name, arrow_type(c.type), c.nullable, {_SQL_TYPE: str(c.type).encode()})
            for c in schema.columns
        ]
    )
