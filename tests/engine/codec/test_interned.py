"""Intervals, bytes, UUIDs and JSON: what the REST contract takes for them, and what it gives back."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import orjson
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import schema as s
from engine.codec.arrow import decode_arrow, encode_arrow
from engine.codec.json import decode_rows, encode_rows
from engine.codec.ordered_text import Interval
from engine.codec.python import decode_row, encode_row
from engine.errors import InvalidValue
from engine.schema import Column, Schema, Type
from engine.state.dictionary import Dictionary

MOOD = s.enumeration("sad", "happy")
INTERVALS = st.builds(
    Interval,
    st.integers(-(2**31), 2**31 - 1),
    st.integers(-(2**31), 2**31 - 1),
    st.integers(-(9 * 10**15), 9 * 10**15),
)
DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
).filter(lambda value: value is not None)


def one(type: Type) -> Schema:
    return Schema((Column("x", type),))


def back(value: object, type: Type) -> object:
    dictionary = Dictionary()
    return decode_rows(encode_rows([(value,)], one(type), dictionary), one(type), dictionary)[0][0]


@given(st.lists(st.none() | INTERVALS, max_size=12))
def test_intervals_come_back(intervals):
    dictionary = Dictionary()
    words = encode_rows([(value,) for value in intervals], one(s.INTERVAL), dictionary)
    texts = decode_rows(words, one(s.INTERVAL), dictionary)
    assert (encode_rows(texts, one(s.INTERVAL), dictionary) == words).all()
    table = decode_arrow(words, one(s.INTERVAL), dictionary)
    table.validate(full=True)
    parts = [v and (v.months, v.days, v.nanoseconds // 1000) for v in table.column(0).to_pylist()]
    assert parts == intervals
    assert (encode_arrow(table, one(s.INTERVAL), dictionary) == words).all()
    for word, interval in zip(words[0].tolist(), intervals, strict=True):
        assert decode_row((word,), one(s.INTERVAL), dictionary) == (interval,)


@given(DOCUMENTS)
def test_json_comes_back(document):
    written = orjson.loads(orjson.dumps(document))
    assert back(document, s.JSON) == written
    dictionary = Dictionary()
    words = encode_rows([(document,)], one(s.JSON), dictionary)
    table = decode_arrow(words, one(s.JSON), dictionary)
    assert orjson.loads(table.column(0)[0].as_py()) == written
    spaced = pa.table({"x": [orjson.dumps(document, option=orjson.OPT_INDENT_2).decode()]})
    assert (encode_arrow(spaced, one(s.JSON), dictionary) == words).all()


@pytest.mark.parametrize(
    ("value", "type", "expected"),
    [
        ("P1Y2M3DT4H5M6.5S", s.INTERVAL, "P1Y2M3DT4H5M6.5S"),
        ("P2W", s.INTERVAL, "P14D"),
        ("-P1DT1H", s.INTERVAL, "P-1DT-1H"),
        ("PT-0.000001S", s.INTERVAL, "PT-0.000001S"),
        ("P0D", s.INTERVAL, "PT0S"),
        (timedelta(days=-1, seconds=5), s.INTERVAL, "P-1DT5S"),
        ("/wBh", s.BYTEA, "/wBh"),
        (b"\xff\x00a", s.BYTEA, "/wBh"),
        ("", s.BYTEA, ""),
        ("F47AC10B-58CC-4372-A567-0E02B2C3D479", s.UUID, "f47ac10b-58cc-4372-a567-0e02b2c3d479"),
        ("happy", MOOD, "happy"),
        ("04:05", s.TIME, "04:05:00"),
        ("2024-01-01T00:30:00+02:00", s.TIMESTAMPTZ, "2023-12-31T22:30:00Z"),
        ("2024-01-01 00:30:00", s.TIMESTAMPTZ, "2024-01-01T00:30:00Z"),
        ("infinity", s.TIMESTAMPTZ, "infinity"),
        ([[1, None], []], s.array_of(s.array_of(s.INTEGER)), [[1, None], []]),
        (["P1M", None], s.array_of(s.INTERVAL), ["P1M", None]),
        ([1.5, "NaN"], s.array_of(s.DOUBLE), [1.5, "NaN"]),
        (["1.5"], s.array_of(s.numeric(4, 2)), ["1.50"]),
        ([{"a": [1]}], s.array_of(s.JSON), [{"a": [1]}]),
    ],
)
def test_values_come_back_as_the_contract_shows_them(value, type, expected):
    assert back(value, type) == expected


@pytest.mark.parametrize(
    ("value", "type"),
    [
        ("1 day", s.INTERVAL),
        ("P", s.INTERVAL),
        ("P1DT", s.INTERVAL),
        ("PT0.0000001S", s.INTERVAL),
        ("P2147483648D", s.INTERVAL),
        ("PT3000000H", s.INTERVAL),
        (5, s.INTERVAL),
        ("a", s.BYTEA),
        ("f47ac10b", s.UUID),
        ("angry", MOOD),
        (0, MOOD),
        ("25:00", s.TIME),
        ("24:00:00", s.TIME),
        ("04:05+01", s.TIME),
        ("2024-01-01T00:00:00.1234567Z", s.TIMESTAMPTZ),
        ("tomorrow", s.TIMESTAMPTZ),
        ("[1]", s.array_of(s.INTEGER)),
        (["1"], s.array_of(s.INTEGER)),
        (1, s.array_of(s.INTEGER)),
        (object(), s.JSON),
    ],
)
def test_values_that_are_refused(value, type):
    with pytest.raises(InvalidValue, match="column x: "):
        encode_rows([(value,)], one(type), Dictionary())


@pytest.mark.parametrize(
    ("array", "type", "expected"),
    [
        (pa.array([3_600_000], pa.time32("ms")), s.TIME, "01:00:00"),
        (pa.array([0], pa.timestamp("s", "Europe/Berlin")), s.TIMESTAMPTZ, "1970-01-01T00:00:00Z"),
        (pa.array(["1970-01-01T01:00:00+01:00"]), s.TIMESTAMPTZ, "1970-01-01T00:00:00Z"),
        (pa.array([1500], pa.duration("ms")), s.INTERVAL, "PT1.5S"),
        (pa.array(["P1D"]), s.INTERVAL, "P1D"),
        (pa.array([b"\xff"], pa.binary(1)), s.BYTEA, "/w=="),
        (pa.array([b"\xff"], pa.binary_view()), s.BYTEA, "/w=="),
        (pa.array(["/w=="]), s.BYTEA, "/w=="),
        (pa.array([bytes(16)], pa.uuid()), s.UUID, str(UUID(int=0))),
        (pa.array([bytes(16)], pa.binary(16)), s.UUID, str(UUID(int=0))),
        (pa.array(['{"b": 1, "a": [ ]}']), s.JSON, {"b": 1, "a": []}),
        (pa.array([{"b": 1, "a": [2]}]), s.JSON, {"b": 1, "a": [2]}),
        (pa.array(["happy"]).dictionary_encode(), MOOD, "happy"),
        (pa.array([[1, 2]], pa.large_list(pa.int8())), s.array_of(s.BIGINT), [1, 2]),
        (pa.array([[1, 2]], pa.list_(pa.int64(), 2)), s.array_of(s.INTEGER), [1, 2]),
        (pa.array(["[1, null]"]), s.array_of(s.INTEGER), [1, None]),
        (pa.array([["sad"]], pa.list_(pa.dictionary(pa.int8(), pa.string()))), s.array_of(MOOD), ["sad"]),
    ],
    ids=str,
)
def test_arrow_has_them_in_several_ways(array, type, expected):
    dictionary = Dictionary()
    twice = pa.concat_arrays([pa.nulls(1, array.type), array])
    words = encode_arrow(pa.table({"x": twice}), one(type), dictionary)
    assert decode_rows(words, one(type), dictionary) == [(None,), (expected,)]


@pytest.mark.parametrize(
    ("array", "type"),
    [
        (pa.array([1]), s.INTERVAL),
        (pa.array([[1]]), s.array_of(s.UUID)),
        (pa.array([1]), MOOD),
        (pa.array(["angry"]), MOOD),
        (pa.array(["{"]), s.JSON),
        (pa.array([1]), s.JSON),
        (pa.array([b"abc"]), s.TEXT),
        (pa.array([0], pa.timestamp("s")), s.TIME),
        (pa.array([1], pa.duration("ns")), s.INTERVAL),
    ],
    ids=str,
)
def test_arrow_that_is_refused(array, type):
    with pytest.raises(InvalidValue, match="column x: "):
        encode_arrow(pa.table({"x": array}), one(type), Dictionary())


def test_python_has_its_own_values():
    schema = Schema(
        (Column("a", s.array_of(s.UUID)), Column("b", s.BYTEA), Column("c", s.JSON), Column("d", MOOD))
    )
    dictionary = Dictionary()
    row = ([UUID(int=5), None], b"\x01", {"a": 1}, "sad")
    assert decode_row(encode_row(row, schema, dictionary), schema, dictionary) == row
