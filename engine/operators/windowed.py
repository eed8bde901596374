"""Window functions of one group as a plain function: those that no kernel computes.

The whole group is read and evaluated. Sums of floats are exact until they are rounded, so that an answer is
retracted exactly as it was given.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, groupby
from math import inf, isnan, nan

from engine.codec.numerals import number_of, word_of
from engine.codec.values import float_word, word_float
from engine.errors import InvalidValue
from engine.kernels.words import NULL
from engine.operators.groupwise import Answer, Reducer, Words
from engine.operators.placing import placing, ranked
from engine.plan.nodes import Ordering
from engine.plan.window_functions import EXTREMES, Window, Windowed, WindowFunction
from engine.schema import Type
from engine.state.dictionary import Dictionary


@dataclass(frozen=True)
class _Group:
    """A group's rows in order, with all columns, one entry a copy; for each the positions of its first and
    last peers."""

    rows: Sequence[Words]
    first: Sequence[int]
    last: Sequence[int]
    places: Sequence[Place]
    """Where the values of the order's first column stand."""

    def frame(self, f: Windowed, i: int) -> tuple[int, int]:
        """Where the frame of the row at position i begins, and where it ends."""
        if f.distances is not None:
            return self._near(i, *f.distances)
        size = len(self.rows)
        start = 0 if f.start is None else min(max(i + f.start, 0), size)
        end = min(i + f.end + 1, size)
        return start, max(start, self.last[i] + 1 if f.peers else end)

    def _near(self, i: int, low: float, high: float) -> tuple[int, int]:
        zone, value = self.places[i]
        if zone:
            return bisect_left(self.places, (zone, 0)), bisect_right(self.places, (zone, 0))
        start = bisect_left(self.places, (0, value + low))
        return start, max(start, bisect_right(self.places, (0, value + high)))


Place = tuple[int, float]
"""A zone of the order, and a number in its direction. Numbers have zone 0; NaNs and NULLs, with the number 0,
stand in zones before or behind it."""


def _placed(order: Ordering, type: Type) -> Callable[[Words], Place]:
    """The places of rows in the order of a column."""
    sign = -1 if order.descending else 1

    def place(row: Words) -> Place:
        word = row[order.column]
        if word == NULL:
            return -2 if order.nulls_first else 2, 0
        value = word_float(word) if type.is_float else word
        return (sign, 0) if isnan(value) else (0, sign * value)

    return place


Column = Callable[[_Group], list[int]]
"""Computes a function's words for all rows of a group."""


def windowed(node: Window, defaults: Sequence[int], dictionary: Dictionary) -> Reducer:
    """The rows of a group, the input's columns without the keys, each with the words of all functions.

    `defaults` has a word for each function: its result where the row that it reads is outside the group.
    """
    schema = node.input.schema
    others = [c for c in range(len(schema)) if c not in node.keys]
    place = placing(node.order, others, schema, dictionary)
    peers = [o.column for o in node.order[: node.peers]]
    first = Ordering._make(node.order[0]) if any(f.distances for f in node.functions) else None
    near = _placed(first, schema.types[first.column]) if first else lambda row: (0, 0)
    columns = [
        _column(f, word, schema.types, dictionary) for f, word in zip(node.functions, defaults, strict=True)
    ]
    source = [*node.keys, *others]
    places = [source.index(c) for c in range(len(schema))]

    def reduce(key: Words, rows: Answer) -> Iterator[tuple[Words, int]]:
        alive = sorted((row for row, count in rows.items() if count > 0), key=place)
        copies = [tuple((*key, *row)[p] for p in places) for row in alive for _ in range(rows[row])]
        group = _grouped(copies, peers, [near(row) for row in copies])
        values = [column(group) for column in columns]
        for i, row in enumerate(group.rows):
            yield (*(row[c] for c in others), *(column[i] for column in values)), 1

    return reduce


def _grouped(rows: list[Words], peers: list[int], places: list[Place]) -> _Group:
    first: list[int] = []
    last: list[int] = []
    for _, same in groupby(rows, key=lambda row: [row[c] for c in peers]):
        size = sum(1 for _ in same)
        start = len(first)
        first += [start] * size
        last += [start + size - 1] * size
    return _Group(rows, first, last, places)


def _column(f: Windowed, default: int, types: Sequence[Type], dictionary: Dictionary) -> Column:
    match f.function:
        case WindowFunction.ROW_NUMBER:
            return lambda group: [i + 1 for i in range(len(group.rows))]
        case WindowFunction.RANK:
            return lambda group: [i + 1 for i in group.first]
        case WindowFunction.VALUE:
            return lambda group: _shifted([row[f.argument] for row in group.rows], f.start or 0, default)  # type: ignore[index]
        case WindowFunction.FIRST | WindowFunction.LAST:
            return lambda group: _ends(f, group)
        case WindowFunction.COUNT:
            return lambda group: [high - low for low, high in _counts(f, group)]
    type = types[f.argument or 0]
    if f.function in EXTREMES:
        return lambda group: _extremes(f, group, ranked(type, dictionary))
    return lambda group: _totals(f, group, type, dictionary)


def _shifted(words: list[int], distance: int, default: int) -> list[int]:
    size = len(words)
    return [words[i + distance] if 0 <= i + distance < size else default for i in range(size)]


def _ends(f: Windowed, group: _Group) -> list[int]:
    """The argument in the first or last rows of the frames."""
    frames = (group.frame(f, i) for i in range(len(group.rows)))
    is_first = f.function is WindowFunction.FIRST
    return [
        group.rows[start if is_first else end - 1][f.argument] if start < end else NULL  # type: ignore[index]
        for start, end in frames
    ]


def _counts(f: Windowed, group: _Group) -> list[tuple[int, int]]:
    """How many values precede each row's frame, and its end."""
    known = [f.argument is None or row[f.argument] != NULL for row in group.rows]
    sums = [0, *accumulate(map(int, known))]
    return [(sums[start], sums[end]) for start, end in (group.frame(f, i) for i in range(len(group.rows)))]


def _extremes(f: Windowed, group: _Group, rank: Callable[[int], object]) -> list[int]:
    choose = min if f.function is WindowFunction.MIN else max
    words = [row[f.argument] for row in group.rows]  # type: ignore[index]

    def chosen(among: Sequence[int]) -> int:
        return choose((word for word in among if word != NULL), key=rank, default=NULL)  # type: ignore

    frames = (group.frame(f, i) for i in range(len(words)))
    if f.is_bounded:
        return [chosen(words[start:end]) for start, end in frames]
    running = list(accumulate(words, lambda a, b: chosen((a, b))))
    return [running[end - 1] if end else NULL for _, end in frames]


def _totals(f: Windowed, group: _Group, type: Type, dictionary: Dictionary) -> list[int]:
    """SUM or AVG of each frame, as differences of running sums."""
    words = [row[f.argument] for row in group.rows]  # type: ignore[index]
    total = _Total(_numbers(words, type, dictionary))
    scale = 10 ** (type.scale or 0)
    most = 10**38 if f.type.may_be_wide else 2**63
    found = []
    for i, (low, high) in enumerate(_counts(f, group)):
        start, end = group.frame(f, i)
        value = total.between(start, end)
        if high == low:
            found.append(NULL)
        elif f.function is WindowFunction.AVG:
            found.append(float_word(float(value / ((high - low) * scale))))
        elif type.is_float:
            found.append(float_word(float(value)))
        elif isinstance(value, float):
            found.append(word_of(value, dictionary))
        elif not -most < value < most:
            raise InvalidValue(f"overflow in {f.function.value}, whose result is {f.type}")
        else:
            found.append(word_of(int(value), dictionary) if f.type.may_be_wide else int(value))
    return found


def _numbers(words: list[int], type: Type, dictionary: Dictionary) -> list[int | float]:
    """The numbers of words; NULL counts as 0."""
    number: Callable[[int], int | float] = int
    if type.is_float:
        number = word_float
    elif type.may_be_wide:
        return [0 if word == NULL else number_of(word, dictionary) for word in words]
    return [0 if word == NULL else number(word) for word in words]


class _Total:
    """Sums of values between any two positions; NaN and infinities are counted separately."""

    def __init__(self, values: list[int | float]) -> None:
        self._special = (
            [0, *accumulate(int(isnan(v)) for v in values)],
            *([0, *accumulate(int(v == end) for v in values)] for end in (inf, -inf)),
        )
        exact = (Fraction(v) if abs(v) < inf else Fraction(0) for v in values)
        self._finite = [Fraction(0), *accumulate(exact)]

    def between(self, start: int, end: int) -> Fraction | float:
        undefined, positive, negative = (counts[end] - counts[start] for counts in self._special)
        if undefined or (positive and negative):
            return nan
        if positive or negative:
            return inf if positive else -inf
        return self._finite[end] - self._finite[start]
