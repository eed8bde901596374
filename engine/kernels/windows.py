"""Window functions over traces that have each group's rows in order; `regions` decides what is read.

A group's output at an epoch changes by the difference between the functions' values before and after it. In a
region both are known: the copies of its rows in order, and the sums over everything before each of them. A
copy whose values stay the same is not written.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.kernels.bests import bests_before, better
from engine.kernels.coding import CUT, KIND, PREFIX
from engine.kernels.compiled import kernel
from engine.kernels.floats import to_word
from engine.kernels.layers import layer
from engine.kernels.lookup import find_ranges
from engine.kernels.prefixes import PARTS
from engine.kernels.reduce import INT64_HIGH, grow
from engine.kernels.regions import (
    PEERS,
    are_peers,
    changes_at,
    earlier_sums,
    epochs_of,
    find_start,
    read_region,
    sums_before,
)
from engine.kernels.runs import AFTER, BATCH, BEFORE, CURSOR, ROW, RUN
from engine.kernels.top import decoded
from engine.kernels.words import NULL

# A function, a line each: what it is, its argument's word and slot, its frame, and what else it needs.
# HIGH is the position of the high half of a sum that may be wider than a word, or -1.
FUNCTION, WORD, SLOT, START, END, IS_BOUNDED, IS_PEERS, DEFAULT, DIVISOR, HIGH, FIELDS = range(11)
ROW_NUMBER, RANK, VALUE, FIRST, LAST, COUNT, SUM, AVG, MIN, MAX = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9

MOST_COPIES = 1 << 28
"""Most copies of rows that are looked at together. Each has a place in memory of its own."""

MOST_SUMMED = 1 << 31
"""Sums of halves of so many words fit into 64 bits."""

# Lines of changes: where the row is, the epoch, the diff, the function that overflows or -1, and the values.
EPOCH, DIFF, FAILED, VALUES = 2, 3, 4, 5


@njit
def _lay_out(table, runs, n, shape, copies, first, last):
    """Number the copies of a region's runs before ([0]) and after ([1]), and find each run's peers.

    `copies` [2, n + 1] gets each run's first copy; `first` and `last` get the first run of its peers and the
    one behind them. Returns the run of each copy. Raises MemoryError if there are too many copies.
    """
    for side in range(2):
        copies[side, 0] = 0
        for r in range(n):
            if runs[r, BEFORE + side] > MOST_COPIES:
                raise MemoryError
            copies[side, r + 1] = copies[side, r] + runs[r, BEFORE + side]
    if max(copies[0, n], copies[1, n]) > MOST_COPIES:
        raise MemoryError
    owners = np.empty((2, max(copies[0, n], copies[1, n])), np.int64)
    for side in range(2):
        for r in range(n):
            owners[side, copies[side, r] : copies[side, r + 1]] = r
    if shape[PEERS] >= 0:
        start = 0
        for r in range(1, n + 1):
            if r < n and are_peers(
                table, runs[r - 1, BATCH], runs[r - 1, ROW], runs[r, BATCH], runs[r, ROW], shape
            ):
                continue
            first[start:r] = start
            last[start:r] = r
            start = r
    return owners


@njit
def _add_up(table, runs, n, summed, codes, entry_words, base, parts, sums):
    """Fill `parts` with what one copy of each run adds to the slots, and `sums` with the sums before each
    run."""
    slots = base.shape[0]
    for side in range(2):
        sums[side, 0] = base
    for r in range(n):
        parts[r, 0] = 1
        batch = layer(table, runs[r, BATCH])
        for k in range(summed.shape[0]):
            word = decoded(batch, runs[r, ROW], codes, summed[k], entry_words)
            known = word != NULL
            parts[r, 1 + PARTS * k] = int(known)
            parts[r, 2 + PARTS * k] = word >> 32 if known else 0
            parts[r, 3 + PARTS * k] = word & 0xFFFFFFFF if known else 0
        for side in range(2):
            for slot in range(slots):
                sums[side, r + 1, slot] = sums[side, r, slot] + runs[r, BEFORE + side] * parts[r, slot]


@njit
def _run_extremes(table, runs, n, functions, codes, entry_words, bests, extremes):
    """The least or greatest word up to each run, for every function whose frame begins with the group;
    `bests` has the extremes of everything before the region."""
    e = 0
    for f in range(functions.shape[0]):
        if functions[f, FUNCTION] < MIN or functions[f, IS_BOUNDED]:
            continue
        direction = 1 if functions[f, FUNCTION] == MIN else -1
        for side in range(2):
            best = bests[e]
            for r in range(n):
                if runs[r, BEFORE + side] > 0:
                    batch = layer(table, runs[r, BATCH])
                    word = decoded(batch, runs[r, ROW], codes, functions[f, WORD], entry_words)
                    best = better(best, word, direction)
                extremes[f, side, r] = best
        e += 1


@njit(inline="always")
def _sum_before(side, copy, slot, n, copies, owners, parts, sums):
    """The sum over all copies before one in a slot."""
    if copy <= 0:
        return sums[side, 0, slot]
    if copy >= copies[side, n]:
        return sums[side, n, slot]
    r = owners[side, copy]
    return sums[side, r, slot] + (copy - copies[side, r]) * parts[r, slot]


@njit
def finish_sum(kind, counted, high, low, divisor, wide):
    """The word of a COUNT, SUM or AVG from its sums; for a `wide` sum, whose word is the low half, also the
    high half; and whether the sum is too large."""
    if kind == COUNT:
        return counted, 0, False
    if counted <= 0:
        return NULL, 0, False
    high += low >> 32
    low &= 0xFFFFFFFF
    if kind == AVG:
        total = (np.float64(high) * 4294967296.0 + np.float64(low)) / np.float64(divisor)
        return to_word(total / np.float64(counted)), 0, False
    if wide:
        return low, high, False
    fits = -INT64_HIGH <= high < INT64_HIGH and not (high == -INT64_HIGH and low == 0)
    return (high << 32) | low if fits else 0, 0, not fits


@njit
def _evaluate(
    table,
    runs,
    n,
    r,
    side,
    copy,
    functions,
    codes,
    entry_words,
    copies,
    owners,
    first,
    last,
    parts,
    sums,
    extremes,
    out,
):
    """Fill `out` with the values for a copy of run r: the function that overflows or -1, then the words."""
    size = copies[side, n]
    out[0] = -1
    for f in range(functions.shape[0]):
        kind = functions[f, FUNCTION]
        if kind == ROW_NUMBER:
            out[1 + f] = sums[side, 0, 0] + copy + 1
            continue
        if kind == RANK:
            out[1 + f] = sums[side, 0, 0] + copies[side, first[r]] + 1
            continue
        end = copies[side, last[r]] if functions[f, IS_PEERS] else copy + functions[f, END] + 1
        start = copy + functions[f, START] if functions[f, IS_BOUNDED] else 0
        if COUNT <= kind <= AVG:
            slot = functions[f, SLOT]
            counted = _sum_before(side, end, slot, n, copies, owners, parts, sums)
            high, low = np.int64(0), np.int64(0)
            if kind != COUNT:
                high = _sum_before(side, end, slot + 1, n, copies, owners, parts, sums)
                low = _sum_before(side, end, slot + 2, n, copies, owners, parts, sums)
            if functions[f, IS_BOUNDED]:
                start = min(start, end)
                counted -= _sum_before(side, start, slot, n, copies, owners, parts, sums)
                if kind != COUNT:
                    high -= _sum_before(side, start, slot + 1, n, copies, owners, parts, sums)
                    low -= _sum_before(side, start, slot + 2, n, copies, owners, parts, sums)
            place = functions[f, HIGH]
            word, rest, failed = finish_sum(kind, counted, high, low, functions[f, DIVISOR], place >= 0)
            out[1 + f] = word
            if place >= 0:
                out[1 + place] = rest
            if failed:
                out[:] = 0
                out[0] = f
                return
            continue
        if kind >= MIN and not functions[f, IS_BOUNDED]:
            out[1 + f] = extremes[f, side, owners[side, min(end, size) - 1]] if end > 0 and size > 0 else NULL
            continue
        start = max(start, 0)
        end = min(end, size)
        if kind == VALUE:
            chosen = copy + functions[f, START]
            out[1 + f] = functions[f, DEFAULT]
            if chosen < 0 or chosen >= size:
                continue
        elif start >= end:
            out[1 + f] = NULL
            continue
        elif kind >= MIN:
            best = NULL
            for other in range(start, end):
                run = owners[side, other]
                batch = layer(table, runs[run, BATCH])
                word = decoded(batch, runs[run, ROW], codes, functions[f, WORD], entry_words)
                best = better(best, word, 1 if kind == MIN else -1)
            out[1 + f] = best
            continue
        else:
            chosen = start if kind == FIRST else end - 1
        run = owners[side, chosen]
        batch = layer(table, runs[run, BATCH])
        out[1 + f] = decoded(batch, runs[run, ROW], codes, functions[f, WORD], entry_words)


@njit
def write_line(lines, written, runs, r, epoch, diff, values):
    """Add a line; the caller has made room."""
    lines[written, 0] = runs[r, BATCH]
    lines[written, 1] = runs[r, ROW]
    lines[written, EPOCH] = epoch
    lines[written, DIFF] = diff
    lines[written, FAILED:] = values


@njit
def _compare_sides(
    table, runs, n, epoch, shape, functions, summed, codes, entry_words, base, bests, lines, written
):
    """Add the lines by which a region's rows change at an epoch; `base` and `bests` cover everything before
    it."""
    copies = np.empty((2, n + 1), np.int64)
    first = np.zeros(n, np.int64)
    last = np.zeros(n, np.int64)
    owners = _lay_out(table, runs, n, shape, copies, first, last)
    parts = np.empty((n, base.shape[0]), np.int64)
    sums = np.empty((2, n + 1, base.shape[0]), np.int64)
    if base[0] + max(copies[0, n], copies[1, n]) >= MOST_SUMMED:
        raise OverflowError("a sum does not fit into 64 bits")
    _add_up(table, runs, n, summed, codes, entry_words, base, parts, sums)
    extremes = np.empty((functions.shape[0], 2, n), np.int64)
    _run_extremes(table, runs, n, functions, codes, entry_words, bests, extremes)
    values = np.zeros((2, lines.shape[1] - FAILED), np.int64)
    for r in range(n):
        most = max(runs[r, BEFORE], runs[r, AFTER])
        while written + 2 * most > lines.shape[0]:
            lines = grow(lines)
        for k in range(most):
            for side in range(2):
                if k < runs[r, BEFORE + side]:
                    _evaluate(
                        table,
                        runs,
                        n,
                        r,
                        side,
                        copies[side, r] + k,
                        functions,
                        codes,
                        entry_words,
                        copies,
                        owners,
                        first,
                        last,
                        parts,
                        sums,
                        extremes,
                        values[side],
                    )
            was, stays = k < runs[r, BEFORE], k < runs[r, AFTER]
            if was and stays and are_equal(values):
                continue
            if was:
                write_line(lines, written, runs, r, epoch, -1, values[0])
                written += 1
            if stays:
                write_line(lines, written, runs, r, epoch, 1, values[1])
                written += 1
    return lines, written


@njit(inline="always")
def are_equal(values):
    for f in range(values.shape[1]):
        if values[0, f] != values[1, f]:
            return False
    return True


@njit
def deltas_of(table, lines, written, codes, entry_words):
    """The lines as a delta of uncoded words, and those that overflow as [3, f]."""
    failed = 0
    for k in range(written):
        failed += lines[k, FAILED] >= 0
    width = 0
    for w in range(codes.shape[0]):
        width += int(codes[w, KIND] != PREFIX and codes[w, KIND] != CUT)
    count = lines.shape[1] - VALUES
    out = np.empty((width + count + 2, written - failed), np.int64)
    failures = np.empty((3, failed), np.int64)
    line = 0
    failure = 0
    for k in range(written):
        if lines[k, FAILED] >= 0:
            failures[0, failure] = lines[k, FAILED]
            failures[1, failure] = lines[k, EPOCH]
            failures[2, failure] = lines[k, DIFF]
            failure += 1
            continue
        batch = layer(table, lines[k, 0])
        place = 0
        for w in range(codes.shape[0]):
            if codes[w, KIND] != PREFIX and codes[w, KIND] != CUT:
                out[place, line] = decoded(batch, lines[k, 1], codes, w, entry_words)
                place += 1
        for f in range(count):
            out[place + f, line] = lines[k, VALUES + f]
        out[place + count, line] = lines[k, EPOCH]
        out[place + count + 1, line] = lines[k, DIFF]
        line += 1
    return out, failures


@kernel(
    "Tuple((int64[:,::1], int64[:,::1], int64, int64))"
    "(int64[:,::1], int64[:,::1], int64, int64[:,::1], int64[:,::1], int64[:,::1], int64[::1], int64[::1],"
    "int64[::1], int64[:,::1], int64[:,::1], int64[::1], int64[::1], uint8[::1])",
)
def reduce_windows(
    keys,
    table,
    old,
    prefixes,
    best_rows,
    functions,
    shape,
    summed,
    counted,
    extremes,
    codes,
    entry_words,
    ends,
    arena,
):
    """The changes of each group's rows with their functions' values, for the groups `keys` [m, P]; no rounds.

    The trace's rows are coded by `codes` (see `coding`). `prefixes` and `best_rows` are tables of per-place
    figures of the `old` published batches, over the words `summed` and the `extremes`; `shape` and `counted`
    are for `regions`; the last three arguments are the dictionary's. Returns a delta [W + F + H + 2, n], with
    high halves behind all functions; failures [3, f] of function, epoch and diff (a sum that overflows
    int64); how many rows were read; and how many published lines were skipped.
    """
    size, key = keys.shape
    width = codes.shape[0]
    slots = 1 + PARTS * summed.shape[0]
    values = max(functions[:, HIGH].max() + 1, functions.shape[0])
    lows, highs = find_ranges(table, keys)
    cursors = np.empty((table.shape[0], CURSOR), np.int64)
    places = np.empty(table.shape[0], np.int64)
    offsets = np.zeros(table.shape[0], np.int64)
    run = np.empty(RUN, np.int64)
    runs = np.empty((64, RUN), np.int64)
    base = np.empty(slots, np.int64)
    bests = np.empty(extremes.shape[0], np.int64)
    lines = np.empty((2 * size + 16, VALUES + values), np.int64)
    written = 0
    read = 0
    wasted = 0
    for m in range(size):
        fresh = 0
        for index in range(old, table.shape[0]):
            fresh += highs[index, m] - lows[index, m] + 1
        earlier = np.empty((fresh, slots), np.int64)
        for epoch in epochs_of(table, old, m, lows, highs, width):
            changes = changes_at(table, old, m, lows, highs, width, epoch, codes, ends, arena)
            earlier_sums(table, old, m, lows, highs, epoch, summed, codes, entry_words, offsets, earlier)
            done = 0
            while done < changes.shape[0]:
                first, row = changes[done, 0], changes[done, 1]
                read += find_start(
                    *(table, old, m, lows, highs, first, row, key, shape, epoch),
                    *(codes, ends, arena, cursors, run, places),
                )
                sums_before(prefixes, old, m, lows, places, offsets, earlier, base)
                read += bests_before(
                    *(table, old, best_rows, m, lows, highs, places, key, epoch, extremes),
                    *(codes, entry_words, ends, arena, cursors, run, bests),
                )
                runs, n, met, rows, passed = read_region(
                    *(table, old, m, highs, places, changes.shape[0] - done, key, shape, counted, extremes),
                    *(bests, epoch, summed, codes, entry_words, ends, arena, cursors, run, runs),
                )
                done += met
                read += rows
                wasted += passed
                lines, written = _compare_sides(
                    *(table, runs, n, epoch, shape, functions, summed, codes, entry_words),
                    *(base, bests, lines, written),
                )
    delta, failures = deltas_of(table, lines, written, codes, entry_words)
    return delta, failures, read, wasted
