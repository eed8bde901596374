"""Arranging a large delta in parts: its rows are divided by key, and each part is sorted on its own.

Splitters, which are taken from a sample of the rows, lie between the parts. Several threads move stretches of
the delta to the parts at once, as rows of one matrix, and then sort and consolidate the parts. Equal rows are
always in one part. So the batch is the one that `engine.kernels.arrange` makes.

The parts of a very large delta are made in waves. The rows of each come behind what is left of those before
it, so that a delta with few distinct rows never takes the memory of all its rows.

If most of the splitters are equal, many rows are: then the stretches are arranged on their own, without that
matrix, and the few rows that are left of them are added up.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numba import njit

from engine.kernels.arrange import (
    add_in_place,
    arrange,
    arrange_sums,
    distinct_keys,
    put_counts,
    put_sums,
)
from engine.kernels.compiled import kernel
from engine.kernels.lookup import BLOCK
from engine.kernels.memory import empty_matrix
from engine.kernels.parallel import threads
from engine.kernels.sort import sort_rows

SAMPLED = 32
"""How many rows are sampled for each part."""
VERY_LARGE = 1 << 20
"""The fewest rows whose parts are made in waves."""
WAVES = 2
BUCKETS = 1 << 12
"""Stretches of first words, of which few have splitters."""
_NO_SLOTS = np.empty((0, 3), np.int64)


def arrange_delta(delta: np.ndarray, order: np.ndarray, rounds: np.ndarray) -> np.ndarray:
    """As `engine.kernels.arrange.arrange`; a large delta is arranged in parts."""
    if delta.shape[1] < threads.LARGE:
        return arrange(delta, order, rounds)
    return _arranged(delta, order, rounds, _NO_SLOTS)


def arrange_delta_sums(
    delta: np.ndarray, order: np.ndarray, rounds: np.ndarray, slots: np.ndarray
) -> np.ndarray:
    """As `engine.kernels.arrange.arrange_sums`; a large delta is arranged in parts."""
    if delta.shape[1] < threads.LARGE:
        return arrange_sums(delta, order, rounds, slots)
    return _arranged(delta, order, rounds, slots)


def _arranged(delta: np.ndarray, order: np.ndarray, rounds: np.ndarray, slots: np.ndarray) -> np.ndarray:
    stretches = threads.parts_of(delta.shape[1])
    between = splitters(delta, order, len(stretches))
    if 2 * (1 + np.count_nonzero((between[1:] != between[:-1]).any(axis=1))) <= len(between):
        return _added_up(delta, order, rounds, slots, stretches)
    rows = _put_in_waves(delta, order, rounds, slots, stretches, between)
    return rows if 2 * len(rows) >= delta.shape[1] else rows.copy()


def _put_in_waves(
    delta: np.ndarray,
    order: np.ndarray,
    rounds: np.ndarray,
    slots: np.ndarray,
    stretches: list[slice],
    between: np.ndarray,
) -> np.ndarray:
    """The rows of the batch, at the beginning of a matrix that has room for all rows of the delta."""
    part_of = np.empty(delta.shape[1], np.uint8)

    def count(stretch: slice) -> np.ndarray:
        return assign(delta, order, between, stretch.start, stretch.stop, part_of)

    counts = np.array(threads.each(count, stretches))
    rows, lead = matrix(delta.shape[1], order, rounds, slots)
    put = partial(scatter, delta, order, rounds, slots, part_of)
    size, waves = 0, WAVES if delta.shape[1] >= VERY_LARGE else 1
    for wave in range(waves):
        first, last = len(stretches) * wave // waves, len(stretches) * (wave + 1) // waves
        size = _put_wave(partial(put, first), stretches, counts[:, first:last], rows, lead, size)
    return rows[:size]


def _put_wave(
    put: Callable[[int, int, np.ndarray, np.ndarray], None],
    stretches: list[slice],
    counts: np.ndarray,
    rows: np.ndarray,
    lead: int,
    size: int,
) -> int:
    """Let each stretch `put` its rows of some parts behind the first `size` rows, sort and consolidate the
    parts, and move them together; `counts` has how many rows of each part a stretch has. Returns the new
    size."""
    ends = size + np.cumsum(counts.sum(axis=0))
    starts = np.cumsum(counts, axis=0) - counts + (ends - counts.sum(axis=0))

    def put_stretch(place: int) -> None:
        put(stretches[place].start, stretches[place].stop, starts[place], rows)

    def sorted_part(part: int) -> np.ndarray:
        own = rows[starts[0, part] : ends[part]]
        return own[: sort_part(own, lead)]

    threads.each(put_stretch, range(len(stretches)))
    for start, part in zip(starts[0], threads.each(sorted_part, range(len(ends))), strict=True):
        if start > size:
            rows[size : size + len(part)] = part
        size += len(part)
    return size


def _added_up(
    delta: np.ndarray, order: np.ndarray, rounds: np.ndarray, slots: np.ndarray, stretches: list[slice]
) -> np.ndarray:
    """As `_arranged`, one stretch after the other, and then what is left of all."""

    def arranged(stretch: slice) -> np.ndarray:
        own = np.ascontiguousarray(delta[:, stretch])
        return arrange_sums(own, order, rounds, slots) if len(slots) else arrange(own, order, rounds)

    rows = threads.joined(threads.each(arranged, stretches))
    return rows[: sort_part(rows, len(order) + len(rounds))]


def keys_of(batch: np.ndarray, width: int) -> np.ndarray:
    """As `engine.kernels.arrange.distinct_keys`; those of a large batch are found in parts."""
    if len(batch) < threads.LARGE:
        return distinct_keys(batch, width)
    stretches = threads.parts_of(len(batch))
    found = threads.each(lambda stretch: distinct_keys(batch[stretch], width), stretches)
    for place in range(1, len(found)):
        if np.array_equal(found[place][0], found[place - 1][-1]):
            found[place - 1] = found[place - 1][:-1]
    return threads.joined(found)


@kernel("Tuple((int64[:,::1], int64))(int64, int64[::1], int64[::1], int64[:,::1])")
def matrix(n, order, rounds, slots):
    """Room for the n rows of a batch, and the number of the columns that they are sorted by."""
    lead = order.shape[0] + rounds.shape[0]
    return empty_matrix(n, lead + max(slots.shape[0], 1)), lead


@kernel("int64[:,::1](int64[:,::1], int64[::1], int64)")
def splitters(delta, order, parts):
    """[parts - 1, P + 1]: words and epochs of rows that divide the delta into about equal parts."""
    n = delta.shape[1]
    size = min(n, SAMPLED * parts)
    sample = np.empty((size, order.shape[0]), np.int64)
    for k in range(size):
        for w in range(order.shape[0]):
            sample[k, w] = delta[order[w], n * k // size]
    sort_rows(sample, order.shape[0])
    chosen = np.empty((parts - 1, order.shape[0]), np.int64)
    for part in range(1, parts):
        chosen[part - 1] = sample[size * part // parts]
    return chosen


@njit
def _is_above(between, b, delta, order, i):
    """Whether a splitter is above row i of the delta."""
    for w in range(order.shape[0]):
        x = between[b, w]
        y = delta[order[w], i]
        if x != y:
            return x > y
    return False


@njit(inline="always")
def _bucket(word, least, shift):
    """The stretch of words, counted from the least splitter, that has a first word; the last has no end."""
    if word < least:
        return 0
    return np.int64(min((np.uint64(word) - np.uint64(least)) >> shift, np.uint64(BUCKETS - 1)))


@njit
def _bucket_ends(between):
    """The least first word and the shift of `_bucket`, and how many splitters lie before the end of each
    bucket, after a zero."""
    least = between[0, 0]
    span = np.uint64(between[between.shape[0] - 1, 0]) - np.uint64(least)
    shift = np.uint64(0)
    while span >> shift >= BUCKETS:
        shift += np.uint64(1)
    ends = np.zeros(BUCKETS + 1, np.int64)
    for b in range(between.shape[0]):
        ends[_bucket(between[b, 0], least, shift) + 1] += 1
    for bucket in range(BUCKETS):
        ends[bucket + 1] += ends[bucket]
    return least, shift, ends


@kernel("int64[::1](int64[:,::1], int64[::1], int64[:,::1], int64, int64, uint8[::1])")
def assign(delta, order, between, first, last, part_of):
    """Write the parts of the rows first ≤ i < last to `part_of`; returns how many of them each part has.

    The part of a row is the number of splitters that are not above it. Most rows need no comparison: no
    splitter is in the bucket of their first word.
    """
    counts = np.zeros(between.shape[0] + 1, np.int64)
    least, shift, ends = _bucket_ends(between)
    words = delta[order[0]]
    for i in range(first, last):
        bucket = _bucket(words[i], least, shift)
        low = ends[bucket]
        high = ends[bucket + 1]
        while low < high:
            middle = (low + high) >> 1
            if _is_above(between, middle, delta, order, i):
                high = middle
            else:
                low = middle + 1
        part_of[i] = low
        counts[low] += 1
    return counts


@kernel(
    "void(int64[:,::1], int64[::1], int64[::1], int64[:,::1], uint8[::1], int64, int64, int64, int64[::1],"
    " int64[:,::1])"
)
def scatter(delta, order, rounds, slots, part_of, part, first, last, starts, rows):
    """Write the delta's rows first ≤ i < last that are in parts from `part` on into `rows`, those of the k-th
    of these parts from starts[k] on, with their diffs or, if there are slots, with what they add to these."""
    picks = np.empty(BLOCK, np.int64)
    places = np.empty(BLOCK, np.int64)
    ends = starts.copy()
    for start in range(first, last, BLOCK):
        picked = 0
        for i in range(start, min(start + BLOCK, last)):
            picks[picked] = i
            picked += part <= part_of[i] < part + ends.shape[0]
        for k in range(picked):
            own = part_of[picks[k]] - part
            places[k] = ends[own]
            ends[own] += 1
        if slots.shape[0] == 0:
            put_counts(delta, order, rounds, 0, picked, picks, places, rows)
        else:
            put_sums(delta, order, rounds, slots, 0, picked, picks, places, rows)


@kernel("int64(int64[:,::1], int64)")
def sort_part(rows, lead):
    """Sort and consolidate rows in place, as `engine.kernels.arrange.consolidate` does; returns how many are
    left."""
    sort_rows(rows, lead)
    return add_in_place(rows, lead)
