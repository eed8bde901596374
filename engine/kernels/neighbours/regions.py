"""Regions: the stretches of a group in which a window function's answer can change at an epoch.

A region begins far enough before a change to include all rows whose frames contain it, and the rows in their
frames; it ends once as many rows have passed since the last change, or as much of the distance, and all
totals from the group's beginning are the same before and after the epoch. Of the rows before a region only
the totals and the extremes are needed, which follow from figures of the batches' places.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from engine.kernels.cursors import BATCH, NEXT, foremost, put_backward, put_forward
from engine.kernels.layers import layer, uncounted
from engine.kernels.neighbours.arguments import argument_of, better
from engine.kernels.neighbours.bests import DIRECTION, SORT, WORD, find_bests
from engine.kernels.neighbours.order_places import first_code_within, is_beyond, place_of
from engine.kernels.neighbours.prefixes import (
    add_numbers,
    add_others,
    add_totals_between,
    is_high,
    slot_of_column,
)
from engine.kernels.neighbours.runs import (
    AFTER,
    BEFORE,
    CHANGES,
    ROW,
    RUN,
    find_places,
    lower_bound,
    read_run,
)
from engine.kernels.neighbours.totals import OF_OTHERS, PARTS
from engine.kernels.reduce import grow

# What a region needs, in `shape`: how many rows before and behind a change; the number of words in which
# peers agree, or -1; how far a change reaches along the order's first column, or -1; and whether that column
# holds floats. A region of so many rows that begins with peers could overlap the previous one; then there is
# one region for all changes.
REACH, PEERS, SPAN, IS_FLOAT, SHAPE = 0, 1, 2, 3, 4


class Running(NamedTuple):
    """What a region needs to know from the group's beginning: the words of numbers that are summed, which of
    their slots count, the `exact` sums of other words, and extremes (see `prefixes` and `bests`)."""

    summed: Any
    counted: Any
    exact: Any
    extremes: Any


class FigureTables(NamedTuple):
    """Tables of what is known of each place in published batches: `prefix_sums`, `block_totals`,
    `best_rows`."""

    sums: Any
    totals: Any
    bests: Any


class RegionBase(NamedTuple):
    """What stands before a region: its slots, totals and extremes are the first line of each.

    The second line of slots and totals is that of the group's new rows before the places that are `reached`,
    and the third what the region adds. Those of extremes have the bests with the region, before and after the
    epoch. There is room for a value's `parts`, and for a run.
    """

    slots: Any
    totals: Any
    bests: Any
    reached: Any
    parts: Any
    run: Any


@njit
def make_standing(running, layers):
    """Room for what stands before a region of a table with so many layers, and the arrays to keep alive."""
    slots = np.zeros((3, slot_of_column(running.summed.shape[0])), np.int64)
    totals = np.zeros((3, running.exact.shape[0] * OF_OTHERS), np.int64)
    bests = np.empty((3, running.extremes.shape[0]), np.int64)
    reached, parts, run = np.empty(layers, np.int64), np.empty(PARTS, np.int64), np.zeros(RUN, np.int64)
    standing = RegionBase(
        uncounted(slots),
        uncounted(totals),
        uncounted(bests),
        uncounted(reached),
        uncounted(parts),
        uncounted(run),
    )
    return standing, (slots, totals, bests, reached, parts, run)


@njit(forceinline=True)
def begin_epoch(standing, group, m):
    """Forget what new rows of group m have added before an epoch."""
    standing.reached[:] = group.lows[:, m]
    standing.slots[1] = 0
    standing.totals[1] = 0


@njit(forceinline=True)
def find_standing(group, figures, running, m, places, epoch, standing):
    """Fill `standing` with what the group's rows before `places` make, before an epoch; places only move
    forward within an epoch. Returns how many rows were read."""
    parts, reached, summed, exact = standing.parts, standing.reached, running.summed, running.exact
    slots, new_slots = standing.slots[0], standing.slots[1]
    totals, new_totals = standing.totals[0], standing.totals[1]
    table, codes, texts, width = group.table, group.codes, group.texts, group.codes.shape[0]
    for index in range(group.old, table.shape[0]):
        batch = layer(table, index)
        for row in range(reached[index], places[index]):
            if batch[row, width] < epoch:
                add_numbers(batch, row, summed, codes, texts, batch[row, width + 1], parts, new_slots)
                add_others(batch, row, exact, codes, texts, batch[row, width + 1], parts, new_totals)
        reached[index] = places[index]
    slots[:] = new_slots
    totals[:] = new_totals
    for index in range(group.old):
        low, place = group.lows[index, m], places[index]
        if low < place:
            sums = layer(figures.sums, index)
            for slot in range(slots.shape[0]):
                slots[slot] += sums[place, slot] - sums[low, slot]
            if totals.shape[0] > 0:
                batch = layer(table, index)
                add_totals_between(
                    figures.totals, index, batch, low, place, exact, codes, texts, parts, totals
                )
    if standing.bests.shape[1] == 0:
        return 0
    extremes, bests = running.extremes, standing.bests[0]
    return find_bests(group, figures.bests, m, places, epoch, extremes, bests, standing.run)


@njit(forceinline=True)
def find_start(group, m, first, row, shape, epoch, places, run):
    """Fill `places` with the beginning of the region around a change, row `row` of batch `first`.

    Returns how many rows were read.
    """
    width = group.codes.shape[0]
    change = layer(group.table, first)
    begin = row
    rows = 0
    find_places(group, m, change, row, width, places)
    if shape[REACH] > 0:
        count = put_backward(group, m, places)
        passed = 0
        while passed < shape[REACH] and count > 0:
            count, _ = read_run(group, count, foremost(group, count, -1), -1, epoch, run)
            passed += min(run[BEFORE], run[AFTER])
            rows += 1
            first, begin = run[BATCH], run[ROW]
        find_places(group, m, layer(group.table, first), begin, width, places)
    if shape[PEERS] >= 0:
        find_places(group, m, layer(group.table, first), begin, shape[PEERS], places)
    if shape[SPAN] >= 0:
        _go_back(group, m, change, row, shape, places)
    return rows


@njit(forceinline=True)
def _go_back(group, m, batch, row, shape, places):
    """Move `places` back to the first row within a region's span before a row."""
    key = group.key
    probe = np.empty((1, key + 1), np.int64)
    for w in range(key):
        probe[0, w] = batch[row, w]
    probe[0, key] = first_code_within(
        batch, row, group.codes, key, group.texts.entry_words, shape[SPAN], shape[IS_FLOAT] != 0
    )
    for index in range(group.table.shape[0]):
        low, high = group.lows[index, m], min(places[index], group.highs[index, m])
        if low < high:
            places[index] = lower_bound(group, layer(group.table, index), low, high, probe, 0, key + 1)


@njit
def are_peers(table, first, row, second, other, shape):
    """Whether two rows of a group are peers."""
    left, right = layer(table, first), layer(table, second)
    for w in range(shape[PEERS]):
        if left[row, w] != right[other, w]:
            return False
    return True


@njit(forceinline=True)
def read_region(group, running, m, places, remaining, shape, epoch, standing, runs):
    """Read the region that begins at `places` into `runs`.

    It ends behind one of the `remaining` changes, once all that is `running` is the same before and after the
    epoch. Returns the runs, their number, how many lines of changes were read, how many rows, and how many
    published lines of rows that do not exist.
    """
    table, cursors, codes, texts, run = group.table, group.cursors, group.codes, group.texts, standing.run
    summed, exact, extremes, parts = running.summed, running.exact, running.extremes, standing.parts
    count = put_forward(group, m, places, group.highs)
    least = remaining if shape[REACH] > 0 and shape[PEERS] >= 0 else 1
    is_float = shape[IS_FLOAT] != 0
    slots, totals, bests = standing.slots[2], standing.totals[2], standing.bests
    slots[:] = 0
    totals[:] = 0
    bests[1] = bests[0]
    bests[2] = bests[0]
    are_equal = True
    n = rows = changes = since = wasted = 0
    zone, place = 0, np.int64(0)
    while count > 0:
        best = foremost(group, count, 1)
        first, row = cursors[best, BATCH], cursors[best, NEXT]
        batch = layer(table, first)
        is_settled = are_equal and _are_level(bests)
        if changes >= least and since >= shape[REACH] and is_settled:
            is_near = shape[PEERS] >= 0 and are_peers(table, run[BATCH], run[ROW], first, row, shape)
            if not is_near and shape[SPAN] >= 0:
                its_zone, its_place = place_of(batch, row, codes, group.key, texts.entry_words, is_float)
                is_near = not is_beyond(its_zone, its_place, zone, place, shape[SPAN], is_float)
            if not is_near:
                break
        count, published = read_run(group, count, best, 1, epoch, run)
        rows += 1
        changes += run[CHANGES]
        before, after = run[BEFORE], run[AFTER]
        if run[CHANGES] > 0:
            since = 0
            if shape[SPAN] >= 0:
                zone, place = place_of(batch, row, codes, group.key, texts.entry_words, is_float)
        if before == 0 and after == 0:
            wasted += published
            continue
        if n == runs.shape[0]:
            runs = grow(runs)
        for field in range(RUN):
            runs[n, field] = run[field]
        n += 1
        if before != after:
            add_numbers(batch, row, summed, codes, texts, after - before, parts, slots)
            add_others(batch, row, exact, codes, texts, after - before, parts, totals)
            are_equal = _is_nothing(running.counted, slots, totals)
        for e in range(extremes.shape[0]):
            argument = argument_of(batch, row, codes, extremes[e, WORD], extremes[e, SORT], texts)
            for side in range(2):
                if run[BEFORE + side] > 0:
                    bests[1 + side, e] = better(
                        bests[1 + side, e], argument, extremes[e, DIRECTION], extremes[e, SORT], texts
                    )
        if run[CHANGES] > 0 or not (are_equal and _are_level(bests)):
            since = 0
        else:
            since += before
    return runs, n, changes, rows, wasted


@njit
def _is_nothing(counted, slots, totals):
    """Whether the `counted` slots and all totals are zero."""
    for k in range(counted.shape[0]):
        total = slots[counted[k]]
        if is_high(counted[k]):
            low = slots[counted[k] + 1]
            total = (total + (low >> 32)) | (low & 0xFFFFFFFF)
        if total != 0:
            return False
    for w in range(totals.shape[0]):
        if totals[w] != 0:
            return False
    return True


@njit(inline="always")
def _are_level(bests):
    """Whether all extremes are the same before and after."""
    for e in range(bests.shape[1]):
        if bests[1, e] != bests[2, e]:
            return False
    return True
