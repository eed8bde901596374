"""Window functions over traces that have each group's rows in order.

A group's output at an epoch changes by the difference between the functions' values before and after it. In a
region (see `regions`) both are known: the copies of its rows in order, and what stands before all of them. A
copy whose values stay the same is not written.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.kernels.coding import delta_of_rows, texts_of
from engine.kernels.compiled import kernel
from engine.kernels.cursors import BATCH, groups_of, keep_alive
from engine.kernels.layers import uncounted
from engine.kernels.neighbours.copy_frames import FURTHER_WORDS, lay_out
from engine.kernels.neighbours.regions import (
    IS_FLOAT,
    FigureTables,
    Running,
    begin_epoch,
    find_standing,
    find_start,
    make_standing,
    read_region,
)
from engine.kernels.neighbours.runs import AFTER, BEFORE, ROW, RUN, changes_at
from engine.kernels.neighbours.sliding import make_room, slide
from engine.kernels.neighbours.totals import FURTHER
from engine.kernels.reduce import grow, most_new_rows
from engine.kernels.states import epochs_of

MOST_SUMMED = 1 << 31
"""Sums of halves of so many words fit into 64 bits."""

# Lines of changes: where the row is, the epoch, the diff, the function that overflows or -1, and the values.
EPOCH, DIFF, FAILED, VALUES = 2, 3, 4, 5


@njit(forceinline=True)
def _compare_sides(group, runs, n, epoch, shape, functions, standing, room, numbers, lines, written):
    """Add the lines by which a region's rows change at an epoch; `numbers` is room, which may be enlarged."""
    region, numbers = lay_out(group, runs, n, shape, functions, lines.shape[1] - VALUES, numbers)
    if standing.slots[0, 0] + region.owners.shape[1] >= MOST_SUMMED:
        raise OverflowError("a sum does not fit into 64 bits")
    for f in range(functions.shape[0]):
        for side in range(2):
            slide(region, functions[f], f, side, shape[IS_FLOAT] != 0, standing, room, group.texts)
    values = region.values
    for r in range(n):
        before, after = runs[r, BEFORE], runs[r, AFTER]
        while written + 2 * max(before, after) > lines.shape[0]:
            lines = grow(lines)
        for k in range(max(before, after)):
            was, stays = region.copies[0, r] + k, region.copies[1, r] + k
            if k < before and k < after and _are_equal(values, was, stays):
                continue
            if k < before:
                _write_line(lines, written, runs, r, epoch, -1, values, was)
                written += 1
            if k < after:
                _write_line(lines, written, runs, r, epoch, 1, values, stays)
                written += 1
    return lines, written, numbers


@njit(inline="always")
def _are_equal(values, was, stays):
    """Whether a copy has the same values before and after."""
    for v in range(values.shape[2]):
        if values[0, was, v] != values[1, stays, v]:
            return False
    return True


@njit(forceinline=True)
def _write_line(lines, written, runs, r, epoch, diff, values, copy):
    """Add a line for a copy before the epoch or, with a positive diff, after it; the caller has made room."""
    lines[written, 0] = runs[r, BATCH]
    lines[written, 1] = runs[r, ROW]
    lines[written, EPOCH] = epoch
    lines[written, DIFF] = diff
    for v in range(values.shape[2]):
        lines[written, FAILED + v] = values[int(diff > 0), copy, v]


@njit
def _some(lines, has_failed):
    """The lines that overflow, or the others."""
    count = 0
    chosen = np.empty_like(lines)
    for k in range(lines.shape[0]):
        if (lines[k, FAILED] >= 0) == has_failed:
            for c in range(lines.shape[1]):
                chosen[count, c] = lines[k, c]
            count += 1
    return chosen[:count]


@njit
def _deltas_of(table, lines, codes, entry_words):
    """The lines as a delta of uncoded words, and those that overflow as [3, f]."""
    failed, lines = _some(lines, True), _some(lines, False)
    failures = np.empty((3, failed.shape[0]), np.int64)
    for k in range(failed.shape[0]):
        failures[0, k] = failed[k, FAILED]
        failures[1, k] = failed[k, EPOCH]
        failures[2, k] = failed[k, DIFF]
    return delta_of_rows(table, lines, codes, entry_words, VALUES, lines.shape[1] - VALUES), failures


@kernel(
    "Tuple((int64[:,::1], int64[:,::1], int64, int64))"
    "(int64[:,::1], int64[:,::1], int64, int64[:,::1], int64[:,::1], int64[:,::1], int64[:,::1], int64[::1],"
    "int64[::1], int64[::1], int64[:,::1], int64[:,::1], int64[:,::1], int64[::1], int64[::1], uint8[::1])",
)
def reduce_windows(
    keys,
    table,
    old,
    sums,
    totals,
    bests,
    functions,
    shape,
    summed,
    counted,
    exact,
    extremes,
    codes,
    entry_words,
    ends,
    arena,
):
    """The changes of each group's rows with their functions' values, for the groups `keys` [m, P]; no rounds.

    The trace's rows are coded by `codes` (see `coding`). `sums`, `totals` and `bests` are the tables of
    figures of the `old` published batches. `functions` are lines as in `copy_frames`; `shape` and the four
    arguments behind it are for `regions`; the last three arguments are the dictionary's (see `texts`).
    Returns a delta [W + F + H + 2, n], with further words behind all functions; failures [3, f] of function,
    epoch and diff (a sum that overflows int64); how many rows were read; and how many published lines were
    skipped.
    """
    group, own_rows = groups_of(keys, table, old, codes, texts_of(entry_words, ends, arena))
    running = Running(uncounted(summed), uncounted(counted), uncounted(exact), uncounted(extremes))
    figures = FigureTables(uncounted(sums), uncounted(totals), uncounted(bests))
    functions, shape = uncounted(functions), uncounted(shape)
    standing, own_sums = make_standing(running, table.shape[0])
    room, own_room = make_room()
    places = np.empty(table.shape[0], np.int64)
    runs = np.empty((64, RUN), np.int64)
    numbers = np.empty(1024, np.int64)
    last = functions[:, FURTHER_WORDS].max()
    values = functions.shape[0] if last < 0 else last + FURTHER
    lines = np.empty((2 * keys.shape[0] + 16, VALUES + values), np.int64)
    written = read = wasted = 0
    no_rounds = np.empty(0, np.int64)
    epochs = np.empty((most_new_rows(group.lows, group.highs, old, keys.shape[0]), 1), np.int64)
    for m in range(keys.shape[0]):
        for epoch in epochs_of(group, m, no_rounds, epochs):
            changes = changes_at(group, m, epoch)
            begin_epoch(standing, group, m)
            done = 0
            while done < changes.shape[0]:
                first, row = changes[done, 0], changes[done, 1]
                read += find_start(group, m, first, row, shape, epoch, places, standing.run)
                read += find_standing(group, figures, running, m, places, epoch, standing)
                remaining = changes.shape[0] - done
                runs, n, met, rows, passed = read_region(
                    group, running, m, places, remaining, shape, epoch, standing, runs
                )
                done += met
                read += rows
                wasted += passed
                lines, written, numbers = _compare_sides(
                    group, runs, n, epoch, shape, functions, standing, room, numbers, lines, written
                )
    keep_alive((own_rows, own_sums, own_room))
    delta, failures = _deltas_of(table, lines[:written], codes, entry_words)
    return delta, failures, read, wasted
