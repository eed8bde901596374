"""The texts of wide values: they come back, and order, by their bytes, as the values do."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from engine.codec.ordered_text import (
    Interval,
    array_text,
    interval_text,
    text_elements,
    text_interval,
    text_word,
    word_text,
)

WORDS = st.integers(-(2**63) + 1, 2**63 - 1)
INTERVALS = st.builds(
    Interval, st.integers(-(2**31), 2**31 - 1), st.integers(-(2**31), 2**31 - 1), WORDS
) | st.builds(Interval, st.integers(-2, 2), st.integers(-60, 60), st.sampled_from([0, 1, 86_400 * 10**6]))
ELEMENTS = st.lists(st.none() | st.text("\x00\x01\x02az\u00e4\U0001f600", max_size=4), max_size=4)


def value(elements: list) -> list:
    """A list that Python orders as SQL orders arrays: NULL is greater than all, what ends first is less."""
    return [(1, b"") if e is None else (0, e if isinstance(e, list) else e.encode()) for e in elements]


def ordered_alike(texts: list[str], values: list) -> bool:
    by_text = sorted(range(len(texts)), key=lambda i: texts[i].encode())
    return all(values[i] <= values[j] for i, j in pairwise(by_text))


def test_words_of_every_magnitude():
    """Those that are least have digits as the others do."""
    words = sorted({base + sign * 2**n for n in range(62) for base, sign in ((0, 1), (0, -1), (-(2**63), 1))})
    assert [word_text(word) for word in words] == sorted(map(word_text, words))


@given(st.lists(WORDS, max_size=5))
def test_words(words):
    texts = [word_text(word) for word in words]
    assert [text_word(text) for text in texts] == words
    assert ordered_alike(texts, words)


@given(st.lists(INTERVALS, max_size=5))
def test_intervals(intervals):
    texts = [interval_text(interval) for interval in intervals]
    assert [text_interval(text) for text in texts] == intervals
    assert len(set(texts)) == len(set(intervals))
    day = 86_400 * 10**6
    lengths = [(30 * i.months + i.days) * day + i.microseconds for i in intervals]
    assert ordered_alike(texts, list(zip(lengths, intervals, strict=True)))


@given(st.lists(ELEMENTS, max_size=5))
def test_arrays(arrays):
    texts = [array_text(array) for array in arrays]
    assert [list(text_elements(text)) for text in texts] == arrays
    assert ordered_alike(texts, [value(array) for array in arrays])


@given(st.lists(st.lists(ELEMENTS, max_size=3), max_size=4))
def test_arrays_of_arrays(arrays):
    texts = [array_text(map(array_text, array)) for array in arrays]
    back = [[list(text_elements(t)) for t in text_elements(text) if t is not None] for text in texts]
    assert back == arrays
    assert ordered_alike(texts, [value([value(inner) for inner in array]) for array in arrays])


def test_a_month_is_as_long_as_30_days() -> None:
    """And what is as long is told apart."""
    month, days = Interval(months=1), [Interval(days=n) for n in (29, 30, 31)]
    assert interval_text(days[0]) < interval_text(month) < interval_text(days[2])
    assert month.length == days[1].length
    assert interval_text(month) != interval_text(days[1])
    assert Interval(months=12).length < Interval(days=365).length


def test_numbers_beyond_a_word_sort_among_words() -> None:
    numbers = sorted(
        sign * number + more
        for number in (0, 1, 2**63, 10**19, 10**20, 10**37, 10**38 - 10)
        for sign in (1, -1)
        for more in (-1, 0, 1)
    )
    texts = [word_text(number) for number in numbers]
    assert texts == sorted(texts)
    assert [text_word(text) for text in texts] == numbers


def test_structs_and_maps_sort_as_lists_of_their_parts() -> None:
    one, two, x = word_text(1), word_text(2), "x\x00\x01"
    structs = [array_text([one, "a"]), array_text([one, x]), array_text([one, None]), array_text([two, ""])]
    assert structs == sorted(structs)
    assert [list(text_elements(text)) for text in structs] == [[one, "a"], [one, x], [one, None], [two, ""]]
    maps = [
        array_text([]),
        array_text([structs[0]]),
        array_text([structs[0], structs[1]]),
        array_text([structs[2]]),
    ]
    assert maps == sorted(maps)
