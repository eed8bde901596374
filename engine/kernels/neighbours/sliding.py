"""Functions of frames by sliding: a frame takes in the rows that the last one lacked, and drops others.

This serves frames of RANGE with distances, and in frames of any kind sums of floats and extremes of texts.
Sums of floats are exact until they are rounded, so that dropping is exact too. For extremes, the rows that
can still become one wait in a queue, the best first.

As in `windows`, a region around the changes of an epoch is read, with each row's copies before and after it,
and the functions are compared on both sides. A region begins far enough before a change to have all rows
whose frames have it, and the rows in their frames. It ends as far behind the last change, so that the next
region has none of these changes. A frame that begins with the group needs all that follows a change, and
exact totals of what stands before the region.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from engine.kernels.coding import SHIFT, SIGN
from engine.kernels.compiled import kernel
from engine.kernels.floats import NAN_WORD, to_float, to_word
from engine.kernels.layers import layer
from engine.kernels.lookup import find_ranges
from engine.kernels.neighbours.float_totals import TOTAL, add_float, total_word, totals_before
from engine.kernels.reduce import grow
from engine.kernels.regions import PEERS, REACH, are_peers, changes_at, epochs_of, find_start
from engine.kernels.runs import (
    AFTER,
    BATCH,
    BEFORE,
    CHANGES,
    CURSOR,
    ROW,
    RUN,
    lower_bound,
    next_cursor,
    put_forward,
    read_run,
)
from engine.kernels.texts import order_of
from engine.kernels.top import decoded
from engine.kernels.windows import (
    AVG,
    COUNT,
    MIN,
    MOST_COPIES,
    MOST_SUMMED,
    VALUES,
    are_equal,
    deltas_of,
    finish_sum,
    write_line,
)
from engine.kernels.words import NULL

# A function, a line each: what it is, its argument's word (-1: none) and kind, where its frames start and
# end, a decimal's divisor, the total it begins with or -1, and the place of a wide sum's high half or -1.
# A function, its word and its high half have the places that they have in `windows`.
FUNCTION, WORD, ARGUMENT, START_UNIT, START, END_UNIT, END, DIVISOR, BASE, HIGH, FIELDS = range(11)
NUMBER, FLOAT, TEXT = 0, 1, 2
UNBOUNDED, ROWS, DISTANCE, PEER = 0, 1, 2, 3

# What a region needs beside a window's shape: how far changes reach in the order's first column, a distance
# or -1; whether it ends with the group; whether it begins with it; and whether that column holds floats.
SPAN, TO_END, FROM_START, IS_FLOAT, EXTENT = 0, 1, 2, 3, 4

_LAST = (1 << 63) - 2
_BEFORE_NUMBERS, _NUMBERS, _BEHIND_NUMBERS = 1, 2, 3
"""Zones of the order: NaNs stand before or behind numbers, and NULLs (0 or 4) before or behind all."""


class Group(NamedTuple):
    """What is read: the table, its `old` published batches, the codes of its words, and the dictionary."""

    table: Any
    old: int
    lows: Any
    highs: Any
    codes: Any
    entry_words: Any
    ends: Any
    arena: Any


class Region(NamedTuple):
    """A region's n runs: each one's first copy before ([0]) and after ([1]), and the run of each copy; the
    run behind its peers; its zone, and its word in the direction of the order; and its argument of every
    function."""

    copies: Any
    owners: Any
    behind_peers: Any
    zones: Any
    places: Any
    arguments: Any


@njit
def _moved(place, distance, is_float):
    """A place in the order further on by a distance, which is a float's word if places are."""
    if is_float:
        return to_word(to_float(place) + to_float(distance))
    if distance >= 0:
        return place + distance if place <= _LAST - distance else _LAST
    return place + distance if place >= -_LAST - distance else -_LAST


@njit
def _compare_places(one, other, distance, is_float):
    """-1, 0 or 1: a place in the order against another one, moved by a distance."""
    if not is_float and distance >= 0 and other > _LAST - distance:
        return -1
    if not is_float and distance < 0 and other < -_LAST - distance:
        return 1
    moved = _moved(other, distance, is_float)
    return int(one > moved) - int(one < moved)


@njit
def _zone(group, batch, row, key, is_float):
    """The zone of a row's first word in the order, and that word in the direction of the order."""
    word = decoded(batch, row, group.codes, key, group.entry_words)
    is_down = group.codes[key, SIGN] < 0
    if word == NULL:
        return (0 if group.codes[key, SHIFT] == 0 else 4), np.int64(0)
    if is_float and word == NAN_WORD:
        return (_BEFORE_NUMBERS if is_down else _BEHIND_NUMBERS), np.int64(0)
    if is_down:
        word = to_word(-to_float(word)) if is_float else -word
    return _NUMBERS, word


@njit
def _stretched(place, span, times):
    """A float's place and its span behind it, or before it if `times` is negative, and that many times what
    rounding could add."""
    value, distance = to_float(place), to_float(span)
    if np.isinf(value):
        return value
    return value + np.sign(times) * distance + times * (abs(value) + distance) * 1e-15


@njit
def _go_back(group, m, key, batch, row, extent, places):
    """Move `places` back to the first row within a region's span before a row."""
    zone, place = _zone(group, batch, row, key, extent[IS_FLOAT] != 0)
    probe = np.empty((1, key + 1), np.int64)
    for w in range(key + 1):
        probe[0, w] = batch[row, w]
    if zone == _NUMBERS:
        if extent[IS_FLOAT] != 0:
            value = _stretched(place, extent[SPAN], -1.0)
            word = to_word(-value if group.codes[key, SIGN] < 0 else value)
            probe[0, key] = group.codes[key, SIGN] * word + group.codes[key, SHIFT]
        else:
            word = _moved(place, -extent[SPAN], False)
            probe[0, key] = word + group.codes[key, SHIFT]
    for index in range(group.table.shape[0]):
        low, high = group.lows[index, m], min(places[index], group.highs[index, m])
        if low < high:
            places[index] = lower_bound(
                layer(group.table, index), low, high, probe, 0, key + 1, group.codes, group.ends, group.arena
            )


@njit
def _is_beyond(group, batch, row, key, zone, place, extent):
    """Whether a row comes behind the span of the last change, at a place in a zone."""
    its_zone, its_place = _zone(group, batch, row, key, extent[IS_FLOAT] != 0)
    if its_zone != zone or zone != _NUMBERS:
        return its_zone > zone
    if extent[IS_FLOAT] != 0:
        return to_float(its_place) > _stretched(place, extent[SPAN], 4.0)
    return its_place > _moved(place, extent[SPAN], False)


@njit
def _read(group, m, key, places, remaining, shape, extent, epoch, cursors, run, runs):
    """Read the region that begins at `places`, with some of the `remaining` changes, into `runs`.

    Returns the runs, their number, how many lines of changes were read, how many rows, and how many published
    lines of rows that do not exist.
    """
    width = group.codes.shape[0]
    count = put_forward(group.table, m, group.highs, places, cursors)
    n = rows = changes = since = wasted = 0
    zone, place = 0, np.int64(0)
    while True:
        best = next_cursor(group.table, cursors, count, 1, key, width, group.codes, group.ends, group.arena)
        if best < 0:
            break
        batch, row = layer(group.table, cursors[best, 0]), cursors[best, 1]
        may_end = changes > 0 and extent[TO_END] == 0 and since >= shape[REACH]
        if may_end and (extent[SPAN] < 0 or _is_beyond(group, batch, row, key, zone, place, extent)):
            break
        published = read_run(group.table, group.old, cursors, count, best, 1, key, width, epoch, run)
        rows += 1
        changes += run[CHANGES]
        if run[CHANGES] > 0:
            since = 0
            if extent[SPAN] >= 0:
                zone, place = _zone(group, batch, row, key, extent[IS_FLOAT] != 0)
        if run[BEFORE] == 0 and run[AFTER] == 0:
            wasted += published
            continue
        if n == runs.shape[0]:
            runs = grow(runs)
        for field in range(RUN):
            runs[n, field] = run[field]
        n += 1
        if run[CHANGES] == 0:
            since += run[BEFORE]
    return runs, n, changes, rows, wasted


@njit
def _lay_out(group, runs, n, key, shape, extent, functions):
    """The region's copies, peers, places and arguments. Raises MemoryError if there are too many copies."""
    copies = np.zeros((2, n + 1), np.int64)
    for side in range(2):
        for r in range(n):
            if runs[r, BEFORE + side] > MOST_COPIES:
                raise MemoryError
            copies[side, r + 1] = copies[side, r] + runs[r, BEFORE + side]
    most = max(copies[0, n], copies[1, n])
    if most > MOST_COPIES:
        raise MemoryError
    owners = np.empty((2, most), np.int64)
    behind = np.arange(1, n + 1)
    zones, places = np.zeros(n, np.int64), np.zeros(n, np.int64)
    arguments = np.full((functions.shape[0], n), NULL)
    for r in range(n):
        batch, row = layer(group.table, runs[r, BATCH]), runs[r, ROW]
        for side in range(2):
            owners[side, copies[side, r] : copies[side, r + 1]] = r
        if extent[SPAN] >= 0:
            zones[r], places[r] = _zone(group, batch, row, key, extent[IS_FLOAT] != 0)
        for f in range(functions.shape[0]):
            arguments[f, r] = _argument(group, batch, row, functions[f])
    if shape[PEERS] >= 0:
        for r in range(n - 2, -1, -1):
            one, other = runs[r], runs[r + 1]
            if are_peers(group.table, one[BATCH], one[ROW], other[BATCH], other[ROW], shape):
                behind[r] = behind[r + 1]
    return Region(copies, owners, behind, zones, places, arguments)


@njit
def _argument(group, batch, row, function):
    """A function's argument in a row: a word, or the number of a text's entry."""
    if function[WORD] < 0:
        return np.int64(0)
    if function[ARGUMENT] == TEXT:
        entry = batch[row, function[WORD]]
        return entry if entry >= 0 else NULL
    return decoded(batch, row, group.codes, function[WORD], group.entry_words)


@njit
def _is_better(group, kind, argument, one, other):
    """Whether an argument replaces another one as an extreme."""
    if argument == TEXT:
        order = order_of(group.ends, group.arena, one, other)
    else:
        order = int(one > other) - int(one < other)
    return order <= 0 if kind == MIN else order >= 0


@njit
def _frame_end(region, function, side, copy, reached, is_float):
    """Where the frame of a copy ends; the end of the frame before it was at run `reached`, which moves on."""
    copies = region.copies
    n = region.zones.shape[0]
    r = region.owners[side, copy]
    if function[END_UNIT] == ROWS:
        return min(copy + function[END] + 1, copies[side, n]), reached
    if function[END_UNIT] == PEER:
        return copies[side, region.behind_peers[r]], reached
    while reached < n:
        zone = region.zones[reached]
        if zone > region.zones[r]:
            break
        is_near = zone == region.zones[r] and zone == _NUMBERS
        if is_near and _compare_places(region.places[reached], region.places[r], function[END], is_float) > 0:
            break
        reached += 1
    return copies[side, reached], reached


@njit
def _frame_start(region, function, side, copy, reached, is_float):
    """Where the frame of a copy starts; see `_frame_end`."""
    n = region.zones.shape[0]
    r = region.owners[side, copy]
    if function[START_UNIT] == UNBOUNDED:
        return 0, reached
    if function[START_UNIT] == ROWS:
        return max(copy + function[START], 0), reached
    while reached < n:
        zone = region.zones[reached]
        if zone > region.zones[r]:
            break
        if zone == region.zones[r]:
            if zone != _NUMBERS:
                break
            if _compare_places(region.places[reached], region.places[r], function[START], is_float) >= 0:
                break
        reached += 1
    return region.copies[side, reached], reached


@njit
def _slide(group, region, function, f, side, is_float, base, room, waiting, values):
    """Fill column f of `values`, a line a copy: the function that overflows or -1, then the words.

    `base` is the total of floats before the region; `waiting` is room for copies that can become extremes.
    """
    kind, sort = function[FUNCTION], function[ARGUMENT]
    owners = region.owners[side]
    arguments = region.arguments[f]
    total = base.copy()
    parts = np.empty(3, np.int64)
    known = high = low = np.int64(0)
    head = tail = 0
    start = end = 0
    start_run = end_run = 0
    word = rest = np.int64(NULL)
    is_failed = False
    for copy in range(region.copies[side, region.zones.shape[0]]):
        until, end_run = _frame_end(region, function, side, copy, end_run, is_float)
        since, start_run = _frame_start(region, function, side, copy, start_run, is_float)
        is_new = copy == 0 or end < until or start < min(since, until)
        while end < until:
            value = arguments[owners[end]]
            if value != NULL:
                known += 1
                if kind >= MIN:
                    while tail > head and _is_better(
                        group, kind, sort, value, arguments[owners[waiting[tail - 1]]]
                    ):
                        tail -= 1
                    waiting[tail] = end
                    tail += 1
                elif sort == FLOAT and kind != COUNT:
                    add_float(total, value, 1, parts)
                else:
                    high += value >> 32
                    low += value & 0xFFFFFFFF
            end += 1
        while start < min(since, end):
            value = arguments[owners[start]]
            if value != NULL:
                known -= 1
                if kind < MIN and sort == FLOAT and kind != COUNT:
                    add_float(total, value, -1, parts)
                elif kind < MIN:
                    high -= value >> 32
                    low -= value & 0xFFFFFFFF
            start += 1
        while head < tail and waiting[head] < start:
            head += 1
        if is_new:
            rest, is_failed = np.int64(0), False
            if kind >= MIN:
                word = np.int64(NULL) if head == tail else arguments[owners[waiting[head]]]
                if sort == TEXT and head < tail:
                    word = group.entry_words[word]
            elif sort == FLOAT and kind != COUNT:
                word = total_word(total, kind == AVG, room)
            else:
                word, rest, is_failed = finish_sum(
                    kind, known, high, low, function[DIVISOR], function[HIGH] >= 0
                )
        if is_failed and values[copy, 0] < 0:
            values[copy] = 0
            values[copy, 0] = f
        elif values[copy, 0] < 0:
            values[copy, 1 + f] = word
            if function[HIGH] >= 0:
                values[copy, 1 + function[HIGH]] = rest


@njit
def _compare(group, runs, n, key, shape, extent, functions, totals, epoch, lines, written):
    """Add the lines by which a region's rows change at an epoch."""
    region = _lay_out(group, runs, n, key, shape, extent, functions)
    most = region.owners.shape[1]
    if most >= MOST_SUMMED:
        raise OverflowError("a sum does not fit into 64 bits")
    values = np.zeros((2, most, lines.shape[1] - VALUES + 1), np.int64)
    values[:, :, 0] = -1
    room, waiting = np.empty(TOTAL - 4, np.int64), np.empty(most, np.int64)
    nothing = np.zeros(TOTAL, np.int64)
    for f in range(functions.shape[0]):
        base = totals[functions[f, BASE]] if functions[f, BASE] >= 0 else nothing
        for side in range(2):
            _slide(
                group, region, functions[f], f, side, extent[IS_FLOAT] != 0, base, room, waiting, values[side]
            )
    both = np.zeros((2, values.shape[2]), np.int64)
    for r in range(n):
        copies = max(runs[r, BEFORE], runs[r, AFTER])
        while written + 2 * copies > lines.shape[0]:
            lines = grow(lines)
        for k in range(copies):
            was, stays = k < runs[r, BEFORE], k < runs[r, AFTER]
            for side in range(2):
                if k < runs[r, BEFORE + side]:
                    both[side] = values[side, region.copies[side, r] + k]
            if was and stays and are_equal(both):
                continue
            if was:
                write_line(lines, written, runs, r, epoch, -1, both[0])
                written += 1
            if stays:
                write_line(lines, written, runs, r, epoch, 1, both[1])
                written += 1
    return lines, written


@kernel(
    "Tuple((int64[:,::1], int64[:,::1], int64, int64))"
    "(int64[:,::1], int64[:,::1], int64, int64[:,::1], int64[:,::1], int64[::1], int64[::1], int64[::1],"
    "int64[:,::1], int64[::1], int64[::1], uint8[::1])",
)
def reduce_frames(
    keys, table, old, blocks, functions, summed, shape, extent, codes, entry_words, ends, arena
):
    """As `windows.reduce_windows`, of `functions` as they are here. `blocks` is a table of the totals of the
    words `summed` (`float_totals.block_totals`), and `extent` says what a region needs beside its `shape`."""
    size, key = keys.shape
    width = codes.shape[0]
    lows, highs = find_ranges(table, keys)
    group = Group(table, old, lows, highs, codes, entry_words, ends, arena)
    cursors = np.empty((table.shape[0], CURSOR), np.int64)
    places = np.empty(table.shape[0], np.int64)
    run = np.empty(RUN, np.int64)
    runs = np.empty((64, RUN), np.int64)
    parts = np.empty(3, np.int64)
    totals = np.zeros((summed.shape[0], TOTAL), np.int64)
    count = max(functions[:, HIGH].max() + 1, functions.shape[0])
    lines = np.empty((2 * size + 16, VALUES + count), np.int64)
    written = read = wasted = 0
    for m in range(size):
        for epoch in epochs_of(table, old, m, lows, highs, width):
            changes = changes_at(table, old, m, lows, highs, width, epoch, codes, ends, arena)
            done = 0
            while done < changes.shape[0]:
                first, row = changes[done, 0], changes[done, 1]
                read += find_start(
                    *(table, old, m, lows, highs, first, row, key, shape, epoch),
                    *(codes, ends, arena, cursors, run, places),
                )
                if extent[SPAN] >= 0:
                    _go_back(group, m, key, layer(table, first), row, extent, places)
                if extent[FROM_START] != 0:
                    places[:] = lows[:, m]
                totals_before(
                    table, old, blocks, m, lows, places, epoch, summed, codes, entry_words, parts, totals
                )
                runs, n, met, rows, passed = _read(
                    group, m, key, places, changes.shape[0] - done, shape, extent, epoch, cursors, run, runs
                )
                done += met
                read += rows
                wasted += passed
                lines, written = _compare(
                    group, runs, n, key, shape, extent, functions, totals, epoch, lines, written
                )
    delta, failures = deltas_of(table, lines, written, codes, entry_words)
    return delta, failures, read, wasted
