"""Texts as values: what the readers of columns take means the same to the reader of single texts."""

from __future__ import annotations

import itertools
import random

import pyarrow as pa
import pytest

from engine.codec.plain_texts import words_of_plain
from engine.codec.values import encoder
from engine.errors import InvalidValue
from engine.judging.row_judge import RowJudge
from engine.judging.text_readings import text_reader
from engine.kernels.words import NULL
from engine.schema import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INTEGER,
    JSON,
    REAL,
    SMALLINT,
    TEXT,
    TIME,
    TIMESTAMP,
    TIMESTAMPTZ,
    UUID,
    Column,
    Kind,
    Type,
)
from engine.state.dictionary import Dictionary
from tests.seeds import SEED

NARROW, WIDE = Type(Kind.NUMERIC, 5, 2), Type(Kind.NUMERIC, 38, 6)
MOOD = Type(Kind.ENUM, labels=("sad", "ok"))
TYPES = (SMALLINT, INTEGER, BIGINT, NARROW, WIDE, REAL, DOUBLE, BOOLEAN, DATE, TIME, TIMESTAMP, TIMESTAMPTZ)
ALPHABET = "0123456789.-+eE:TZ x"
NUMBERS = (
    "1 -7 32768 9223372036854775807 -9223372036854775808 00012 999.99 1000 0.005 1e3 1.5E-2 1e999 nan -inf "
    "0x1F -0 1.0 1e1111111111111111111111 .5 2. +3"
)
MOMENTS = (
    "2024-02-29 2023-02-29 0001-01-01 12024-01-01 0000-01-01 2024-01-01 infinity 2024-01-01T10 "
    "2024-01-01T10:11 2024-01-01T10:11:12.123456 2024-01-01T10:11:12.1234567 2024-01-01T10:11:12Z "
    "2024-01-01T10:11:12+02 2024-01-01T10:11+0230 2024-01-01T24:00:00 2024-01-01T10:11:60 "
    "2024-01-01T10+02 10:11 10 23:59:59.999999 24:00 10:11:12.1234567 10:11Z 1:11 0000-01-01T10:11"
)
SPACED = [moment.replace("T", " ") for moment in MOMENTS.split() if "T" in moment]
GIVEN = ["", " ", "true", "1" * 40, "0." + "1" * 40, *NUMBERS.split(), *MOMENTS.split(), *SPACED]


def changed(random_: random.Random, text: str) -> str:
    """The text with one character more, less or other."""
    at = random_.randrange(len(text) + 1)
    return text[:at] + random_.choice(["", random_.choice(ALPHABET)]) + text[at + random_.choice([0, 1]) :]


def texts() -> list[str]:
    random_ = random.Random(SEED)
    return [*GIVEN, *(changed(random_, random_.choice(GIVEN)) for _ in range(600))]


def word_of(read, *given: object) -> int | None:
    try:
        return read(*given)
    except InvalidValue:
        return None


@pytest.mark.parametrize("type", [*TYPES, UUID, MOOD], ids=str)
def test_a_plain_text_means_the_same_to_all_readers(type: Type) -> None:
    """What is plain has the word that the reader of single texts gives it, and that JSON has for it."""
    dictionary = Dictionary()
    read, encode = text_reader(type), encoder(type)
    more = ("f47ac10b-58cc-4372-a567-0e02b2c3d479", "F47AC10B-58cc-4372-a567-0e02b2c3d479", "sad", "ok", "Ok")
    plain = 0
    for text in (*texts(), *more):
        words = words_of_plain(pa.array([text], pa.large_string()), type, dictionary)
        if words is not None:
            plain += 1
            assert words.tolist() == [word_of(read, text, dictionary)], text
            if not (type.is_integer or type.is_float or type.kind is Kind.BOOLEAN):
                assert words.tolist() == [word_of(encode, text, dictionary)], text
    assert plain


@pytest.mark.parametrize("type", TYPES, ids=str)
def test_a_column_is_judged_as_its_values_are(type: Type) -> None:
    """One by one, and all together, in both sizes of offsets, and shared by rows."""
    dictionary = Dictionary()
    given = [*texts(), None]
    read = text_reader(type)
    expected = [NULL if text is None else word_of(read, text, dictionary) for text in given]
    assert None in expected
    judge = RowJudge((Column("c", type),), (0,))
    plain = pa.array(given, pa.string())
    for array in (
        plain,
        plain.cast(pa.large_string()),
        plain.dictionary_encode(),
        pa.array(given, pa.string_view()),
    ):
        found = judge.judged(pa.record_batch([array], ["c"]), dictionary)
        got = [None if bad else word for word, bad in zip(found.words[0].tolist(), found.bad, strict=True)]
        assert got == expected
        first = expected.index(None)
        assert found.message(first) == f"column c: {given[first]} is not a valid {type}"


@pytest.mark.parametrize("type", [*TYPES, TEXT, JSON], ids=str)
def test_rows_with_few_texts_are_judged_as_each_is(type: Type) -> None:
    """Also if other texts, and bytes that are none, come late."""
    few = [b"1", b"2024-01-01", None, b"true", b" 7", b"\xff\xfe", b"x", b"10:11"]
    given = [few[row % len(few)] for row in range(3000)] + [b"late", b"\xff", b"2.5", *few]
    dictionary = Dictionary()
    judge = RowJudge((Column("c", type, False),), (0,))

    def judged(values: list[bytes | None]) -> list[tuple[int | None, str]]:
        array = pa.array(values, pa.binary()).view(pa.string())
        found = judge.judged(pa.record_batch([array], ["c"]), dictionary)
        words, bad = found.words[0].tolist(), found.bad.tolist()
        return [(None, found.message(i)) if b else (words[i], "") for i, b in enumerate(bad)]

    alone = {value: judged([value])[0] for value in set(given)}
    assert judged(given) == [alone[value] for value in given]


def test_the_first_fault_counts() -> None:
    columns = (Column("a", INTEGER, False), Column("b", TEXT), Column("c", JSON, False))
    judge = RowJudge(columns, (0, None, 1), corrupt=2)
    rows = [("1", "{}", None), (None, "{", None), ("x", None, None), ("1", None, None), (None, None, "what")]
    batch = pa.record_batch(
        [pa.array(values, pa.string()) for values in zip(*rows, strict=True)], list("acr")
    )
    found = judge.judged(batch, Dictionary())
    assert found.bad.tolist() == [False, True, True, True, True]
    assert found.messages(10) == [
        "column a: NULL in a column that is NOT NULL",
        "column a: x is not a valid INTEGER",
        "column c: NULL in a column that is NOT NULL",
        "not a record: what",
    ]
    assert found.good.shape == (3, 1) and found.words[1].tolist() == [NULL] * 5


def test_bytes_that_are_no_text() -> None:
    data = pa.array([b"ok", b"\xff\xfe", None, b"x" * 200 + b"\xff"], pa.binary()).view(pa.string())
    for type in (TEXT, INTEGER, JSON):
        found = RowJudge((Column("c", type),), (0,)).judged(pa.record_batch([data], ["c"]), Dictionary())
        assert found.bad.tolist() == [type is not TEXT, True, False, True]
        assert found.message(1) == f"column c: \ufffd\ufffd is not a valid {type}"
        assert len(found.message(3)) < 130


def test_rows_without_columns_or_rows() -> None:
    judge = RowJudge((Column("a", INTEGER), Column("b", TEXT)), (0, 1))
    for types in itertools.product((pa.string(), pa.int64(), pa.null(), pa.float32()), repeat=2):
        batch = pa.record_batch([pa.array([], type) for type in types], ["a", "b"])
        assert judge.judged(batch, Dictionary()).good.shape == (2, 0)
