"""Bodies of changes: JSON, NDJSON, Debezium's envelopes, CSV, Arrow streams and Parquet to words.

JSON says of every change what it does; of the tables every row is an insert, unless a
column `_op` says `insert`, `delete` or `upsert`. A column that a row leaves out has
its default; one that the table does not have is an error. Whether the changes can be made is
not judged here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from io import BytesIO

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet

from engine.codec import encode_arrow
from engine.dictionary import Dictionary
from service.changes import Op, TableChanges
from service.debezium import Reader
from service.definition import Definition
from service.encodings import UNITS
from service.errors import BadRequest, Invalid, TooLarge, UnsupportedFormat
from service.names import OPERATION
from service.objects import changes_of, column_of, row_reader

JSON = "application/json"
NDJSON = "application/x-ndjson"
DEBEZIUM = "application/vnd.debezium+json"
CSV = "text/csv"
ARROW = "application/vnd.apache.arrow.stream"
PARQUET = "application/vnd.apache.parquet"

_CHUNK = 512
"""Lines that are parsed at once."""
_OPS = {"insert": Op.INSERT, "delete": Op.DELETE, "upsert": Op.UPSERT}
_FORM = 'a change is {"insert": {...}}, {"delete": {...}} or {"upsert": {...}}'


def parse(
    body: bytes, content_type: str, definition: Definition, dictionary: Dictionary, limit: int
) -> TableChanges:
    """The changes of a table that a body says. `limit` bounds the bytes that a compressed format may hold.

    BadRequest where the format is broken, Invalid or InvalidValue where a row does not fit the table.
    """
    media_type, _, parameters = content_type.partition(";")
    media_type = media_type.strip().lower() or JSON
    if media_type == JSON:
        return of_objects(loads(body), definition, dictionary)
    if media_type in (NDJSON, "application/ndjson", "application/jsonl"):
        return of_objects(_lines(body), definition, dictionary)
    if media_type == DEBEZIUM:
        return of_envelopes(_envelopes(body), definition, dictionary, _unit(parameters))
    reader = _TABULAR.get(media_type)
    if reader is None:
        raise UnsupportedFormat(
            f"content type {media_type} is not supported",
            f"{JSON}, {NDJSON}, {DEBEZIUM}, {', '.join(_TABULAR)} are",
        )
    try:
        table = reader(body, limit)
    except (pa.ArrowException, OSError) as error:
        raise BadRequest(f"the body is not {media_type}: {error}", code="invalid_body") from None
    return _of_table(table, definition, dictionary)


def _unit(parameters: str) -> str | None:
    """The unit that the parameter `timestamps` of a content type names; None if it names none."""
    for parameter in parameters.split(";"):
        name, _, value = parameter.strip().partition("=")
        if name.lower() == "timestamps":
            if value not in UNITS:
                raise UnsupportedFormat(f"timestamps={value} is not supported", f"{', '.join(UNITS)} are")
            return value
    return None


def loads(body: bytes) -> object:
    """The JSON value of a body; BadRequest."""
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise BadRequest(f"the body is not JSON: {error}", code="invalid_json") from None


def _lines(body: bytes) -> list[object]:
    """The values of NDJSON; blank lines are passed over.

    Some lines at a time are parsed as one array: faster than each alone, and still no call
    is so long that other threads wait for the interpreter.
    """
    lines = [line for line in body.split(b"\n") if line and not line.isspace()]
    values: list[object] = []
    for start in range(0, len(lines), _CHUNK):
        chunk = lines[start : start + _CHUNK]
        try:
            values += orjson.loads(b"[" + b",".join(chunk) + b"]")
        except orjson.JSONDecodeError:
            raise _bad_line(body) from None
        if len(values) != start + len(chunk):
            raise _bad_line(body)
    return values


def _bad_line(body: bytes) -> BadRequest:
    """Says which line of a body is not one JSON value."""
    for number, line in enumerate(body.split(b"\n"), 1):
        try:
            if line.strip():
                orjson.loads(line)
        except orjson.JSONDecodeError as error:
            return BadRequest(f"line {number} is not JSON: {error}", code="invalid_json")
    return BadRequest("the body is not one JSON value a line", code="invalid_json")


def of_objects(changes: object, definition: Definition, dictionary: Dictionary) -> TableChanges:
    """The changes that an array of JSON objects says."""
    if not isinstance(changes, list):
        raise Invalid("the body is not an array of changes", _FORM, code="invalid_change")
    ops = []
    rows = []
    row_of = row_reader(definition)
    for place, change in enumerate(changes):
        if not isinstance(change, dict) or len(change) != 1:
            raise Invalid(f"change {place} is not one", _FORM, code="invalid_change")
        ((name, row),) = change.items()
        op = _OPS.get(name)
        if op is None or not isinstance(row, dict):
            raise Invalid(f"change {place} is not one", _FORM, code="invalid_change")
        ops.append(op)
        rows.append(row_of(row, place))
    return changes_of(ops, rows, definition, dictionary)


def _envelopes(body: bytes) -> list[object]:
    """Debezium's envelopes: one, an array of them, or one a line."""
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError:
        return _lines(body)
    return document if isinstance(document, list) else [document]


def of_envelopes(
    documents: Sequence[object], definition: Definition, dictionary: Dictionary, unit: str | None
) -> TableChanges:
    """The changes that Debezium's envelopes say; `unit` is of moments that are numbers without a schema."""
    envelopes = Reader(definition, unit)
    read = [
        (op, row, place)
        for place, document in enumerate(documents)
        for op, row in envelopes.read(document, place)
    ]
    ops, rows, places = zip(*read, strict=True) if read else ((), (), ())
    return changes_of(ops, rows, definition, dictionary, places)


# Tables of columns


def _of_table(table: pa.Table, definition: Definition, dictionary: Dictionary) -> TableChanges:
    """The changes that an Arrow table's rows say; columns count by name."""
    ops = np.zeros(table.num_rows, np.int8)
    columns: list[pa.ChunkedArray | None] = [None] * len(definition.schema)
    for name, column in zip(table.column_names, table.columns, strict=True):
        if name == OPERATION:
            ops, unknown = operations(column)
            if unknown.any():
                raise unknown_operation(column[int(unknown.argmax())].as_py())
            continue
        index = column_of(name, definition, "the body")
        if columns[index] is not None:
            raise Invalid(f"the body has column {name} twice", code="duplicate_column")
        columns[index] = column
    left_out = [place for place, column in enumerate(columns) if column is None]
    filled = [pa.nulls(table.num_rows) if column is None else column for column in columns]
    renamed = pa.Table.from_arrays(filled, names=[str(i) for i in range(len(filled))])
    words = encode_arrow(renamed, definition.loose, dictionary)
    words[left_out] = definition.defaults()[left_out, np.newaxis]
    return TableChanges(definition.schema, ops, words)


def operations(column: pa.ChunkedArray) -> tuple[np.ndarray, np.ndarray]:
    """The operations int8[n] that a column `_op` names, NULL an insert, and where it names none, bool[n]."""
    try:
        names = column.cast(pa.string()).fill_null("insert")
    except pa.ArrowException:
        raise Invalid(f"column {OPERATION} is not text", code="invalid_change") from None
    places = pc.index_in(names, pa.array(list(_OPS)))
    unknown = places.is_null().to_numpy(zero_copy_only=False)
    return np.array(list(_OPS.values()), np.int8)[places.fill_null(0).to_numpy()], unknown


def unknown_operation(name: str) -> Invalid:
    """What the author of a column `_op` is told that names no operation."""
    return Invalid(f"{OPERATION} {name!r} is no operation", _FORM, code="invalid_change")


def _read_csv(body: bytes, limit: int) -> pa.Table:
    """All columns as text; a field is NULL if it is empty and not quoted."""
    header = pyarrow.csv.open_csv(
        BytesIO(body), parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True)
    ).schema.names
    if len(set(header)) != len(header):
        raise Invalid("the header names a column twice", code="duplicate_column")
    return pyarrow.csv.read_csv(
        BytesIO(body),
        parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types={name: pa.large_string() for name in header},
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        ),
    )


def _read_arrow(body: bytes, limit: int) -> pa.Table:
    batches = []
    size = 0
    with pyarrow.ipc.open_stream(body) as reader:
        for batch in reader:
            # Buffers come from outside: offsets are not believed before they are checked.
            batch.validate(full=True)
            size += batch.nbytes
            _check_size(size, limit)
            batches.append(batch)
        return pa.Table.from_batches(batches, reader.schema)


def _read_parquet(body: bytes, limit: int) -> pa.Table:
    file = pyarrow.parquet.ParquetFile(pa.BufferReader(body))
    groups = file.metadata.num_row_groups
    _check_size(sum(file.metadata.row_group(i).total_byte_size for i in range(groups)), limit)
    table = file.read()
    _check_size(table.nbytes, limit)
    return table


def _check_size(size: int, limit: int) -> None:
    if size > limit:
        raise TooLarge(f"the body holds more than {limit} bytes", "send it in several requests")


_TABULAR: dict[str, Callable[[bytes, int], pa.Table]] = {
    CSV: _read_csv,
    ARROW: _read_arrow,
    PARQUET: _read_parquet,
}
