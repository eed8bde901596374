"""The bodies of COPY FROM, decoded to the changes of a table.

CSV is read by the reader of CSV bodies, and so is the text format, whose fields are unescaped afterwards: a
line break or a delimiter inside a field is always escaped there, so its lines can be cut first. Fields become
values by the same conversion as those of CSV bodies, so both doors take the same forms; the binary format has
one of its own.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from engine.errors import InvalidValue
from engine.schema import NESTED, Kind, Type
from engine.state.dictionary import Dictionary
from service.changes.table_changes import ChangeOp, TableChanges
from service.decoding.csv_body import CsvForm, read_formed
from service.decoding.gathering import gather
from service.decoding.tabular import encode_texts, first_bad
from service.definitions.definition import Definition
from service.pgformats.text_values import IN
from service.pgformats.value_formats import reader
from service.pgformats.wire_types import wire_type
from service.postgres.copy_binaries import changes_of_binary
from service.postgres.copy_statements import CopyFormat
from service.postgres.parameter_values import said
from service.reading.session_zones import UTC_ZONE, SessionZone
from service.settings.budget import Budget

_ESCAPE = re.compile(r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|(.))", re.DOTALL)
_LETTERS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_RESPELLED = NESTED | {Kind.BYTEA, Kind.INTERVAL, Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMPTZ}
"""Kinds that PostgreSQL writes in another form than CSV bodies have."""
_MOMENTS = frozenset({Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMPTZ})


def changes_of_copy(
    body: bytes,
    form: CopyFormat,
    definition: Definition,
    columns: Sequence[int],
    dictionary: Dictionary,
    budget: Budget,
    zone: SessionZone = UTC_ZONE,
) -> TableChanges:
    """The rows in a body as inserts, in a session of a time zone.

    Raises InvalidValue and BadRequest that name the line, TooLarge.
    """
    if form.kind == "BINARY":
        parts = changes_of_binary(body, definition, columns, dictionary)
    else:
        parts = _of_text(body, form, definition, columns, dictionary, zone)
    return gather(parts, definition, budget)


def _of_text(
    body: bytes,
    form: CopyFormat,
    definition: Definition,
    columns: Sequence[int],
    dictionary: Dictionary,
    zone: SessionZone,
) -> Iterator[TableChanges]:
    schema = definition.schema
    names = tuple(schema.names[place] for place in columns)
    is_text = form.kind == "TEXT"
    csv = CsvForm(
        names,
        form.delimiter,
        None if is_text else form.quote,
        None if is_text else form.escape,
        form.null,
        form.header,
    )
    row = 0
    for batch in read_formed(without_end(body), csv):
        first = row + 1 + form.header
        encode = partial(
            _encode,
            is_text=is_text,
            definition=definition,
            columns=columns,
            dictionary=dictionary,
            zone=zone,
        )
        try:
            words = encode(batch)
        except InvalidValue as error:
            bad, found = first_bad(batch, encode, error)
            line = first + bad if is_text else csv.line_of(body, row + bad)
            raise InvalidValue(f"line {line}: {found.message}", found.hint) from None
        yield TableChanges.of(ChangeOp.INSERT, schema, words)
        row += batch.num_rows


def without_end(body: bytes) -> bytes:
    """The body without the line `\\.` and what follows it, with which older clients end the data."""
    if body.startswith(b"\\."):
        return b""
    found = re.search(rb"\r?\n\\\.(\r?\n|$)", body) if b"\\." in body else None
    return body if found is None else body[: found.start() + 1]


def _unescaped(array: pa.Array) -> pa.Array:
    """Texts in which the escapes of the text format are what they stand for."""
    if not pc.any(pc.match_substring(array, "\\")).as_py():
        return array
    texts = [
        text if text is None or "\\" not in text else _ESCAPE.sub(_letter, text) for text in array.to_pylist()
    ]
    return pa.array(texts, array.type)


def _letter(found: re.Match[str]) -> str:
    octal, hexadecimal, letter = found.groups()
    if letter is not None:
        return _LETTERS.get(letter, letter)
    code = int(octal, 8) & 0xFF if octal else int(hexadecimal, 16)
    if not 0 < code < 128:
        raise InvalidValue(
            f"the escape {found[0]} is not a character by itself", "write the character in UTF-8"
        )
    return chr(code)


def _encode(
    batch: pa.RecordBatch,
    is_text: bool,
    definition: Definition,
    columns: Sequence[int],
    dictionary: Dictionary,
    zone: SessionZone,
) -> np.ndarray:
    """The words of whole rows, with defaults in the columns that the body does not have."""
    schema = definition.schema
    filled: list[pa.Array] = [pa.nulls(batch.num_rows, pa.large_string())] * len(schema)
    for place, array in zip(columns, batch.columns, strict=True):
        plain = _unescaped(array) if is_text else array
        filled[place] = _respelled(plain, schema.types[place], schema.names[place], zone)
    named = pa.RecordBatch.from_arrays(filled, names=[str(i) for i in range(len(filled))])
    words = encode_texts(named, definition.loose, dictionary)
    left_out = [place for place in range(len(schema)) if place not in set(columns)]
    words[left_out] = definition.defaults()[left_out, np.newaxis]
    return words


def _respelled(array: pa.Array, type: Type, name: str, zone: SessionZone) -> pa.Array:
    """Texts in the form that CSV bodies have, of kinds where PostgreSQL's is another."""
    if type.kind not in _RESPELLED:
        return array
    is_local = type.kind is Kind.TIMESTAMPTZ and not zone.is_utc
    if type.kind in _MOMENTS and not is_local and not _is_unusual(array):
        return array
    read = _reader_of(type, zone)
    try:
        return pa.array(
            [None if text is None else read(text) for text in array.to_pylist()], pa.large_string()
        )
    except InvalidValue as error:
        raise InvalidValue(f"column {name}: {error.message}", error.hint) from None


def _is_unusual(array: pa.Array) -> bool:
    """Whether a text has an era, an expanded year or an offset without minutes."""
    return bool(pc.any(pc.match_substring_regex(array, r"BC|^[0-9]{5}|inf")).as_py())


def _reader_of(type: Type, zone: SessionZone) -> Callable[[str], str]:
    wire = wire_type(type)
    read = reader(wire, 0, zone)

    def respelled(text: str) -> str:
        value = said(read(text.encode()), wire)
        return value if isinstance(value, str) else orjson.dumps(value).decode()

    if type.kind is Kind.BYTEA:
        return lambda text: base64.b64encode(IN[Kind.BYTEA](text)).decode()
    return respelled
