"""A delta divided by key: parts of its rows, of which each has all rows between two splitters.

The words, epochs and diffs that are needed are copied once, as narrow rows, those of a part after those of
the part before. Several threads do so at once, with a stretch of the delta each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numba import njit

from engine.kernels.compiled import kernel
from engine.kernels.narrow.batch_type import BASE, MASK, OFFSET, WORD, store
from engine.kernels.narrow.narrow_rows import (
    Batch,
    NarrowRows,
    around,
    format_for,
    read_columns,
    store_bytes,
)
from engine.kernels.narrow.ordered_rows import order_rows
from engine.kernels.parallel import threads
from engine.kernels.sort import sort_rows

SAMPLED = 32
"""How many rows are sampled for each part."""
BUCKETS = 1 << 12
"""Stretches of first words, of which few have splitters."""


class KeyParts:
    """The rows of a delta by parts, until others take their place."""

    def __init__(
        self,
        delta: np.ndarray,
        columns: np.ndarray,
        order: np.ndarray,
        between: np.ndarray,
        stretches: Sequence[slice],
    ) -> None:
        """`columns` are the delta's rows that are needed. `between` are splitters, which have the words that
        `order` names; there are as many `stretches` of the delta as parts."""
        rows = delta.shape[1]
        ends = around(
            threads.each(lambda part: column_ends(delta, columns, part.start, part.stop), stretches)
        )
        format, stride = format_for(ends)
        part_of = np.empty(rows, np.uint8)
        counts = np.array(
            threads.each(
                lambda part: assign(delta, order, between, part.start, part.stop, part_of), stretches
            )
        )
        sizes = counts.sum(axis=0)
        starts = np.cumsum(sizes) - sizes
        lasts = starts + np.cumsum(counts, axis=0)
        data = np.empty(rows * stride + WORD, np.uint8)
        varying = np.flatnonzero(format[:, MASK])

        def put(place: int) -> None:
            ends = lasts[place] - counts[place], lasts[place]
            span = stretches[place].start, stretches[place].stop
            scatter(delta, columns[varying], format[varying], stride, part_of, *span, *ends, data)

        threads.each(put, range(len(stretches)))
        self._rows = NarrowRows(data, rows, format, stride, ends)
        self._parts = [slice(*ends) for ends in zip(starts.tolist(), (starts + sizes).tolist(), strict=True)]

    def ordered(self) -> Batch:
        """The rows in order, equal ones added up; the last of the columns is the diff."""
        return self._together(threads.each(self._order, self._parts))

    def _order(self, part: slice) -> Batch:
        rows = self._rows
        own = rows.data[part.start * rows.stride : part.stop * rows.stride + WORD].copy()
        left, diffs, wide = order_rows(rows.table, part.start, part.stop, own, rows.data)
        if len(wide) or not left:
            return NarrowRows.of(wide) if len(wide) else wide
        # Words that are gone still count for the ends, diffs do not.
        ends = np.hstack((rows.ends[:, :-1], diffs))
        return NarrowRows(rows.data[part.start * rows.stride :], left, rows.format, rows.stride, ends)

    def replaced(self, function: Callable[[np.ndarray], np.ndarray]) -> Batch:
        """The rows that a function makes of each part, one after the other; it gets the part as a delta."""

        def made(part: slice) -> Batch:
            rows = function(self._read(part))
            return NarrowRows.of(rows) if len(rows) else rows

        return self._together(threads.each(made, self._parts))

    def _together(self, found: Sequence[Batch]) -> Batch:
        """The rows of all parts; those that lie where their part was are moved together."""
        rows = self._rows
        pieces = [piece for piece in found if len(piece)]
        if not pieces:
            return found[0]
        staying = [it for it in pieces if isinstance(it, NarrowRows) and it.format is rows.format]
        size = sum(map(len, pieces))
        if len(staying) < len(pieces) or 2 * size < len(rows):
            return NarrowRows.joined(pieces)
        end = 0
        for piece in staying:
            own = piece.data[: len(piece) * rows.stride]
            rows.data[end : end + len(own)] = own
            end += len(own)
        ends = around([it.ends for it in staying])
        return NarrowRows(rows.data[: end + WORD], size, rows.format, rows.stride, ends)

    def _read(self, part: slice) -> np.ndarray:
        delta = np.empty((self._rows.shape[1], part.stop - part.start), np.int64)
        read_columns(self._rows.table, part.start, delta)
        return delta


@kernel("int64[:,::1](int64[:,::1], int64[::1], int64, int64)")
def column_ends(delta, columns, first, last):
    """int64[2, columns]: the least and the greatest word of each column in the delta's rows first ≤ i < last,
    of which there is at least one."""
    ends = np.empty((2, columns.shape[0]), np.int64)
    for c in range(columns.shape[0]):
        words = delta[columns[c]]
        least = greatest = words[first]
        for i in range(first, last):
            least = min(least, words[i])
            greatest = max(greatest, words[i])
        ends[0, c], ends[1, c] = least, greatest
    return ends


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
    "void(int64[:,::1], int64[::1], int64[:,::1], int64, uint8[::1], int64, int64, int64[::1], int64[::1],"
    " uint8[::1])"
)
def scatter(delta, columns, format, stride, part_of, first, last, starts, stops, out):
    """Write some columns of the delta's rows first ≤ i < last as narrow rows of `out`, those of the k-th part
    from starts[k] up to stops[k].

    Each word is written with all eight bytes, and what follows overwrites those that are not its own; but not
    in the last rows of a part, behind which other threads write.
    """
    places = starts.copy()
    address = out.ctypes.data
    for i in range(first, last):
        part = part_of[i]
        place = places[part]
        places[part] += 1
        is_before_others = place + WORD < stops[part]
        for c in range(columns.shape[0]):
            word = delta[columns[c], i] - format[c, BASE]
            at = place * stride + format[c, OFFSET]
            if is_before_others:
                store(address + at, word)  # type: ignore[call-arg]
            else:
                store_bytes(out, at, word, format[c, MASK])
