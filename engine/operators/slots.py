"""Slots: what a reduce of counts, sums, averages and comoments adds up, and how aggregates follow.

Aggregates share slots: two averages of one column need its count and its sum once.

A number is added up in two halves, and one that may be wide (`engine.codec.numerals`) in two words, number =
top * BASE + rest, of two halves each. The kernels finish aggregates that are words;
the others are finished here. Numbers that are NaN or infinite are 0 in the sums, and are counted in three
slots of their own.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf, isnan, nan

import numpy as np

from engine.codec.numerals import is_wide, number_of, word_of
from engine.codec.values import float_word
from engine.kernels import arrange as slots
from engine.kernels import reduce as kernels
from engine.kernels.limbs import LIMB
from engine.kernels.moments import PRODUCT_LIMBS
from engine.kernels.words import NULL
from engine.plan.nodes import AggregateSpec, Function, Reduce
from engine.schema import Kind
from engine.state.dictionary import Dictionary

BASE = 2**64 - 1
"""With this base the rest, of either sign, is a word and not NULL; so is the top of a 38-digit number."""

TOPS = 2
"""Slots of tops, before those that count specials."""
SPECIAL_SLOTS = (slots.SLOT_NAN, slots.SLOT_POSITIVE, slots.SLOT_NEGATIVE)

Slot = tuple[int, int, int]
"""A kind, and the two words that it adds up; a kind of one word has that word twice."""
Finish = tuple[int, ...]
"""How an aggregate follows from the slots: a line of `engine.kernels.reduce.reduce_sums`."""


class SlotLayout:
    """The slots that a reduce of sums needs, and how its aggregates follow from them."""

    def __init__(self, node: Reduce, columns: tuple[int, ...]) -> None:
        self._slots: list[Slot] = [(slots.SLOT_ROWS, 0, 0)]
        self._schema = node.input.schema
        self._columns = columns
        self.finish = tuple(self._aggregate(a) for a in node.aggregates)
        self.slots = tuple(self._slots)

    def _slot(self, kind: int, column: int, other: int) -> int:
        slot = (kind, self._columns[column], self._columns[other])
        if slot not in self._slots:
            self._slots.append(slot)
        return self._slots.index(slot)

    def _aggregate(self, a: AggregateSpec) -> Finish:
        if a.argument is None:
            return (kernels.COUNT, 0, 0, 0, 1, kernels.INTEGERS, 0, 0, 1, 0, 0)
        x, y = a.argument, a.argument if a.other is None else a.other
        types = self._schema.types
        nullable = self._schema.columns[x].nullable or self._schema.columns[y].nullable
        counted = self._slot(slots.SLOT_NOT_NULL, x, y) if nullable else 0
        if a.function is Function.COUNT:
            return (kernels.COUNT, counted, 0, 0, 1, kernels.INTEGERS, 0, 0, 1, 0, 0)
        high, low = self._slot(slots.SLOT_HIGH, x, y), self._slot(slots.SLOT_LOW, x, y)
        scale = 10 ** (types[x].scale or 0)
        if a.function is Function.COMOMENT:
            other = self._slot(slots.SLOT_HIGH, y, x), self._slot(slots.SLOT_LOW, y, x)
            line = (kernels.COMOMENT, counted, high, low, scale, kernels.INTEGERS)
            return (*line, *other, 10 ** (types[y].scale or 0), self._product(x, y), 0)
        top, tops = kernels.NUMBERS if types[x].kind is Kind.NUMERIC else kernels.INTEGERS, 0
        if types[x].may_be_wide:
            top, tops = self._tops(x, types[x].has_specials)
        kind = kernels.SUM if a.function is Function.SUM else kernels.AVG
        return (kind, counted, high, low, scale, top, 0, 0, 1, 0, tops)

    def _tops(self, x: int, has_specials: bool) -> tuple[int, int]:
        """The first of the slots that are zero without wide numbers, and how many there are."""
        kinds = (slots.SLOT_TOP_HIGH, slots.SLOT_TOP_LOW, *(SPECIAL_SLOTS if has_specials else ()))
        return self._adjacent(kinds, x, x), len(kinds)

    def _product(self, x: int, y: int) -> int:
        """The first of the slots with the limbs of a product."""
        return self._adjacent(range(slots.SLOT_PRODUCT, slots.SLOT_PRODUCT + PRODUCT_LIMBS), x, y)

    def _adjacent(self, kinds: Iterable[int], x: int, y: int) -> int:
        """The first of the slots of these kinds, which only come together."""
        first, *_ = [self._slot(kind, x, y) for kind in kinds]
        return first


def of_single_words(words: Iterable[int], marker: int) -> tuple[tuple[Slot, ...], tuple[Finish, ...]]:
    """Slots and finishes for groups of which each of the `words` is not NULL in one row at most: that word.

    The words may be of any type. A group exists if `marker` is not NULL in one of its rows.
    """
    parts: list[Slot] = [(slots.SLOT_NOT_NULL, marker, marker)]
    finish: list[Finish] = []
    for word in words:
        counted = len(parts)
        parts += [(kind, word, word) for kind in (slots.SLOT_NOT_NULL, slots.SLOT_HIGH, slots.SLOT_LOW)]
        finish.append((kernels.SUM, counted, counted + 1, counted + 2, 1, kernels.INTEGERS, 0, 0, 1, 0, 0))
    return tuple(parts), tuple(finish)


def narrowed(delta: np.ndarray, layout: np.ndarray, dictionary: Dictionary) -> tuple[np.ndarray, np.ndarray]:
    """A delta [W + 2, n] with more lines before its last, and slots (K, 3) that read parts of numbers there.

    Without wide numbers the delta stays as it was, and the slots of tops read NOWHERE.
    """
    layout = layout.copy()
    lines: list[np.ndarray] = []
    for top in np.flatnonzero(layout[:, 0] == slots.SLOT_TOP_HIGH).tolist():
        word = int(layout[top, 1])
        apart = np.flatnonzero((layout[:, 1] == word) & np.isin(layout[:, 0], SPECIAL_SLOTS))
        layout[[top, top + 1, *apart], 1] = slots.NOWHERE
        wide = np.flatnonzero(is_wide(delta[word]))
        if wide.size == 0:
            continue
        rests, tops = delta[word].copy(), np.zeros_like(delta[word])
        specials: list[tuple[int, float]] = []
        for row in wide.tolist():
            number = number_of(int(delta[word, row]), dictionary)
            if isinstance(number, float):
                specials.append((row, number))
                number = 0
            tops[row], rests[row] = _parts(number)
        halves = (layout[:, 1] == word) & np.isin(layout[:, 0], (slots.SLOT_HIGH, slots.SLOT_LOW))
        layout[halves, 1] = delta.shape[0] - 1 + len(lines)
        layout[top : top + 2, 1] = delta.shape[0] + len(lines)
        lines += [rests, tops]
        if specials:
            layout[apart, 1] = delta.shape[0] - 1 + len(lines) + np.arange(len(apart))
            lines += list(_marks(specials, rests.size))
    return (np.vstack((delta[:-1], *lines, delta[-1:])) if lines else delta), layout


def _marks(specials: list[tuple[int, float]], size: int) -> np.ndarray:
    """int64[3, size]: 1 in the rows with NaN, with Infinity and with -Infinity."""
    marks = np.zeros((len(SPECIAL_SLOTS), size), np.int64)
    for row, special in specials:
        marks[0 if isnan(special) else 1 if special > 0 else 2, row] = 1
    return marks


def _parts(number: int) -> tuple[int, int]:
    """Top and rest of a number; the rest is from -BASE // 2 to BASE // 2."""
    top, rest = divmod(number + BASE // 2, BASE)
    return top, rest - BASE // 2


def finished(finish: np.ndarray, group: np.ndarray, dictionary: Dictionary) -> list[int] | int:
    """The words of all aggregates for a group's slots int64[K], or the number of one with too many digits."""
    words = []
    for number, (kind, counted, high, low, scale, top, *others, tops) in enumerate(finish.tolist()):
        count = int(group[counted])
        if kind == kernels.COUNT or count <= 0:
            words.append(count if kind == kernels.COUNT else NULL)
            continue
        total = _sum_of_halves(group, high, low)
        if top >= 0:
            total += _sum_of_halves(group, top, top + 1) * BASE
        special = _special_sum(*group[top + TOPS : top + tops].tolist()) if tops > TOPS else None
        if special is not None:
            words.append(float_word(special) if kind == kernels.AVG else word_of(special, dictionary))
            continue
        if kind == kernels.COMOMENT:
            words.append(_comoment(group, count, total, scale, *others))
            continue
        if kind == kernels.AVG:
            words.append(float_word(total / (count * scale)))
        elif abs(total) < (10**38 if top != kernels.INTEGERS else 2**63):
            words.append(total if top == kernels.INTEGERS else word_of(total, dictionary))
        else:
            return number
    return words


def _special_sum(undefined: int, positive: int, negative: int) -> float | None:
    """The sum of numbers, of which so many are NaN, Infinity and -Infinity; None if none is."""
    if undefined or (positive and negative):
        return nan
    return inf if positive else -inf if negative else None


def _sum_of_halves(group: np.ndarray, high: int, low: int) -> int:
    return (int(group[high]) << 32) + int(group[low])


def _comoment(
    group: np.ndarray, count: int, total: int, scale: int, high: int, low: int, other_scale: int, product: int
) -> int:
    """The word of a comoment, equal to that of the kernels."""
    limbs = group[product : product + PRODUCT_LIMBS].tolist()
    products = sum(limb << (LIMB * place) for place, limb in enumerate(limbs))
    return float_word(
        float(count * products - total * _sum_of_halves(group, high, low)) / scale / other_scale
    )
