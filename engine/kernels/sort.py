"""Sorting row-major rows by their leading columns.

A range of rows is sorted by one word a row: the leading bits in which its columns vary, as many columns as
fit, and behind them the row's number. These words are sorted, by a radix sort of just enough leading bits to
leave few of them equal, and then the rows are moved to their places, each once. Runs of rows that are equal
in the word are sorted by what it left out. A range that is larger than the cache is first scattered into
parts by its leading bits. Short ranges are finished by an insertion sort. Rows are moved, and not only
numbered, because later they are read in order; `places_in_order` numbers those of a batch that is moved
elsewhere.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.kernels.memory import empty_matrix

SMALL = 24
"""The most rows for which an insertion sort is best."""
DIGIT = 11
CACHED = 1 << 18
"""The most bytes that the parts of a large range have, counting the room that they are sorted from, if their
first column varies enough."""
NEAR = 1 << 23
"""The most bytes of rows that are gathered from all over their range."""
SPARE_BITS = 4
"""Bits to sort by beyond those that number the rows: one row in 2**SPARE_BITS is left equal to another."""
WORD_BITS = 64


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


@njit(inline="always")
def _bit_length(number):
    """How many bits a number has without leading zeros."""
    bits = 0
    while bits < WORD_BITS and number >> np.uint64(bits) > 0:
        bits += 1
    return bits


@njit(inline="always")
def _at(places, k):
    """The row at the k-th place."""
    return k if places.shape[0] == 0 else np.int64(places[k])


@njit
def _varying_bits(rows, places, column, low, high):
    """The least value of the column in the range, and the number of low bits in which others differ from
    it. The range is one of `places`, if there are any."""
    least = rows[_at(places, low), column]
    most = least
    for k in range(low, high):
        x = rows[_at(places, k), column]
        least = min(least, x)
        most = max(most, x)
    return least, _bit_length(np.uint64(most) - np.uint64(least))


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


@njit(inline="always")
def _push(stack, low, high, what):
    """Note a range to sort later: by columns from a column on, or by so many bits."""
    height = stack[0, 0] + 1
    stack[0, 0] = height
    stack[height, 0] = low
    stack[height, 1] = high
    stack[height, 2] = what


@njit(inline="always")
def _pop(stack):
    """The range that was noted last."""
    height = stack[0, 0]
    stack[0, 0] = height - 1
    return stack[height, 0], stack[height, 1], stack[height, 2]


@njit
def _stack_for(n):
    """Room for ranges of n rows: none is small, and no two have a row in common."""
    stack = np.empty((n // SMALL + 2, 3), np.int64)
    stack[0, 0] = 0
    return stack


@njit
def _insert_words(words, low, high):
    """Sort a range of words."""
    for k in range(low + 1, high):
        word = words[k]
        p = k
        while p > low and words[p - 1] > word:
            words[p] = words[p - 1]
            p -= 1
        words[p] = word


@njit
def _scatter_words(source, target, shift, digit, low, high, places):
    """As `_scatter`, for words, which keep their low bits."""
    mask = np.uint64((1 << digit) - 1)
    shift = np.uint64(shift)
    for part in range(1 << digit):
        places[part] = 0
    for k in range(low, high):
        places[(source[k] >> shift) & mask] += 1
    total = low
    for part in range(1 << digit):
        count = places[part]
        places[part] = total
        total += count
    for k in range(low, high):
        part = (source[k] >> shift) & mask
        target[places[part]] = source[k]
        places[part] += 1


@njit
def _sort_words(words, spare, count, low_bits, bits, places, stack):
    """Sort the first `count` words, which are in order in their `low_bits`, by the `bits` above these."""
    _push(stack, 0, count, bits)
    while stack[0, 0] > 0:
        low, high, bits = _pop(stack)
        size_bits = _bit_length(np.uint64(high - low))
        wanted = min(bits, size_bits + SPARE_BITS)
        rest = bits - wanted
        done = low_bits + rest
        widest = min(size_bits, DIGIT)
        passes = (wanted + widest - 1) // widest
        source, target = words, spare
        for index in range(passes):
            digit = (low_bits + bits - done) // (passes - index)
            _scatter_words(source, target, done, digit, low, high, places)
            source, target = target, source
            done += digit
        if passes % 2 == 1:
            for k in range(low, high):
                words[k] = spare[k]
        if rest == 0:
            continue
        shift = np.uint64(low_bits + rest)
        start = low
        while start < high:
            end = start + 1
            while end < high and words[end] >> shift == words[start] >> shift:
                end += 1
            if end - start > SMALL:
                _push(stack, start, end, rest)
            elif end - start > 1:
                _insert_words(words, start, end)
            start = end


@njit
def _pack(rows, places, column, lead, low, high, words):
    """Fill `words` with the bits of the rows' columns from `column` on, and with the rows' numbers in the
    range.

    Returns the number of the low bits that hold the number; of the bits above; and the first column of which
    bits are left out.
    """
    low_bits = _bit_length(np.uint64(high - low - 1))
    for k in range(high - low):
        words[k] = 0
    used = 0
    while column < lead:
        least, bits = _varying_bits(rows, places, column, low, high)
        taken = min(bits, WORD_BITS - low_bits - used)
        if taken > 0:
            left, right = np.uint64(taken), np.uint64(bits - taken)
            base = np.uint64(least)
            for k in range(low, high):
                above = (np.uint64(rows[_at(places, k), column]) - base) >> right
                words[k - low] = words[k - low] << left | above
        used += taken
        if taken < bits:
            break
        column += 1
    number = np.uint64(low_bits)
    for k in range(high - low):
        words[k] = words[k] << number | np.uint64(k)
    return low_bits, used, column


@njit
def _sort_range(source, target, column, lead, low, high, work, item):
    """Sort a range of `source` into `target` by its columns from `column` on. Rows that are equal in their
    words are sorted further, now or, if they are many, later."""
    words, spare, digits, word_stack, stack, no_places = work
    low_bits, bits, first = _pack(source, no_places, column, lead, low, high, words)
    _sort_words(words, spare, high - low, low_bits, bits, digits, word_stack)
    number = (np.uint64(1) << np.uint64(low_bits)) - np.uint64(1)
    for k in range(high - low):
        _move(target, low + k, source, low + np.int64(words[k] & number))
    if first == lead:
        return
    shift = np.uint64(low_bits)
    start = 0
    while start < high - low:
        end = start + 1
        while end < high - low and words[end] >> shift == words[start] >> shift:
            end += 1
        if end - start > SMALL:
            _push(stack, low + start, low + end, first)
        elif end - start > 1:
            _insertion(target, first, lead, low + start, low + end, item)
        start = end


@njit
def _split(rows, scratch, column, lead, least, bits, low, high, work, item):
    """Sort a range larger than the cache part by part; a part that is still too large is sorted later."""
    stack = work[4]
    digit = 1
    while digit < min(bits, DIGIT) and (high - low) * rows.shape[1] * 16 >> digit > CACHED:
        digit += 1
    rest = bits - digit
    ends = np.empty(1 << digit, np.int64)
    _scatter(rows, scratch, column, least, rest, digit, low, high, ends)
    start = low
    for end in ends:
        if end - start > SMALL and (end - start) * rows.shape[1] * 8 <= NEAR:
            _sort_range(scratch, rows, column, lead, start, end, work, item)
        else:
            for k in range(start, end):
                _move(rows, k, scratch, k)
            if end - start > SMALL:
                _push(stack, start, end, column)
            elif end - start > 1:
                _insertion(rows, column, lead, start, end, item)
        start = end


@njit
def _work_for(words, rows, places):
    """What sorting takes: room for so many words, the digits of a pass, the ranges of words and of rows that
    are to be sorted later, and so many places."""
    return (
        np.empty(words, np.uint64),
        np.empty(words, np.uint64),
        np.empty(1 << DIGIT, np.int64),
        _stack_for(words),
        _stack_for(rows),
        np.arange(places),
    )


@njit
def _insert_places(rows, places, first, lead, low, high):
    """Sort a range of places by the columns of their rows from `first` to `lead`."""
    for k in range(low + 1, high):
        place = places[k]
        p = k
        while p > low:
            is_below = False
            for c in range(first, lead):
                x, y = rows[place, c], rows[places[p - 1], c]
                if x != y:
                    is_below = x < y
                    break
            if not is_below:
                break
            places[p] = places[p - 1]
            p -= 1
        places[p] = place


@njit
def _are_ascending(words, count):
    """Whether the first `count` words are in order."""
    for k in range(1, count):
        if words[k] < words[k - 1]:
            return False
    return True


@njit
def places_in_order(rows, lead):
    """The numbers of a batch's rows, in the order of their first `lead` words."""
    n = rows.shape[0]
    words, spare, digits, word_stack, stack, places = _work_for(n, n, n)
    _push(stack, 0, n, 0)
    while stack[0, 0] > 0:
        low, high, column = _pop(stack)
        low_bits, bits, first = _pack(rows, places, column, lead, low, high, words)
        if not _are_ascending(words, high - low):
            _sort_words(words, spare, high - low, low_bits, bits, digits, word_stack)
            number = (np.uint64(1) << np.uint64(low_bits)) - np.uint64(1)
            for k in range(high - low):
                spare[k] = places[low + np.int64(words[k] & number)]
            for k in range(high - low):
                places[low + k] = spare[k]
        if first == lead:
            continue
        shift = np.uint64(low_bits)
        start = 0
        while start < high - low:
            end = start + 1
            while end < high - low and words[end] >> shift == words[start] >> shift:
                end += 1
            if end - start > SMALL:
                _push(stack, low + start, low + end, first)
            elif end - start > 1:
                _insert_places(rows, places, first, lead, low + start, low + end)
            start = end
    return places


@njit
def _sort_large(rows, lead):
    n, columns = rows.shape
    scratch = empty_matrix(n, columns)
    item = np.empty(columns, np.int64)
    near = min(n, NEAR // (8 * columns))
    work = _work_for(near, n, 0)
    stack = work[4]
    _push(stack, 0, n, 0)
    while stack[0, 0] > 0:
        low, high, column = _pop(stack)
        if (high - low) * columns * 8 <= NEAR:
            for k in range(low, high):
                _move(scratch, k, rows, k)
            _sort_range(scratch, rows, column, lead, low, high, work, item)
            continue
        least, bits = _varying_bits(rows, work[5], column, low, high)
        if bits > 0:
            _split(rows, scratch, column, lead, least, bits, low, high, work, item)
        elif column + 1 < lead:
            _push(stack, low, high, column + 1)


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
