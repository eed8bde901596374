"""The index of a batch by its first words: a radix index if they are spread evenly, otherwise one by hash."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.kernels.index import FEWEST, MOST, SLOTS_A_KEY, count_keys, index_rows
from engine.kernels.narrow.narrow_rows import Batch, column_of, table_of
from engine.kernels.radix_index import KEYS_A_BUCKET, empty_slots, index_buckets

CROWD = 8
"""Up to so many keys are before a key in its bucket, on average, if first words are spread evenly."""
GROWTH = 2
"""A merge that makes the range of first words longer than this many times may leave them spread unevenly."""
_LAST_BIT = 63
"""A word has no more bits to shift out: few keys at both ends, as NULL beside a number, have two buckets."""


@dataclass(eq=False)
class Index:
    """The slots of a batch's index by its first `key` words; `keys` is the number of keys entered so far.

    A radix index has `place_bits` below 0 (`engine.kernels.radix_index`).
    """

    slots: np.ndarray
    place_bits: int
    key: int
    keys: int = 0
    _crowded: int = 0

    @staticmethod
    def of(rows: Batch, key: int) -> Index | None:
        """The index of a batch; None if it does not pay."""
        if not _pays(len(rows), key):
            return None
        table = table_of([rows])
        keys = count_keys(table, key)
        index = _radix(*_ends(rows), keys, key)
        index.enter(table, 0, len(rows))
        if not index.is_even:
            index = _by_hash(len(rows), keys, key)
            index.enter(table, 0, len(rows))
        return index

    @staticmethod
    def of_merge(batches: tuple[Batch, Batch], known: Index | None, keys: int, key: int) -> Index | None:
        """An empty index for what two batches are merged into, which has at most so many keys. `known` is an
        index of one of them, or of another batch of such words; None if an index does not pay."""
        rows = sum(map(len, batches))
        if not _pays(rows, key):
            return None
        ends = [_ends(batch) for batch in batches]
        least, greatest = min(low for low, _ in ends), max(high for _, high in ends)
        longest = max(high - low for low, high in ends)
        if known is None or not known.is_even or greatest - least > GROWTH * longest:
            return _by_hash(rows, keys, key)
        return _radix(least, greatest, keys, key)

    @property
    def is_even(self) -> bool:
        """Whether it is a radix index whose buckets have few keys each."""
        return self.place_bits < 0 and self._crowded <= CROWD * self.keys

    def enter(self, table: np.ndarray, start: int, stop: int) -> None:
        """Enter the rows from `start` up to `stop` of the batch, a table of itself; rows must be entered in
        order."""
        if self.place_bits < 0:
            keys, crowded = index_buckets(table, start, stop, self.slots, ~self.place_bits, self.key)
            self._crowded += crowded
        else:
            keys = index_rows(table, start, stop, self.slots, self.place_bits, self.key)
        self.keys += keys


def _pays(rows: int, key: int) -> bool:
    return key > 0 and FEWEST <= rows < MOST


def _ends(batch: Batch) -> tuple[int, int]:
    """The least and the greatest first word of a batch."""
    words = column_of(batch, 0)
    return int(words[0]), int(words[len(batch) - 1])


def _by_hash(rows: int, keys: int, key: int) -> Index:
    return Index(np.zeros(SLOTS_A_KEY * keys, np.uint32), rows.bit_length(), key)


def _radix(least: int, greatest: int, keys: int, key: int) -> Index:
    """An empty index of as many buckets as at most `keys` keys between these words need."""
    most = max(keys // KEYS_A_BUCKET, 1)
    shift = min(((greatest - least) // most).bit_length(), _LAST_BIT)
    return Index(empty_slots(least, ((greatest - least) >> shift) + 1), ~shift, key)
