"""Sorting row-major rows by their leading columns.

Large inputs are sorted first column first, by a radix sort that moves whole rows by the
digits in which the column varies; then each run of equal values by the next column. Rows
move, rather than an index of them, since they are then read in order ever after. Short
runs, and runs that agree only in the leading bits of a wide column, fall to a comparison sort.
"""

from __future__ import annotations

import numpy as np
from numba import njit

SMALL = 24
"""Rows up to which an insertion sort is best."""
MEDIUM = 96
"""Rows up to which a merge sort is best."""
DIGIT = 11
BUCKETS = 1 << DIGIT
MOST_BITS = 3 * DIGIT


@njit(inline="always")
def _below(rows, first, lead, i, j):
    for c in range(first, lead):
        x = rows[i, c]
        y = rows[j, c]
        if x != y:
            return x < y
    return False


@njit
def _insertion(rows, first, lead, low, high, item):
    """Sort a range; `item` has room for one row."""
    columns = rows.shape[1]
    for k in range(low + 1, high):
        if not _below(rows, first, lead, k, k - 1):
            continue
        for c in range(columns):
            item[c] = rows[k, c]
        p = k
        while p > low and _item_below(item, rows, first, lead, p - 1):
            for c in range(columns):
                rows[p, c] = rows[p - 1, c]
            p -= 1
        for c in range(columns):
            rows[p, c] = item[c]


@njit(inline="always")
def _item_below(item, rows, first, lead, j):
    for c in range(first, lead):
        x = item[c]
        y = rows[j, c]
        if x != y:
            return x < y
    return False


@njit
def _merge_runs(rows, first, lead, source, target, start, middle, end):
    i, j = start, middle
    for k in range(start, end):
        if j >= end or (i < middle and not _below(rows, first, lead, source[j], source[i])):
            target[k] = source[i]
            i += 1
        else:
            target[k] = source[j]
            j += 1


@njit
def _merge_sort(rows, scratch, first, lead, low, high, item):
    """Sort a range by comparison: runs by insertion, then an index of them by merging, then the rows."""
    for start in range(low, high, SMALL):
        _insertion(rows, first, lead, start, min(start + SMALL, high), item)
    count = high - low
    if count <= SMALL:
        return
    index = np.arange(low, high)
    other = np.empty_like(index)
    run = SMALL
    while run < count:
        for start in range(0, count, 2 * run):
            middle = min(start + run, count)
            _merge_runs(rows, first, lead, index, other, start, middle, min(start + 2 * run, count))
        index, other = other, index
        run *= 2
    for k in range(count):
        scratch[low + k] = rows[index[k]]
    rows[low:high] = scratch[low:high]


@njit
def _varying_bits(rows, column, low, high):
    """The least value of the column in the range, and how many bits the others differ from it in."""
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


@njit
def _scatter(source, target, column, least, shift, low, high):
    """One stable pass: rows move to their place by the digit above `shift` bits."""
    mask = np.uint64(BUCKETS - 1)
    base = np.uint64(least)
    places = np.zeros(BUCKETS, np.int64)
    for k in range(low, high):
        places[((np.uint64(source[k, column]) - base) >> np.uint64(shift)) & mask] += 1
    total = low
    for b in range(BUCKETS):
        count = places[b]
        places[b] = total
        total += count
    columns = source.shape[1]
    for k in range(low, high):
        digit = ((np.uint64(source[k, column]) - base) >> np.uint64(shift)) & mask
        p = places[digit]
        places[digit] = p + 1
        for c in range(columns):
            target[p, c] = source[k, c]


@njit
def _radix(rows, scratch, column, low, high):
    """Sort a range by the leading MOST_BITS of the bits in which a column varies.

    Returns the column's least value and how many low bits were left out.
    """
    least, bits = _varying_bits(rows, column, low, high)
    left_out = max(bits - MOST_BITS, 0)
    done = left_out
    while done < bits:
        _scatter(rows, scratch, column, least, done, low, high)
        done += DIGIT
        if done < bits:
            _scatter(scratch, rows, column, least, done, low, high)
            done += DIGIT
        else:
            rows[low:high] = scratch[low:high]
    return least, left_out


@njit
def _sort_large(rows, lead):
    n = rows.shape[0]
    scratch = np.empty_like(rows)
    item = np.empty(rows.shape[1], np.int64)
    stack = [(0, n, 0)]
    while len(stack) > 0:
        low, high, column = stack.pop()
        if high - low <= MEDIUM:
            _merge_sort(rows, scratch, column, lead, low, high, item)
            continue
        least, left_out = _radix(rows, scratch, column, low, high)
        base = np.uint64(least)
        start = low
        while start < high:
            digits = (np.uint64(rows[start, column]) - base) >> np.uint64(left_out)
            end = start + 1
            while end < high and (np.uint64(rows[end, column]) - base) >> np.uint64(left_out) == digits:
                end += 1
            if end - start > 1:
                first = column if left_out > 0 else column + 1
                if first < lead:
                    if end - start <= SMALL:
                        _insertion(rows, first, lead, start, end, item)
                    elif left_out > 0:
                        _merge_sort(rows, scratch, first, lead, start, end, item)
                    else:
                        stack.append((start, end, first))
            start = end


@njit
def sort_rows(rows, lead):
    """Sort `rows` in place by their first `lead` columns."""
    n = rows.shape[0]
    for i in range(1, n):
        if _below(rows, 0, lead, i, i - 1):
            break
    else:
        return
    if n <= SMALL:
        _insertion(rows, 0, lead, 0, n, np.empty(rows.shape[1], np.int64))
    elif n <= MEDIUM:
        _merge_sort(rows, np.empty_like(rows), 0, lead, 0, n, np.empty(rows.shape[1], np.int64))
    else:
        _sort_large(rows, lead)
