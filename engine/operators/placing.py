"""Sort keys in Python for rows of words, by the values that the words stand for."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from engine.codec.numerals import number_of, rank_of
from engine.kernels.words import NULL
from engine.operators.groupwise import Words
from engine.plan.nodes import Ordering
from engine.schema import Schema, Type
from engine.state.dictionary import Dictionary


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
        return lambda word: rank_of(number_of(word, dictionary))
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
