"""Frames of a region's rows: of each copy, before and after the changes of an epoch.

Runs are laid out as copies, which are numbered in order. A frame starts and ends at copies: as many rows
away, at the end of the row's peers, or within a distance. From copy to copy, both only move forward.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from engine.kernels.cursors import BATCH
from engine.kernels.layers import layer, uncounted
from engine.kernels.neighbours.arguments import argument_of
from engine.kernels.neighbours.order_places import NUMBERS, compare_places, place_of
from engine.kernels.neighbours.regions import IS_FLOAT, PEERS, SPAN, are_peers
from engine.kernels.neighbours.runs import BEFORE, ROW

# A function, a line each: what it is, its argument's word (-1: none) and sort, where its frames start and
# end, its result where the row that it reads does not exist, a decimal's divisor, what it begins with (a
# slot, a total or an extreme; -1: nothing), and the place of the first further word of its total, or -1.
(
    FUNCTION,
    WORD,
    ARGUMENT,
    START_UNIT,
    START,
    END_UNIT,
    END,
    DEFAULT,
    DIVISOR,
    BASE,
    FURTHER_WORDS,
    FIELDS,
) = range(12)
UNBOUNDED, ROWS, DISTANCE, PEER = 0, 1, 2, 3

MOST_COPIES = 1 << 28
"""Most copies of rows that are looked at together. Each has a place in memory of its own."""


class Region(NamedTuple):
    """A region's n runs: each one's first copy before ([0]) and after ([1]), and the run of each copy; the
    run behind its peers; its zone and place in the order; its argument of every function; and the values of
    each copy before and after: the function that overflows or -1, then the words.

    There is room for three numbers a copy.
    """

    copies: Any
    owners: Any
    behind_peers: Any
    zones: Any
    places: Any
    arguments: Any
    values: Any
    room: Any


@njit(forceinline=True)
def _most_copies(runs, n):
    """The copies of the first n runs before the epoch, or after it if these are more. Raises MemoryError if
    there are too many."""
    most = 0
    for side in range(2):
        copies = 0
        for r in range(n):
            copies += runs[r, BEFORE + side]
            if copies > MOST_COPIES:
                raise MemoryError
        most = max(most, copies)
    return most


@njit(inline="always")
def _cut(numbers, at, rows, columns):
    """A matrix at a place in a flat array, and where it ends."""
    end = at + rows * columns
    return numbers[at:end].reshape((rows, columns)), end


@njit(forceinline=True)
def lay_out(group, runs, n, shape, functions, words, numbers):
    """The region of the first n runs, whose functions have so many words; in the array `numbers`, or in a
    larger one, which is returned too and has to be kept alive."""
    most = _most_copies(runs, n)
    near = n if shape[SPAN] >= 0 else 0
    size = 2 * (n + 1) + n + 2 * near + functions.shape[0] * n + most * (2 + 3 + 2 * (1 + words))
    if size > numbers.shape[0]:
        numbers = np.empty(2 * size, np.int64)
    flat = uncounted(numbers)
    copies, at = _cut(flat, 0, 2, n + 1)
    owners, at = _cut(flat, at, 2, most)
    behind, at = _cut(flat, at, 1, n)
    order, at = _cut(flat, at, 2, near)
    arguments, at = _cut(flat, at, functions.shape[0], n)
    room, at = _cut(flat, at, 3, most)
    values = flat[at : at + 2 * most * (1 + words)].reshape((2, most, 1 + words))
    values[:, :, 0] = -1
    region = Region(copies, owners, behind[0], order[0], order[1], arguments, values, room)
    _fill(region, group, runs, n, shape, functions)
    return region, numbers


@njit(forceinline=True)
def _fill(region, group, runs, n, shape, functions):
    """Fill all but the values of a region."""
    copies, owners, behind = region.copies, region.owners, region.behind_peers
    table, codes, texts = group.table, group.codes, group.texts
    for side in range(2):
        copies[side, 0] = 0
        for r in range(n):
            copies[side, r + 1] = copies[side, r] + runs[r, BEFORE + side]
            for copy in range(copies[side, r], copies[side, r + 1]):
                owners[side, copy] = r
    for r in range(n):
        batch, row = layer(table, runs[r, BATCH]), runs[r, ROW]
        if shape[SPAN] >= 0:
            region.zones[r], region.places[r] = place_of(
                batch, row, codes, group.key, texts.entry_words, shape[IS_FLOAT] != 0
            )
        for f in range(functions.shape[0]):
            argument = np.int64(0)
            if functions[f, WORD] >= 0:
                word, sort = functions[f, WORD], functions[f, ARGUMENT]
                argument = argument_of(batch, row, codes, word, sort, texts)
            region.arguments[f, r] = argument
    for r in range(n - 1, -1, -1):
        behind[r] = r + 1
        if r + 1 < n and shape[PEERS] >= 0:
            one, other = runs[r], runs[r + 1]
            if are_peers(table, one[BATCH], one[ROW], other[BATCH], other[ROW], shape):
                behind[r] = behind[r + 1]


@njit(forceinline=True)
def find_frames(region, function, side, is_float, starts, ends):
    """Fill `starts` and `ends` with the frames of all copies of a side."""
    copies = region.copies[side]
    n = copies.shape[0] - 1
    first = last = 0
    for copy in range(copies[n]):
        r = region.owners[side, copy]
        if function[END_UNIT] == ROWS:
            end = max(min(copy + function[END] + 1, copies[n]), 0)
        elif function[END_UNIT] == PEER:
            end = copies[region.behind_peers[r]]
        else:
            last = _passed(region, last, r, function[END], 1, is_float)
            end = copies[last]
        if function[START_UNIT] == UNBOUNDED:
            start = 0
        elif function[START_UNIT] == ROWS:
            start = max(copy + function[START], 0)
        else:
            first = _passed(region, first, r, function[START], 0, is_float)
            start = copies[first]
        starts[copy] = min(start, end)
        ends[copy] = end


@njit
def _passed(region, reached, r, distance, least, is_float):
    """The first run from `reached` on that is not before the distance from run r: whose comparison with it is
    at least `least`."""
    zones, places = region.zones, region.places
    while reached < zones.shape[0] and zones[reached] <= zones[r]:
        if zones[reached] == zones[r]:
            if zones[r] != NUMBERS and least == 0:
                break
            if (
                zones[r] == NUMBERS
                and compare_places(places[reached], places[r], distance, is_float) >= least
            ):
                break
        reached += 1
    return reached
