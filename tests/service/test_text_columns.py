"""Lines of JSON and of CSV, which are written a column at a time, are those of values written one by one."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import orjson
import pytest

from engine.codec.arrow import decode_column
from engine.codec.column_texts import column_texts
from engine.codec.json import decode_rows, encode_rows
from engine.schema import (
    BIGINT,
    BIT,
    BOOLEAN,
    BYTEA,
    DATE,
    DOUBLE,
    INTEGER,
    INTERVAL,
    JSON,
    NESTED,
    REAL,
    SMALLINT,
    TEXT,
    TIME,
    TIMESTAMP,
    TIMESTAMPTZ,
    TIMETZ,
    UUID,
    Column,
    Kind,
    Schema,
    Type,
    array_of,
    enumeration,
    numeric,
    struct_of,
    whole,
)
from engine.state.dictionary import Dictionary
from service.reading.text_columns import csv_header, csv_lines, json_lines

TEXTS = [
    "",
    "a",
    'say "so"',
    "a,b",
    "a\nb",
    "a\rb",
    "\\",
    "\t",
    "\x00"[:0],
    "\x1f",
    "\x7f",
    "é",
    "日本",
    "😀",
    "\u2028",
]
FLOATS = [0.0, -0.0, 0.1, 1e16, 1e20, 1e-5, 1e-7, 123456789.125, 5e-324, 1.7976931348623157e308]
VALUES: dict[Type, Sequence[object]] = {
    SMALLINT: [0, -32768, 32767],
    INTEGER: [0, -1, 2**31 - 1],
    BIGINT: [0, 2**63 - 1, -(2**63) + 1],
    whole("HUGEINT"): [0, 2**100, -(2**100)],
    BOOLEAN: [True, False],
    REAL: [0.0, 0.1, 1e10, 3.4e38, "NaN", "Infinity", "-Infinity"],
    DOUBLE: [*FLOATS, "NaN", "Infinity", "-Infinity"],
    TEXT: TEXTS,
    UUID: ["0a0b0c0d-0000-4000-8000-000000000001"],
    BIT: ["0", "0101"],
    JSON: [{"a": [1, 2.5, None, 'x"y']}, [], "text", 7, True],
    BYTEA: ["aGk=", ""],
    DATE: ["2020-02-29", "0001-01-01", "9999-12-31"],
    TIME: ["00:00:00", "23:59:59.999999", "12:30:00.5"],
    TIMETZ: ["00:00:00+00:00", "23:59:59.5-08:00"],
    TIMESTAMP: ["2020-02-29T00:00:00", "1969-12-31T23:59:59.999999", "2020-01-01T00:00:00.500000"],
    TIMESTAMPTZ: ["2020-02-29T00:00:00Z", "2020-01-01T00:00:00.000001Z"],
    INTERVAL: ["P1D", "PT0S", "P1Y2M3DT4H5M6.7S"],
    numeric(10, 2): ["0.00", "-0.01", "12345678.90"],
    numeric(18, 9): ["0.000000001", "-0.000000120", "0.000000000", "0.000001000", "-123456789.000000000"],
    numeric(38, 30): ["0." + "0" * 29 + "1", "-12345678." + "1" * 30, "0." + "0" * 30],
    numeric(30, 3): ["0.001", "-123456789012345678901234567.890"],
    numeric(20, 0): ["0", "99999999999999999999", "NaN", "Infinity"],
    enumeration("low", 'hi"gh', "a,b"): ["low", 'hi"gh', "a,b"],
    array_of(TEXT): [[], ["a", None, 'b"']],
    struct_of((("x", INTEGER), ("y", TEXT))): [{"x": 1, "y": "a,b"}],
}
FAR = {
    DATE: ["-0044-03-15", "+12345-01-01", "infinity", "-infinity"],
    TIMESTAMP: ["-0044-03-15T00:00:00", "+12345-01-01T00:00:00.500000", "infinity"],
    TIMESTAMPTZ: ["+12345-01-01T00:00:00Z", "-infinity"],
}


def _field(value: object, type: Type, alone: bool) -> str:
    if value is None:
        return ""
    if type.kind is Kind.JSON or type.kind in NESTED:
        value = orjson.dumps(value).decode()
    text = str(value).lower() if isinstance(value, bool) else str(value)
    is_quoted = text == "" or set(text) & set(',"\r\n') or (alone and set(text) <= set(" \t\f"))
    return '"' + text.replace('"', '""') + '"' if is_quoted else text


def check(types: Sequence[Type], rows: Sequence[Sequence[object]]) -> None:
    """Both formats of the rows are what their values say, one by one."""
    schema = Schema(tuple(Column(f'c"{i},', type) for i, type in enumerate(types)))
    dictionary = Dictionary()
    words = encode_rows(rows, schema, dictionary)
    values = decode_rows(words, schema, dictionary)
    objects = [dict(zip(schema.names, row, strict=True)) for row in values]
    lines = b"".join(orjson.dumps(each, option=orjson.OPT_APPEND_NEWLINE) for each in objects)
    assert json_lines(words, schema, dictionary) == lines
    alone = [len(types) == 1] * len(types)
    fields = [",".join(map(_field, row, types, alone)) + "\r\n" for row in values]
    assert csv_lines(words, schema, dictionary).decode() == "".join(fields)


@pytest.mark.parametrize("type", VALUES, ids=str)
def test_each_type(type: Type) -> None:
    check([type], [(value,) for value in (*VALUES[type], *FAR.get(type, ()), None)])
    for value in (*VALUES[type], None):
        check([type], [(value,)] * 2)
    check([type], [])


@pytest.mark.parametrize("type", [numeric(10, 2), numeric(18, 9), numeric(38, 30)], ids=str)
def test_numbers_are_written_a_column_at_a_time_whatever_their_places(type: Type) -> None:
    dictionary = Dictionary()
    given = [*VALUES[type], None]
    words = encode_rows([(value,) for value in given], Schema((Column("x", type),)), dictionary)
    texts = column_texts(decode_column(words[0], type, dictionary), Kind.NUMERIC)
    assert texts is not None and texts.to_pylist() == given


def test_random_rows_of_all_types() -> None:
    rng = random.Random(7)
    for _ in range(20):
        types = rng.choices(list(VALUES), k=rng.randint(1, 12))
        near = rng.random() < 0.5
        from_ = [[*VALUES[type], *(() if near else FAR.get(type, ())), None] for type in types]
        check(types, [[rng.choice(each) for each in from_] for _ in range(rng.choice((1, 3, 50)))])


def test_rows_without_columns() -> None:
    words = np.empty((0, 3), np.int64)
    assert json_lines(words, Schema(()), Dictionary()) == b"{}\n" * 3
    assert csv_lines(words, Schema(()), Dictionary()) == b"\r\n" * 3


def test_the_header() -> None:
    assert csv_header(Schema((Column("a", TEXT), Column('b"c', TEXT), Column("d,e", TEXT)))) == (
        b'a,"b""c","d,e"\r\n'
    )
