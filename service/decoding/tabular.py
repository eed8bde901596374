"""Tables as bodies: CSV, Arrow streams and Parquet, decoded to words a batch at a time.

Every row is an insert unless a column `_op` says `insert`, `delete` or `upsert`. Columns match by name. A
batch is measured before it is converted: rows that share values in the file count as if they did not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc
import pyarrow.parquet

from engine.codec.arrow import encode_arrow
from engine.errors import InvalidValue
from engine.schema import Schema
from engine.state.dictionary import Dictionary
from service.changes.table_changes import ChangeOp, TableChanges
from service.decoding import csv_lines
from service.decoding.arrow_messages import message_sizes
from service.decoding.arrow_sizes import VALUE, decoded_size
from service.decoding.csv_body import no_rows, read_csv
from service.decoding.csv_texts import plain_texts
from service.decoding.gathering import gather
from service.decoding.objects import FORM, column_of
from service.decoding.parquet_chunks import column_chunks
from service.definitions.definition import Definition
from service.errors import Invalid
from service.names import OPERATION
from service.settings.budget import Budget, too_many_bytes, too_many_rows

OPS = {"insert": ChangeOp.INSERT, "delete": ChangeOp.DELETE, "upsert": ChangeOp.UPSERT}
_BATCH = 1 << 16
"""Rows of Parquet that are decoded at once."""
_ROOM = 4
"""A batch of Parquet may briefly take this many times the bytes that a body may have."""

Batches = Callable[[bytes, int, Budget], Iterator[pa.RecordBatch]]
"""A function from a body, the most rows, and the budget to the body's batches."""


def changes_of_table(
    body: bytes, batches: Batches, definition: Definition, dictionary: Dictionary, budget: Budget
) -> TableChanges:
    """The changes in a body's rows. Raises pyarrow's errors if the body is broken."""
    most = budget.most(len(definition.schema))

    def parts() -> Iterator[TableChanges]:
        rows = size = 0
        for batch in batches(body, most, budget):
            if rows + batch.num_rows > most:
                raise too_many_rows(most)
            size += decoded_size(batch, budget.bytes - size)
            yield _changes(batch, rows, body if batches is read_csv else None, definition, dictionary)
            rows += batch.num_rows

    return gather(parts(), definition, budget)


def _changes(
    batch: pa.RecordBatch,
    first: int,
    csv: bytes | None,
    definition: Definition,
    dictionary: Dictionary,
) -> TableChanges:
    """The changes of a batch whose rows are numbered from `first`. `csv` is the body if it is CSV: errors
    name its lines, and its fields are texts."""
    place = _row if csv is None else _line(csv)
    encode = partial(encode_texts if csv is not None else encode_arrow, schema=definition.loose)
    ops = np.zeros(batch.num_rows, np.int8)
    columns: list[pa.Array | None] = [None] * len(definition.schema)
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if name == OPERATION:
            ops, unknown = operations(column)
            if unknown.any():
                bad = int(unknown.argmax())
                raise unknown_operation(column[bad].as_py(), f"{place(first + bad)}: ")
            continue
        index = column_of(name, definition, "the body")
        if columns[index] is not None:
            raise Invalid(f"the body has column {name} twice", code="duplicate_column")
        columns[index] = column
    left_out = [place for place, column in enumerate(columns) if column is None]
    filled = [pa.nulls(batch.num_rows) if column is None else column for column in columns]
    named = pa.RecordBatch.from_arrays(filled, names=[str(i) for i in range(len(filled))])
    try:
        words = encode(named, dictionary=dictionary)
    except InvalidValue as error:
        bad, found = first_bad(named, partial(encode, dictionary=dictionary), error)
        raise InvalidValue(f"{place(first + bad)}: {found.message}", found.hint) from None
    words[left_out] = definition.defaults()[left_out, np.newaxis]
    return TableChanges(definition.schema, ops, words)


def encode_texts(batch: pa.RecordBatch, schema: Schema, dictionary: Dictionary) -> np.ndarray:
    """The words of fields of CSV."""
    return encode_arrow(plain_texts(batch, schema), schema, dictionary)


def first_bad(
    batch: pa.RecordBatch, encode: Callable[[pa.RecordBatch], np.ndarray], error: InvalidValue
) -> tuple[int, InvalidValue]:
    """The first row of a batch that does not fit, and the error. Searches by halves, trying each once."""
    low, high = 0, batch.num_rows
    while high - low > 1:
        middle = (low + high) // 2
        try:
            encode(batch.slice(low, middle - low))
            low = middle
        except InvalidValue as found:
            error, high = found, middle
    try:
        encode(batch.slice(low, 1))
    except InvalidValue as found:
        error = found
    return low, error


def _row(row: int) -> str:
    return f"row {row}"


def _line(body: bytes) -> Callable[[int], str]:
    def name(row: int) -> str:
        line = csv_lines.line_of(body, row)
        return _row(row) if line is None else f"line {line}"

    return name


def operations(column: pa.Array | pa.ChunkedArray) -> tuple[np.ndarray, np.ndarray]:
    """The operations int8[n] in a column `_op`, where NULL is an insert; and which are unknown, bool[n]."""
    try:
        names = column.cast(pa.string()).fill_null("insert")
    except pa.ArrowException:
        raise Invalid(f"column {OPERATION} is not text", code="invalid_change") from None
    places = pc.index_in(names, pa.array(list(OPS)))
    unknown = places.is_null().to_numpy(zero_copy_only=False)
    return np.array(list(OPS.values()), np.int8)[places.fill_null(0).to_numpy()], unknown


def unknown_operation(name: str, where: str = "") -> Invalid:
    """The error for an unknown operation in a column `_op`."""
    return Invalid(f"{where}{OPERATION} {name[:100]!r} is not an operation", FORM, code="invalid_change")


# The formats


def read_arrow(body: bytes, most: int, budget: Budget) -> Iterator[pa.RecordBatch]:
    """Reads the sizes in the messages before anything is decompressed."""
    rows = size = 0
    for more_rows, more in message_sizes(body):
        rows, size = rows + more_rows, size + more
        if rows > most:
            raise too_many_rows(most)
        if size > budget.bytes:
            raise too_many_bytes(budget.bytes)
    with pyarrow.ipc.open_stream(pa.BufferReader(body)) as reader:
        yield no_rows(reader.schema)
        for batch in reader:
            # The buffers come from outside, so offsets are checked before they are used.
            batch.validate(full=True)
            yield batch


def read_parquet(body: bytes, most: int, budget: Budget) -> Iterator[pa.RecordBatch]:
    """Keeps texts as dictionaries where the file has them so.

    PyArrow cannot do that for encodings that store a text as its difference from the previous one. A text of
    such a column is no longer than the column's chunk, so a batch has as many rows as fit at that length.
    """
    file = pyarrow.parquet.ParquetFile(pa.BufferReader(body))
    about, schema = file.metadata, file.schema
    if about.num_rows > most:
        raise too_many_rows(most)
    chunks = [chunk for group in column_chunks(file) for chunk in group]
    size = sum(max(chunk.total_uncompressed_size, chunk.num_values) for chunk in chunks)
    if size > budget.bytes:
        raise too_many_bytes(budget.bytes)
    deltas = [c for c in chunks if any(encoding.startswith("DELTA") for encoding in c.encodings)]
    unshared = {chunk.path_in_schema for chunk in deltas}
    columns = [schema.column(i) for i in range(len(schema))]
    texts = {column.path for column in columns if column.physical_type == "BYTE_ARRAY"}
    widest = max((column.length for column in columns), default=0)
    longest = max((c.total_uncompressed_size for c in deltas if c.path_in_schema in texts), default=0)
    rows = max(1, min(_BATCH, budget.bytes // max(widest, VALUE), _ROOM * budget.bytes // max(longest, 1)))
    file = pyarrow.parquet.ParquetFile(
        pa.BufferReader(body), read_dictionary=sorted(texts - unshared), page_checksum_verification=True
    )
    yield no_rows(file.schema_arrow)
    for batch in file.iter_batches(rows, use_threads=False):
        # PyArrow does not look whether a place in a dictionary exists.
        batch.validate(full=True)
        yield batch
