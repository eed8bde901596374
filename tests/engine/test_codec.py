from __future__ import annotations

import math
import uuid
from base64 import b64encode
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal

import numpy as np
import orjson
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import schema as s
from engine.codec.arrow import arrow_type, decode_arrow, encode_arrow
from engine.codec.decimals import decimal_words
from engine.codec.json import decode_rows, encode_rows
from engine.errors import InvalidValue
from engine.kernels.words import NULL
from engine.schema import Column, Schema, Type, numeric
from engine.state.dictionary import Dictionary

MONEY = numeric(10, 2)
FLOAT32 = st.floats(width=32).map(lambda x: float(np.float32(x)))
MOOD = s.enumeration("sad", "it's fine", "happy")
TEXTS = st.lists(st.none() | st.text("a\x00\x01\x02\u00e4", max_size=3), max_size=3)
VALUES: dict[Type, st.SearchStrategy] = {
    s.BOOLEAN: st.booleans(),
    s.SMALLINT: st.integers(-(2**15), 2**15 - 1),
    s.INTEGER: st.integers(-(2**31), 2**31 - 1),
    s.BIGINT: st.integers(-(2**63) + 1, 2**63 - 1),
    MONEY: st.integers(-(10**10) + 1, 10**10 - 1).map(lambda n: Decimal(n).scaleb(-2)),
    numeric(18, 0): st.integers(-(10**18) + 1, 10**18 - 1).map(Decimal),
    numeric(38, 20): st.integers(-(10**18) + 1, 10**18 - 1).map(lambda n: Decimal(n).scaleb(-20)),
    s.REAL: FLOAT32,
    s.DOUBLE: st.floats(),
    s.TEXT: st.text(),
    s.DATE: st.dates(),
    s.TIME: st.times(),
    s.TIMESTAMP: st.datetimes(),
    s.TIMESTAMPTZ: st.datetimes(timezones=st.just(UTC)),
    s.UUID: st.uuids(),
    s.BYTEA: st.binary(max_size=12),
    MOOD: st.sampled_from(MOOD.labels),
    s.array_of(s.BIGINT): st.lists(st.none() | st.integers(-(2**63) + 1, 2**63 - 1), max_size=4),
    s.array_of(s.array_of(s.TEXT)): st.lists(st.none() | TEXTS, max_size=3),
    s.array_of(MOOD): st.lists(st.none() | st.sampled_from(MOOD.labels), max_size=3),
}
KINDS = list(VALUES)


def one(type: Type, nullable: bool = True) -> Schema:
    return Schema((Column("x", type, nullable),))


def encode(value: object, type: Type, dictionary: Dictionary | None = None, nullable: bool = True) -> int:
    """The word of a value, the same one by one and in bulk."""
    dictionary = dictionary or Dictionary()
    words = encode_rows([(value,)], one(type, nullable), dictionary)
    assert words.dtype == np.int64
    assert (encode_rows([(value,)] * 20, one(type, nullable), dictionary) == words).all()
    return int(words[0, 0])


def shown(value: object, type: Type) -> object:
    """A Python value as the REST contract shows it, by Python's own means."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, Decimal):
        return f"{value:.{type.scale}f}"
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.replace(tzinfo=None).isoformat() + "Z"
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, uuid.UUID):
        return str(value)
    if isinstance(value, bytes):
        return b64encode(value).decode()
    if isinstance(value, float):
        return value + 0.0 if type == s.DOUBLE else pytest.approx(value, rel=1e-6, abs=1e-45)
    return value


@pytest.mark.parametrize("type", KINDS, ids=str)
@given(data=st.data())
def test_rows_come_back_as_the_contract_shows_them(type, data):
    values = data.draw(st.lists(st.none() | VALUES[type], max_size=20))
    dictionary = Dictionary()
    words = encode_rows([(value,) for value in values], one(type), dictionary)
    assert words.shape == (1, len(values))
    decoded = [row[0] for row in decode_rows(words, one(type), dictionary)]
    assert decoded == [shown(value, type) for value in values]
    orjson.dumps(decoded)
    assert (encode_rows([(value,) for value in decoded], one(type), dictionary) == words).all()
    one_by_one = [encode(value, type, dictionary) for value in values[:3]]
    assert one_by_one == words[0, :3].tolist()


@pytest.mark.parametrize("type", KINDS, ids=str)
@given(data=st.data())
def test_arrow_is_the_same_both_ways(type, data):
    values = data.draw(st.lists(st.none() | VALUES[type], max_size=20))
    dictionary = Dictionary()
    words = encode_rows([(value,) for value in values], one(type), dictionary)
    table = decode_arrow(words, one(type), dictionary)
    table.validate(full=True)
    assert table.schema.field(0) == pa.field("x", arrow_type(type))
    same = [v if v is None or v == v else None for v in table.column(0).to_pylist()]
    expected = [str(v) if isinstance(v, uuid.UUID) else v for v in values]
    assert same == [v if v is None or v == v else None for v in expected]
    assert (encode_arrow(table, one(type), dictionary) == words).all()
    sliced = pa.table({"x": pa.concat_arrays([table.column(0).combine_chunks()] * 2)[len(values) :]})
    assert (encode_arrow(sliced, one(type), dictionary) == words).all()


@given(st.lists(st.floats(), min_size=2, max_size=2))
def test_float_words_order_as_floats(pair):
    a, b = (encode(x, s.DOUBLE) for x in pair)
    x, y = ((math.isnan(v), 0.0 if math.isnan(v) else v) for v in pair)
    assert (a < b) == (x < y)
    assert (a == b) == (x == y)
    assert NULL not in (a, b)


@pytest.mark.parametrize(
    ("value", "type", "word"),
    [
        (5, MONEY, 500),
        ("5", MONEY, 500),
        ("5.1", MONEY, 510),
        ("-.5", MONEY, -50),
        ("+5.", MONEY, 500),
        ("5.1000", MONEY, 510),
        ("1.25e1", MONEY, 1250),
        (1.1, MONEY, 110),
        (-0.01, MONEY, -1),
        (Decimal("1e3"), MONEY, 100_000),
        (Decimal("0E-50"), MONEY, 0),
        ("99999999.99", MONEY, 10**10 - 1),
        (3, s.DOUBLE, np.float64(3).view(np.int64)),
        (-0.0, s.DOUBLE, 0),
        ("-0.00", MONEY, 0),
        (0.1, s.REAL, np.float64(np.float32(0.1)).view(np.int64)),
        ("1970-01-02", s.DATE, 1),
        (date(1969, 12, 31), s.DATE, -1),
        ("infinity", s.DATE, 2**31 - 1),
        ("1970-01-01T00:00:01", s.TIMESTAMP, 10**6),
        ("1970-01-01 00:00:01.5", s.TIMESTAMP, 1_500_000),
        ("1970-01-01T00:00:01Z", s.TIMESTAMP, 10**6),
        ("1970-01-01T00:00:01+00:00", s.TIMESTAMP, 10**6),
        ("1970-01-01T00:00:00.1234560000Z", s.TIMESTAMP, 123_456),
        ("1970-01-02", s.TIMESTAMP, 86_400 * 10**6),
        (datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC), s.TIMESTAMP, 10**6),
        ("-infinity", s.TIMESTAMP, -(2**63) + 1),
        (None, s.TEXT, NULL),
    ],
)
def test_values_have_these_words(value, type, word):
    assert encode(value, type) == word


@pytest.mark.parametrize(
    ("value", "type"),
    [
        *[
            ("5", t)
            for t in (s.BOOLEAN, s.SMALLINT, s.INTEGER, s.BIGINT, s.REAL, s.DOUBLE, s.DATE, s.TIMESTAMP)
        ],
        *[(True, t) for t in KINDS if t != s.BOOLEAN],
        *[([1], t) for t in KINDS if t != s.array_of(s.BIGINT)],
        *[({}, t) for t in KINDS],
        *[(1, t) for t in (s.BOOLEAN, s.TEXT, s.DATE, s.TIMESTAMP)],
        *[(1.0, t) for t in (s.SMALLINT, s.INTEGER, s.BIGINT, s.TEXT, s.BOOLEAN)],
        (2**15, s.SMALLINT),
        (-(2**31) - 1, s.INTEGER),
        (-(2**63), s.BIGINT),
        (10**30, s.BIGINT),
        (10**400, s.DOUBLE),
        (1e39, s.REAL),
        *[
            (text, MONEY)
            for text in ("", ".", "-", "x", "NaN", "Infinity", "1_000", " 1", "1e", "١", "1.001", "1e-3")
        ],
        *[(text, MONEY) for text in ("100000000", "1e999999999", "1e-999999999", "9" * 5000)],
        *[(number, MONEY) for number in (1.001, math.nan, math.inf, 10**8, 10**50, 1e300, Decimal("NaN"))],
        ("2024-13-01", s.DATE),
        ("2024-01-01T00:00:00", s.DATE),
        (datetime(2024, 1, 1), s.DATE),
        (date(2024, 1, 1), s.TIMESTAMP),
        ("2024-01-01T00:00:00+02:00", s.TIMESTAMP),
        (datetime(2024, 1, 1, tzinfo=timezone(timedelta(hours=1))), s.TIMESTAMP),
        ("2024-01-01T25:00:00", s.TIMESTAMP),
        ("2024-01-01T00:00:00.1234567", s.TIMESTAMP),
        ("+999999-01-01T00:00:00", s.TIMESTAMP),
        ("+9999999-01-01", s.DATE),
        ("\ud800", s.TEXT),
    ],
)
def test_what_does_not_fit_is_refused_by_column(value, type):
    for rows in ([(value,)], [(value,)] * 20):
        with pytest.raises(InvalidValue, match=r"^column x: ") as caught:
            encode_rows(rows, one(type), Dictionary())
        assert len(caught.value.message) < 200


def test_messages_name_value_and_type():
    with pytest.raises(InvalidValue) as caught:
        encode_rows([(1, "a"), (2, 3)], Schema((Column("id", s.BIGINT), Column("t", s.TEXT))), Dictionary())
    assert caught.value.message == "column t: 3 is not a valid TEXT"
    with pytest.raises(InvalidValue) as caught:
        encode_rows([(i,) for i in range(40_000)], one(s.SMALLINT), Dictionary())
    assert caught.value.message == "column x: 32768 is not a valid SMALLINT: out of range"


@pytest.mark.parametrize("type", KINDS, ids=str)
def test_null_needs_a_nullable_column(type):
    with pytest.raises(InvalidValue, match="column x: NULL"):
        encode_rows([(None,)], one(type, nullable=False), Dictionary())
    with pytest.raises(InvalidValue, match="column x: NULL"):
        encode_arrow(pa.table({"x": pa.nulls(3)}), one(type, nullable=False), Dictionary())
    assert encode_arrow(pa.table({"x": pa.nulls(3)}), one(type), Dictionary()).tolist() == [[NULL] * 3]


def test_rows_and_tables_have_the_width_of_the_schema():
    schema = Schema((Column("a", s.BIGINT), Column("b", s.TEXT)))
    with pytest.raises(InvalidValue, match="1 values for 2 columns"):
        encode_rows([(1,)], schema, Dictionary())
    with pytest.raises(InvalidValue, match="3 columns, not 2"):
        encode_arrow(pa.table({"a": [1], "b": ["x"], "c": [1]}), schema, Dictionary())
    assert encode_rows([], schema, Dictionary()).shape == (2, 0)
    assert decode_rows(np.zeros((0, 3), np.int64), Schema(()), Dictionary()) == [(), (), ()]


@pytest.mark.parametrize(
    "text",
    ["+10000-01-01", "-0044-03-15", "0000-12-31", "-0001-01-01", "+5000000-12-31", "infinity", "-infinity"],
)
def test_far_dates_come_back(text):
    assert decode_rows(np.array([[encode(text, s.DATE)]]), one(s.DATE), Dictionary()) == [(text,)]


@pytest.mark.parametrize(
    "text",
    [
        "+10000-01-01T01:02:03",
        "-0044-03-15T00:00:00.000001",
        "0000-12-31T23:59:59",
        "+290000-12-31T23:59:59",
        "infinity",
    ],
)
def test_far_timestamps_come_back(text):
    assert decode_rows(np.array([[encode(text, s.TIMESTAMP)]]), one(s.TIMESTAMP), Dictionary()) == [(text,)]


@pytest.mark.parametrize(
    ("array", "type", "values"),
    [
        (pa.array([1, None], pa.int8()), s.BIGINT, [1, None]),
        (pa.array([1.0, -2.0]), s.INTEGER, [1, -2]),
        (pa.array(["12", None]), s.BIGINT, [12, None]),
        (pa.array([7], pa.uint64()), s.DOUBLE, [7.0]),
        (pa.array([2**60 + 1]), s.DOUBLE, [float(2**60)]),
        (pa.array([0.1, None]), s.REAL, [0.1, None]),
        (pa.array(["NaN", "1e3", "-inf"]), s.DOUBLE, ["NaN", 1000.0, "-Infinity"]),
        (pa.array([1, None]), MONEY, ["1.00", None]),
        (pa.array([1.1, None, -2.25]), MONEY, ["1.10", None, "-2.25"]),
        (pa.array(["1.1", "-0.05"]), MONEY, ["1.10", "-0.05"]),
        (pa.array([Decimal("1.5")], pa.decimal256(50, 4)), MONEY, ["1.50"]),
        (pa.array([date(2024, 1, 1)], pa.date64()), s.DATE, ["2024-01-01"]),
        (pa.array([date(2024, 1, 1)]), s.TIMESTAMP, ["2024-01-01T00:00:00"]),
        (pa.array([10**9], pa.timestamp("ns", "UTC")), s.TIMESTAMP, ["1970-01-01T00:00:01"]),
        (pa.array(["2024-01-01T00:00:00.5"]), s.TIMESTAMP, ["2024-01-01T00:00:00.500000"]),
        (pa.array(["true", "false", None]), s.BOOLEAN, [True, False, None]),
        (pa.array(["a", None, "a"]).dictionary_encode(), s.TEXT, ["a", None, "a"]),
        (pa.array([1, 2, None]).dictionary_encode(), s.BIGINT, [1, 2, None]),
        (pa.array(["a", None], pa.string_view()), s.TEXT, ["a", None]),
    ],
    ids=str,
)
def test_arrow_columns_are_cast(array, type, values):
    dictionary = Dictionary()
    words = encode_arrow(pa.table({"y": array}), one(type), dictionary)
    assert [row[0] for row in decode_rows(words, one(type), dictionary)] == values


@pytest.mark.parametrize(
    ("array", "type"),
    [
        (pa.array([1.5]), s.BIGINT),
        (pa.array([40_000]), s.SMALLINT),
        (pa.array([NULL]), s.BIGINT),
        (pa.array([2**64 - 1], pa.uint64()), s.BIGINT),
        (pa.array([True]), s.BIGINT),
        (pa.array([1]), s.BOOLEAN),
        (pa.array([1]), s.TEXT),
        (pa.array([b"x"]), s.TEXT),
        (pa.array(["abc"]), s.BIGINT),
        (pa.array(["abc"]).dictionary_encode(), s.BIGINT),
        (pa.array([1e39]), s.REAL),
        (pa.array([0.125]), MONEY),
        (pa.array([math.nan]), MONEY),
        (pa.array([10**8]), MONEY),
        (pa.array([Decimal("1.001")]), MONEY),
        (pa.array([Decimal(10) ** 25]), MONEY),
        (pa.array([Decimal(10) ** 70], pa.decimal256(72, 0)), MONEY),
        (pa.array([1], pa.timestamp("ns")), s.TIMESTAMP),
        (pa.array([NULL]).view(pa.timestamp("us")), s.TIMESTAMP),
        (pa.array([0], pa.timestamp("us", "Europe/Berlin")), s.TIMESTAMP),
        (pa.array([1], pa.timestamp("s")), s.DATE),
        (pa.array([[1]]), s.BIGINT),
        (pa.array([b"\xff"]).view(pa.string()), s.TEXT),
    ],
    ids=str,
)
def test_arrow_columns_that_do_not_fit_are_refused_by_name(array, type):
    with pytest.raises(InvalidValue, match=r"^column x: "):
        encode_arrow(pa.table({"y": array}), one(type), Dictionary())


@pytest.mark.parametrize(
    ("good", "bad", "type"),
    [
        (1, 40_000, s.SMALLINT),
        (0.5, 0.125, MONEY),
        (0.5, math.nan, MONEY),
        (Decimal("1.00"), Decimal("1.001"), MONEY),
        (1.5, 1e39, s.REAL),
    ],
)
def test_one_value_that_does_not_fit_is_found_among_others(good, bad, type):
    for place in range(3):
        values = [good] * 3
        values[place] = bad
        with pytest.raises(InvalidValue, match=r"^column x: "):
            encode_arrow(pa.table({"x": pa.array(values)}), one(type), Dictionary())


def test_a_real_is_shown_with_the_digits_that_it_needs():
    """And not with those of the double that it is; few rows and many."""
    values = [0.1, -2.7, 1e-7, 16777216.0, 3.4028235e38]
    dictionary = Dictionary()
    for copies in (1, 20):
        rows = [(value,) for value in values * copies]
        assert decode_rows(encode_rows(rows, one(s.REAL), dictionary), one(s.REAL), dictionary) == rows


def test_bigint_columns_leave_without_a_copy():
    words = np.arange(10, dtype=np.int64).reshape(1, 10)
    column = decode_arrow(words, one(s.BIGINT), Dictionary()).column(0).chunk(0)
    assert column.buffers()[1].address == words.ctypes.data


def test_a_null_decimal_is_the_null_word() -> None:
    """Found by the property test: round() over more than a few rows gave garbage for NULL."""
    words, wide = decimal_words(
        pa.array([None, Decimal("1.5"), None], pa.decimal128(6, 1)), numeric(6, 1), None
    )
    assert words.tolist() == [NULL, 15, NULL]
    assert not wide.any()


@pytest.mark.parametrize(
    "type",
    [
        s.SMALLINT,
        s.BIGINT,
        s.REAL,
        s.DOUBLE,
        s.BOOLEAN,
        s.DATE,
        s.TIME,
        s.TIMESTAMP,
        s.TIMESTAMPTZ,
        numeric(5, 2),
    ],
    ids=str,
)
def test_a_text_that_is_no_value_is_told_with_the_name_of_the_sql_type(type: Type):
    """Whether Arrow refuses it, which has names of its own, or the codec."""
    with pytest.raises(InvalidValue) as refused:
        encode_arrow(pa.table({"x": pa.array(["non'sense"])}), one(type), Dictionary())
    assert refused.value.message.endswith(f'"non\'sense" is not a valid {type}')
