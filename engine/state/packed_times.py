"""Times: tuples of coordinates under the product order, packed into one word.

A time is at or before another if it is so in every coordinate. The words of two times compare as the tuples
do, first coordinate first, so sorting by them is a linear extension of the order. With one coordinate the
word is the coordinate itself, and any two times are comparable.

A *frontier* is a set of times none of which is before another: the least times at which changes may still
come. A time is complete if no element of the frontier is at or before it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from engine.errors import EpochError

BITS = 62
Time = int | tuple[int, ...]


@dataclass(frozen=True)
class Order:
    """The product order of named coordinates, which share 62 bits evenly."""

    names: tuple[str, ...] = ("epoch",)

    def __post_init__(self) -> None:
        if not self.names or len(set(self.names)) != len(self.names):
            raise EpochError(f"coordinates of a time need different names: {', '.join(self.names)}")

    @cached_property
    def is_total(self) -> bool:
        """Whether any two times are comparable."""
        return len(self.names) == 1

    @cached_property
    def width(self) -> int:
        """The number of bits of one coordinate."""
        return BITS // len(self.names)

    @cached_property
    def masks(self) -> np.ndarray:
        """The bits of each coordinate in a word, int64[k]; empty for a total order, as kernels expect."""
        if self.is_total:
            return np.empty(0, np.int64)
        field = (1 << self.width) - 1
        return np.array([field << self.shift(i) for i in range(len(self.names))], np.int64)

    def shift(self, coordinate: int) -> int:
        """The position of a coordinate's lowest bit."""
        return self.width * (len(self.names) - 1 - coordinate)

    def pack(self, time: Time) -> int:
        """The word of a time; EpochError if its coordinates do not fit."""
        coordinates = (time,) if isinstance(time, int) else tuple(time)
        if len(coordinates) != len(self.names):
            raise EpochError(f"the time {time} needs the coordinates {', '.join(self.names)}")
        word = 0
        for name, value in zip(self.names, coordinates, strict=True):
            if not 0 <= value < 1 << self.width:
                raise EpochError(f"{name} {value} is not between 0 and {(1 << self.width) - 1}")
            word = word << self.width | value
        return word

    def unpack(self, word: int) -> Time:
        """The time of a word: a number if there is one coordinate, else a tuple."""
        if self.is_total:
            return word
        field = (1 << self.width) - 1
        return tuple(word >> self.shift(i) & field for i in range(len(self.names)))

    def join(self, first: int, second: int) -> int:
        """The least time at or after both; all are words."""
        if self.is_total:
            return max(first, second)
        return sum(max(first & mask, second & mask) for mask in self.masks.tolist())

    def before(self, first: int, second: int) -> bool:
        """Whether the first time is at or before the second; both are words."""
        return self.join(first, second) == second

    def frontier(self, words: Iterable[int]) -> tuple[int, ...]:
        """The least of some times, sorted."""
        distinct = sorted(set(words))
        return tuple(w for w in distinct if not any(v != w and self.before(v, w) for v in distinct))

    def is_complete(self, word: int, frontier: tuple[int, ...]) -> bool:
        """Whether no change can come at or before a time any more."""
        return not any(self.before(least, word) for least in frontier)


TOTAL = Order()
"""The order of plain epochs."""


class Frontier(NamedTuple):
    """The least times, as words in an order, at which changes may still come."""

    order: Order
    words: tuple[int, ...]

    @property
    def since(self) -> int:
        """The epoch before which epochs need not be told apart; 0 if times are not totally ordered."""
        return self.words[0] if self.order.is_total else 0

    @property
    def array(self) -> np.ndarray:
        """The words as an array for kernels."""
        return np.array(self.words, np.int64)

    def is_complete(self, word: int) -> bool:
        """Whether no change can come at or before a time any more."""
        return self.order.is_complete(word, self.words)

    def is_at_or_after(self, other: Frontier) -> bool:
        """Whether all times complete by `other` are complete by this frontier."""
        if self.order.is_total:
            return self.words[0] >= other.words[0]
        return all(any(self.order.before(least, word) for least in other.words) for word in self.words)

    def __str__(self) -> str:
        return ", ".join(str(self.order.unpack(word)) for word in self.words)


BEGINNING = Frontier(TOTAL, (0,))
"""The frontier of epochs at which nothing is complete."""
