"""Sorting row-major rows by their leading columns.

Rows are sorted by one column after the other: by those bits in which the values of a range differ; each run
of equal values is then sorted by the next column. A range that is larger than the cache is first scattered
into parts by its leading bits. A range inside the cache is sorted by a radix sort of just enough leading bits
to leave few values equal. Short runs are finished by an insertion sort. Rows are moved, instead of an index
of them, because later they are read in order.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.kernels.memory import empty_matrix

SMALL = 24
"""The most rows for which an insertion sort is best."""
DIGIT = 11
CACHED = 1 << 18
"""The most bytes of rows that are sorted inside the cache."""
NEAR = 1 << 23
"""The most bytes for which two passes over all rows are better than scattering them into parts first."""
SPARE_BITS = 8
"""Bits to sort by beyond those that number the rows: one row in 2**SPARE_BITS is left equal to another."""


@njit(inline="always")
def _move(target, p, source, k):
    """Copy a row. Four columns, usually the fewest of a batch, need no loop."""
    columns = source.shape[1]
    if columns == 4:
        target[p, 0] = source[k, 0]
        target[p, 1] = source[k, 1]
        target[p, 2] = source[k, 2]
        target[p, 3] = source[k, 3]
    else:
        for c in range(columns):
            target[p, c] = source[k, c]


@njit
def _insertion(rows, first, lead, low, high, item):
    """Sort a range by the columns from `first` to `lead`; `item` has room for one row."""
    columns = rows.shape[1]
    for k in range(low + 1, high):
        for c in range(columns):
            item[c] = rows[k, c]
        p = k
        while p > low:
            below = False
            for c in range(first, lead):
                if item[c] != rows[p - 1, c]:
                    below = item[c] < rows[p - 1, c]
                    break
            if not below:
                break
            _move(rows, p, rows, p - 1)
            p -= 1
        if p < k:
            for c in range(columns):
                rows[p, c] = item[c]


@njit
def _varying_bits(rows, column, low, high):
    """The least value of the column in the range, and the number of low bits in which others differ from
    it."""
    least = rows[low, column]
    most = least
    for k in range(low, high):
        x = rows[k, column]
        least = min(least, x)
        most = max(most, x)
    span = np.uint64(most) - np.uint64(least)
    bits = 0
    while bits < 64 and (span >> np.uint64(bits)) != 0:
        bits += 1
    return least, bits


@njit(inline="always")
def _above(rows, k, column, least, shift):
    """The bits of a value above `shift`, after the least value is subtracted."""
    return (np.uint64(rows[k, column]) - np.uint64(least)) >> np.uint64(shift)


@njit
def _scatter(source, target, column, least, shift, digit, low, high, places):
    """One stable pass: rows move to their place by the `digit` bits above `shift`.

    Leaves the end of each part in `places`.
    """
    parts = 1 << digit
    mask = np.uint64(parts - 1)
    places[:parts] = 0
    for k in range(low, high):
        places[_above(source, k, column, least, shift) & mask] += 1
    total = low
    for part in range(parts):
        count = places[part]
        places[part] = total
        total += count
    for k in range(low, high):
        part = _above(source, k, column, least, shift) & mask
        _move(target, places[part], source, k)
        places[part] += 1


@njit
def _radix(source, other, column, least, bits, low, high, places):
    """Sort a range by leading bits among the lowest `bits` bits, as many as its size requires.

    Returns how many bits were left out, and whether the range is in `source` rather than in `other`.
    """
    wanted = SPARE_BITS
    while wanted < bits and (high - low) >> (wanted - SPARE_BITS) > 0:
        wanted += 1
    wanted = min(wanted, bits)
    passes = (wanted + DIGIT - 1) // DIGIT
    done = bits - wanted
    for index in range(passes):
        digit = (bits - done) // (passes - index)
        if index % 2 == 0:
            _scatter(source, other, column, least, done, digit, low, high, places)
        else:
            _scatter(other, source, column, least, done, digit, low, high, places)
        done += digit
    return bits - wanted, passes % 2 == 0


@njit
def _runs(rows, column, lead, least, left_out, low, high, item, stack):
    """Sort runs of rows further that are equal in the column except for its `left_out` lowest bits."""
    first = column if left_out > 0 else column + 1
    if first == lead:
        return
    start = low
    while start < high:
        value = _above(rows, start, column, least, left_out)
        end = start + 1
        while end < high and _above(rows, end, column, least, left_out) == value:
            end += 1
        if end - start > SMALL:
            stack.append((start, end, first))
        elif end - start > 1:
            _insertion(rows, first, lead, start, end, item)
        start = end


@njit
def _split(rows, scratch, column, lead, least, bits, low, high, places, item, stack):
    """Sort a range larger than the cache part by part; a part that is still too large is sorted later."""
    digit = 1
    while digit < min(bits, DIGIT) and (high - low) * rows.shape[1] * 16 >> digit > CACHED:
        digit += 1
    rest = bits - digit
    ends = np.empty(1 << digit, np.int64)
    _scatter(rows, scratch, column, least, rest, digit, low, high, ends)
    start = low
    for end in ends:
        is_cached = (end - start) * rows.shape[1] * 8 <= CACHED
        if end - start <= SMALL or not is_cached or rest == 0:
            rows[start:end] = scratch[start:end]
        if end - start > SMALL and is_cached and rest > 0:
            left_out, is_away = _radix(scratch, rows, column, least, rest, start, end, places)
            if is_away:
                rows[start:end] = scratch[start:end]
            _runs(rows, column, lead, least, left_out, start, end, item, stack)
        elif end - start > SMALL:
            stack.append((start, end, column))
        elif end - start > 1:
            _insertion(rows, column, lead, start, end, item)
        start = end


@njit
def _sort_large(rows, lead):
    n, columns = rows.shape
    scratch = empty_matrix(n, columns)
    item = np.empty(columns, np.int64)
    places = np.empty(1 << DIGIT, np.int64)
    stack = [(0, n, 0)]
    while len(stack) > 0:
        low, high, column = stack.pop()
        least, bits = _varying_bits(rows, column, low, high)
        if bits == 0:
            if column + 1 < lead:
                stack.append((low, high, column + 1))
        elif (high - low) * columns * 8 > (NEAR if bits <= 2 * DIGIT else CACHED):
            _split(rows, scratch, column, lead, least, bits, low, high, places, item, stack)
        else:
            left_out, is_home = _radix(rows, scratch, column, least, bits, low, high, places)
            if not is_home:
                rows[low:high] = scratch[low:high]
            _runs(rows, column, lead, least, left_out, low, high, item, stack)


@njit
def _is_sorted(rows, lead):
    for i in range(1, rows.shape[0]):
        for c in range(lead):
            if rows[i, c] != rows[i - 1, c]:
                if rows[i, c] < rows[i - 1, c]:
                    return False
                break
    return True


@njit
def sort_rows(rows, lead):
    """Sort `rows` in place by their first `lead` columns."""
    n = rows.shape[0]
    if _is_sorted(rows, lead):
        return
    if n <= SMALL:
        _insertion(rows, 0, lead, 0, n, np.empty(rows.shape[1], np.int64))
    else:
        _sort_large(rows, lead)
