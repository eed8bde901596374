"""Times of day with an offset: their words sort as PostgreSQL sorts them, and come back as they were."""

from __future__ import annotations

from datetime import time, timedelta, timezone
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.codec.zoned_times import (
    FARTHEST,
    clock_and_offset,
    python_timetz,
    timetz_text,
    timetz_word,
    zoned_time,
)
from engine.errors import InvalidValue
from engine.kernels.words import NULL
from engine.state.dictionary import Dictionary

DAY = 86_400_000_000
TEXTS = Dictionary()
PARTS = st.tuples(st.integers(0, DAY), st.integers(-FARTHEST, FARTHEST))


@given(PARTS)
def test_a_word_and_its_text_mean_the_same(parts: tuple[int, int]) -> None:
    word = zoned_time(*parts)
    assert word != NULL
    assert clock_and_offset(word) == parts
    assert timetz_word(timetz_text(word), TEXTS) == word


@given(PARTS, PARTS)
def test_the_moment_comes_first_and_then_the_zone(one: tuple[int, int], other: tuple[int, int]) -> None:
    def order(parts: tuple[int, int]) -> tuple[int, int]:
        clock, offset = parts
        return clock - offset * 1_000_000, -offset

    assert (zoned_time(*one) < zoned_time(*other)) == (order(one) < order(other))


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("12:00:00+02", "12:00:00+02"),
        ("12:00:00.500-0330", "12:00:00.5-03:30"),
        ("12:00 +02:00:30", "12:00:00+02:00:30"),
        ("24:00:00+00", "24:00:00+00"),
        ("01:02:03Z", "01:02:03+00"),
        ("01:02:03", "01:02:03+00"),
        ("01:02:03.1234560", "01:02:03.123456+00"),
        (time(23, 59, 59, 5, tzinfo=timezone(timedelta(hours=-5))), "23:59:59.000005-05"),
        (time(1, 2), "01:02:00+00"),
    ],
)
def test_what_is_taken(written: object, text: str) -> None:
    assert timetz_text(timetz_word(written, TEXTS)) == text


@pytest.mark.parametrize(
    "written",
    [
        "",
        "noon",
        "24:00:01+00",
        "12:60+00",
        "12:00+16:00",
        "12:00+01:60",
        "12:00:00.1234567+00",
        "12:00+2",
        12,
        "1",
    ],
)
def test_what_is_refused(written: object) -> None:
    with pytest.raises(InvalidValue):
        timetz_word(written, TEXTS)


def test_equal_moments_are_apart() -> None:
    words = [timetz_word(text, TEXTS) for text in ("12:00+02", "11:00+01", "10:00+00", "09:00-01")]
    assert all(one < other for one, other in pairwise(words))


def test_python_has_no_end_of_the_day() -> None:
    assert python_timetz(timetz_word("23:00-01", TEXTS), TEXTS) == time(
        23, tzinfo=timezone(timedelta(hours=-1))
    )
    with pytest.raises(InvalidValue, match="24:00"):
        python_timetz(timetz_word("24:00", TEXTS), TEXTS)
