"""A delta divided by key: parts of its rows, of which each has all rows between two splitters.

The words, epochs and diffs that are needed are copied once, as narrow rows, those of a part after those of
the part before. Several threads do so at once, with a stretch of the delta each. Rows that are not kept are
passed over: of what a filter keeps, nobody else makes a copy.
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
    as_matrix,
    format_for,
    read_columns,
    store_bytes,
    table_of,
)
from engine.kernels.narrow.ordered_rows import order_rows, widen_diffs
from engine.kernels.parallel import threads
from engine.kernels.sort import sort_rows

SAMPLED = 32
"""How many rows are sampled for each part."""
BUCKETS = 1 << 12
"""Stretches of first words, of which few have splitters."""
NOWHERE = 255
"""The part of a row that is not kept."""
LEAST, GREATEST = np.iinfo(np.int64).min, np.iinfo(np.int64).max
_ALL = np.empty(0, np.uint8)


class KeptRows:
    """The rows of a large delta that count: all of them, or those for which `keep` is true."""

    def __init__(self, delta: np.ndarray, keep: np.ndarray | None = None) -> None:
        self.delta = delta
        self.keep = _ALL if keep is None else keep.view(np.uint8)
        """uint8[n], or empty if all rows are kept."""
        self.stretches = threads.parts_of(delta.shape[1])
        """The delta in parts, to be read one by one."""
        self.count = delta.shape[1] if keep is None else int(np.count_nonzero(keep))
        """How many rows are kept."""

    def taken(self, stretch: slice, columns: np.ndarray) -> np.ndarray:
        """Some columns of the rows that are kept of a stretch."""
        part = self.delta[:, stretch]
        if not len(self.keep):
            return part.take(columns, axis=0)
        places = np.flatnonzero(self.keep[stretch])
        return np.stack([part[column].take(places) for column in columns.tolist()])

    def splitters(self, order: np.ndarray) -> np.ndarray:
        """Words and epochs of rows that divide those that are kept into about equal parts."""
        return splitters(self.delta, self.keep, self.count, order, len(threads.parts_of(self.count)))  # type: ignore[no-any-return]


def leading(batch: Batch, rows: slice, columns: int) -> np.ndarray:
    """Some rows of a batch as a matrix that has at least the first columns: all of them, if they need not be
    read."""
    return batch[rows] if isinstance(batch, np.ndarray) else batch[rows, :columns]


class KeyParts:
    """The rows that are kept of a delta by parts, until others take their place."""

    def __init__(self, rows: KeptRows, columns: np.ndarray, order: np.ndarray, between: np.ndarray) -> None:
        """`columns` are the delta's rows that are needed. `between` are splitters, which have the words that
        `order` names."""
        delta, keep, stretches = rows.delta, rows.keep, rows.stretches
        ends = around(
            threads.each(lambda part: column_ends(delta, keep, columns, part.start, part.stop), stretches)
        )
        format, stride = format_for(ends)
        part_of = np.empty(delta.shape[1], np.uint8)
        counts = np.array(
            threads.each(
                lambda part: assign(delta, keep, order, between, part.start, part.stop, part_of), stretches
            )
        )
        sizes = counts.sum(axis=0)
        starts = np.cumsum(sizes) - sizes
        lasts = starts + np.cumsum(counts, axis=0)
        data = np.empty(rows.count * stride + WORD, np.uint8)
        varying = np.flatnonzero(format[:, MASK])

        def put(place: int) -> None:
            ends = lasts[place] - counts[place], lasts[place]
            span = stretches[place].start, stretches[place].stop
            scatter(delta, columns[varying], format[varying], stride, part_of, *span, *ends, data)

        threads.each(put, range(len(stretches)))
        self._rows = NarrowRows(data, rows.count, format, stride, ends)
        self._parts = [slice(*ends) for ends in zip(starts.tolist(), (starts + sizes).tolist(), strict=True)]

    def ordered(self) -> Batch:
        """The rows in order, equal ones added up; the last of the columns is the diff."""
        found = threads.each(self._order, self._parts)
        pieces = [(piece, diffs) for piece, diffs in found if len(piece)]
        if all(diffs is piece for piece, diffs in pieces):
            return self._together([piece for piece, _ in found])
        return self._widened(pieces)

    def _order(self, part: slice) -> tuple[NarrowRows, NarrowRows]:
        """The rows of a part in order, and rows of which the last column has their diffs: the same ones, if
        they have room for these."""
        rows = self._rows
        own = rows.data[part.start * rows.stride : part.stop * rows.stride + WORD].copy()
        left, ends, wide = order_rows(rows.table, part.start, part.stop, own, rows.data)
        # Words that are gone still count for the ends, diffs do not.
        ends = np.hstack((rows.ends[:, :-1], ends))
        piece = NarrowRows(rows.data[part.start * rows.stride :], left, rows.format, rows.stride, ends)
        return piece, NarrowRows.of(wide) if len(wide) else piece

    def _widened(self, pieces: Sequence[tuple[NarrowRows, NarrowRows]]) -> NarrowRows:
        """The rows of all parts, in a format that has room for their diffs."""
        ends = around([piece.ends for piece, _ in pieces])
        format, stride = format_for(ends)
        stops = np.cumsum([len(piece) for piece, _ in pieces]).tolist()
        data = np.empty(stops[-1] * stride + WORD, np.uint8)

        def write(place: int) -> None:
            first = stops[place] - len(pieces[place][0])
            widen_diffs(table_of(pieces[place]), format, stride, first, data)

        threads.each(write, range(len(pieces)))
        return NarrowRows(data, stops[-1], format, stride, ends)

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
            return as_matrix(found[0])
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


@kernel("int64[:,::1](int64[:,::1], uint8[::1], int64[::1], int64, int64)")
def column_ends(delta, keep, columns, first, last):
    """int64[2, columns]: the least and the greatest word of each column in those of the delta's rows first ≤
    i < last that are kept; without any, the greatest and the least that there are."""
    ends = np.empty((2, columns.shape[0]), np.int64)
    for c in range(columns.shape[0]):
        words = delta[columns[c]]
        least, greatest = GREATEST, LEAST
        if keep.shape[0] == 0:
            for i in range(first, last):
                least = min(least, words[i])
                greatest = max(greatest, words[i])
        else:
            for i in range(first, last):  # which rows are kept cannot be foretold, so no branch depends on it
                mask = -np.int64(keep[i])
                word = words[i] & mask
                least = min(least, word | (GREATEST & ~mask))
                greatest = max(greatest, word | (LEAST & ~mask))
        ends[0, c], ends[1, c] = least, greatest
    return ends


@njit
def _spread(keep, rows, count, size):
    """The places of `size` rows at equal distances among the `count` rows that are kept of so many."""
    places = np.empty(size, np.int64)
    if keep.shape[0] == 0:
        for k in range(size):
            places[k] = count * k // size
        return places
    k = wanted = before = 0
    for i in range(rows):
        if keep[i] and before == wanted:
            places[k] = i
            k += 1
            wanted = count * k // size if k < size else count
        before += keep[i]
    return places


@kernel("int64[:,::1](int64[:,::1], uint8[::1], int64, int64[::1], int64)")
def splitters(delta, keep, count, order, parts):
    """[parts - 1, P + 1]: words and epochs of rows that divide the `count` rows that are kept of the delta
    into about equal parts."""
    size = min(count, SAMPLED * parts)
    sample = np.empty((size, order.shape[0]), np.int64)
    places = _spread(keep, delta.shape[1], count, size)
    for k in range(size):
        for w in range(order.shape[0]):
            sample[k, w] = delta[order[w], places[k]]
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


@kernel("int64[::1](int64[:,::1], uint8[::1], int64[::1], int64[:,::1], int64, int64, uint8[::1])")
def assign(delta, keep, order, between, first, last, part_of):
    """Write the parts of the rows first ≤ i < last to `part_of`, NOWHERE for those that are not kept; returns
    how many rows each part has.

    The part of a row is the number of splitters that are not above it. Most rows need no comparison: no
    splitter is in the bucket of their first word.
    """
    counts = np.zeros(between.shape[0] + 1, np.int64)
    least, shift, ends = _bucket_ends(between)
    words = delta[order[0]]
    keeps_all = keep.shape[0] == 0
    for i in range(first, last):
        if not (keeps_all or keep[i]):
            part_of[i] = NOWHERE
            continue
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
    """Write some columns of the delta's rows first ≤ i < last that have a part as narrow rows of `out`, those
    of the k-th part from starts[k] up to stops[k].

    Each word is written with all eight bytes, and what follows overwrites those that are not its own; but not
    in the last rows of a part, behind which other threads write.
    """
    places = starts.copy()
    address = out.ctypes.data
    for i in range(first, last):
        part = part_of[i]
        if part == NOWHERE:
            continue
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
