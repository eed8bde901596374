"""Reducers over words, for groups whose times are not a chain: every reduce of a plan as a plain function.

The compiled reduces sweep epochs. If times have several coordinates, `GeneralOperator` sweeps and calls
these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from math import inf, isfinite, isnan, nan

from engine.codec.numerals import number_of, word_of
from engine.codec.values import MAX_DIGITS, float_word, word_float
from engine.errors import InvalidValue
from engine.kernels.words import NULL
from engine.operators.groupwise import Answer, Reducer, Words
from engine.plan.nodes import AggregateSpec, Function, Ordering, Reduce, TopK
from engine.schema import Kind, Schema, Type
from engine.state.dictionary import Dictionary

Rational = int | Fraction


def aggregated(node: Reduce, dictionary: Dictionary) -> Reducer:
    """All aggregates of a group, as long as it has rows; rows are the input's columns without the keys."""
    others = [c for c in range(len(node.input.schema)) if c not in node.keys]
    functions = [_aggregate(a, node.input.schema, node.keys, others, dictionary) for a in node.aggregates]

    def reduce(key: Words, rows: Answer) -> Iterator[tuple[Words, int]]:
        if sum(rows.values()) > 0:
            yield tuple(function(key, rows) for function in functions), 1

    return reduce


def first(node: TopK, dictionary: Dictionary) -> Reducer:
    """The rows of a group, without the keys, whose positions the node asks for."""
    others = [c for c in range(len(node.input.schema)) if c not in node.keys]
    place = placing(node.order, others, node.input.schema, dictionary)

    def reduce(key: Words, rows: Answer) -> Iterator[tuple[Words, int]]:
        passed = 0
        last = inf if node.limit is None else node.offset + node.limit
        for row in sorted((row for row, count in rows.items() if count > 0), key=place):
            taken = min(passed + rows[row], last) - max(passed, node.offset)
            passed += rows[row]
            if taken > 0:
                yield row, int(taken)

    return reduce


def placing(
    order: Iterable[Ordering], others: list[int], schema: Schema, dictionary: Dictionary
) -> Callable[[Words], tuple]:
    """A sort key for rows of the columns `others`: the ordering columns among them, then the words."""
    ranks = [
        (others.index(o.column), o.descending, o.nulls_first, ranked(schema.types[o.column], dictionary))
        for o in map(Ordering._make, order)
        if o.column in others
    ]

    def place(row: Words) -> tuple:
        return (*(_place(row[at], down, first, rank) for at, down, first, rank in ranks), row)

    return place


def ranked(type: Type, dictionary: Dictionary) -> Callable[[int], object]:
    """Maps a column's words to what its values are ordered by."""
    if type.may_be_wide:
        return lambda word: number_of(word, dictionary)
    return dictionary.text if type.is_interned else int


class _Reversed:
    """A value that sorts before those that it is greater than."""

    def __init__(self, value: object) -> None:
        self.value = value

    def __lt__(self, other: _Reversed) -> bool:
        return other.value < self.value  # type: ignore[operator, no-any-return]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Reversed) and other.value == self.value

    __hash__ = None  # type: ignore[assignment]


def _place(word: int, descending: bool, nulls_first: bool, rank: Callable[[int], object]) -> tuple:
    if word == NULL:
        return (-1 if nulls_first else 1, 0)
    return (0, _Reversed(rank(word)) if descending else rank(word))


def _aggregate(
    a: AggregateSpec, input: Schema, keys: tuple[int, ...], others: list[int], dictionary: Dictionary
) -> Callable[[Words, Answer], int]:
    """One aggregate as a function from a group's key and rows to a word."""
    column = a.argument
    if column is None:
        return lambda key, rows: sum(rows.values())
    read = _reading(column, keys, others)

    def values(key: Words, rows: Answer) -> list[tuple[int, int]]:
        pairs = [(read(key, row), count) for row, count in rows.items()]
        return [pair for pair in pairs if pair[0] != NULL]

    type = input.types[column]
    if a.other is not None:
        return _comoment(type, input.types[a.other], read, _reading(a.other, keys, others))
    if a.function is Function.COUNT:
        return lambda key, rows: sum(count for _, count in values(key, rows))
    if a.function in (Function.MIN, Function.MAX):
        choose = min if a.function is Function.MIN else max
        rank = ranked(type, dictionary)

        def extreme(key: Words, rows: Answer) -> int:
            alive = [word for word, count in values(key, rows) if count > 0]
            return choose(alive, key=rank) if alive else NULL  # type: ignore[arg-type]

        return extreme
    total = _float_total if type.is_float else _exact_total
    is_number = type.kind is Kind.NUMERIC

    def added(key: Words, rows: Answer) -> int:
        pairs = values(key, rows)
        if type.may_be_wide:
            pairs = [(number_of(word, dictionary), count) for word, count in pairs]
        number = sum(count for _, count in pairs)
        if number <= 0:
            return NULL
        if a.function is Function.AVG:
            return float_word(float(total(pairs) / (number * 10 ** (type.scale or 0))))
        result = total(pairs)
        if type.is_float:
            return float_word(float(result))
        limit = 10**MAX_DIGITS if is_number else 2**63
        if not -limit < result < limit:
            raise InvalidValue(f"overflow in {a}, whose result is {a.type}")
        return word_of(int(result), dictionary) if is_number else int(result)

    return added


def _reading(column: int, keys: tuple[int, ...], others: list[int]) -> Callable[[Words, Words], int]:
    """A function that finds a column's word in a group's key or in a row's other words."""
    if column in keys:
        at = keys.index(column)
        return lambda key, row: key[at]
    at = others.index(column)
    return lambda key, row: row[at]


def _comoment(
    x_type: Type, y_type: Type, x: Callable[[Words, Words], int], y: Callable[[Words, Words], int]
) -> Callable[[Words, Answer], int]:
    """The exact comoment of two columns; it is rounded once, then divided by their scales."""

    def comoment(key: Words, rows: Answer) -> int:
        read = [(x(key, row), y(key, row), count) for row, count in rows.items()]
        pairs = [(a, b, count) for a, b, count in read if a != NULL and b != NULL]
        number = sum(count for _, _, count in pairs)
        if number <= 0:
            return NULL
        if x_type.is_float:
            values = [(word_float(a), word_float(b), count) for a, b, count in pairs]
            if not all(isfinite(a) and isfinite(b) for a, b, _ in values):
                return float_word(nan)
            return float_word(float(_exact_comoment([(Fraction(a), Fraction(b), n) for a, b, n in values])))
        scaled = float(_exact_comoment(pairs)) / 10 ** (x_type.scale or 0)
        return float_word(scaled / 10 ** (y_type.scale or 0))

    return comoment


def _exact_comoment(pairs: Sequence[tuple[Rational, Rational, int]]) -> Rational:
    number = sum(count for _, _, count in pairs)
    products = sum(a * b * count for a, b, count in pairs)
    return number * products - sum(a * n for a, _, n in pairs) * sum(b * n for _, b, n in pairs)


def _exact_total(pairs: list[tuple[int, int]]) -> Fraction:
    return Fraction(sum(word * count for word, count in pairs))


def _float_total(pairs: list[tuple[int, int]]) -> Fraction | float:
    """The exact sum; infinities and NaN add up as floats do."""
    values = [(word_float(word), count) for word, count in pairs if count]
    special = [value for value, _ in values if not isfinite(value)]
    if special:
        return nan if any(map(isnan, special)) or len(set(special)) > 1 else special[0]
    return sum((Fraction(value) * count for value, count in values), Fraction(0))
