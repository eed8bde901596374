"""Functions of frames by sliding: a frame takes in the rows that the last one lacked, and drops others.

Totals are exact until they are finished, so that dropping is exact too. For extremes, the rows that can still
become one wait in a queue, the best first. What begins with the group begins with what stands before the
region.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from engine.kernels.floatsums import LIMBS
from engine.kernels.layers import uncounted
from engine.kernels.neighbours.arguments import FLOAT, NUMBER, compare_arguments, word_of_argument
from engine.kernels.neighbours.arguments import better as better_argument
from engine.kernels.neighbours.copy_frames import (
    ARGUMENT,
    BASE,
    DEFAULT,
    DIVISOR,
    FUNCTION,
    FURTHER_WORDS,
    START,
    find_frames,
)
from engine.kernels.neighbours.totals import (
    FURTHER,
    OF_NUMBERS,
    OF_OTHERS,
    VALUES,
    add_value,
    float_of,
    number_of_halves,
    write_apart,
)
from engine.kernels.words import NULL

# What functions are.
ROW_NUMBER, RANK, VALUE, FIRST, LAST, COUNT, SUM, AVG, MIN, MAX = range(10)


class Room(NamedTuple):
    """Room for a total, its limbs while it is finished, and its words."""

    total: Any
    limbs: Any
    out: Any


@njit
def make_room():
    """Room for totals of every sort, and the arrays to keep alive."""
    total, limbs, out = (
        np.zeros(OF_OTHERS, np.int64),
        np.zeros(LIMBS, np.int64),
        np.zeros(1 + FURTHER, np.int64),
    )
    return Room(uncounted(total), uncounted(limbs), uncounted(out)), (total, limbs, out)


@njit(forceinline=True)
def slide(region, function, f, side, is_float, standing, room, texts):
    """Fill a side's values of function f, and its further words."""
    starts, ends, waiting = region.room[0], region.room[1], region.room[2]
    find_frames(region, function, side, is_float, starts, ends)
    values = region.values[side]
    if function[FUNCTION] < COUNT:
        _choose(region, function, f, side, standing.slots[0, 0], starts, ends, values)
    elif function[FUNCTION] < MIN:
        _slide_total(region, function, f, side, standing, starts, ends, room, texts, values)
    else:
        base = standing.bests[0, function[BASE]] if function[BASE] >= 0 else np.int64(NULL)
        _slide_extreme(region, function, f, side, base, starts, ends, waiting, texts, values)


@njit(forceinline=True)
def _choose(region, function, f, side, rows, starts, ends, values):
    """A function that counts rows, or whose value is that of one row; `rows` stand before the region."""
    kind = function[FUNCTION]
    arguments, owners, size = region.arguments[f], region.owners[side], region.copies[side, -1]
    word = np.int64(NULL)
    for copy in range(size):
        chosen = -1
        if kind == ROW_NUMBER:
            word = rows + copy + 1
        elif kind == RANK:
            if copy == 0 or ends[copy] > ends[copy - 1]:
                word = rows + copy + 1
        elif kind == VALUE:
            chosen = copy + function[START]
            word = arguments[owners[chosen]] if 0 <= chosen < size else function[DEFAULT]
        else:
            chosen = starts[copy] if kind == FIRST else ends[copy] - 1
            word = arguments[owners[chosen]] if starts[copy] < ends[copy] else np.int64(NULL)
        if values[copy, 0] < 0:
            values[copy, 1 + f] = word


@njit(forceinline=True)
def _slide_total(region, function, f, side, standing, starts, ends, room, texts, values):
    """COUNT, SUM and AVG."""
    sort = function[ARGUMENT]
    arguments, owners = region.arguments[f], region.owners[side]
    parts, total, out = standing.parts, room.total, room.out
    total[:] = 0
    if function[BASE] >= 0:
        base = standing.slots[0] if sort == NUMBER else standing.totals[0]
        size = OF_NUMBERS if sort == NUMBER else OF_OTHERS
        for w in range(1 if function[FUNCTION] == COUNT else size):
            total[w] = base[function[BASE] + w]
    is_failed = False
    start = end = 0
    for copy in range(region.copies[side, -1]):
        if copy == 0 or end < ends[copy] or start < starts[copy]:
            while end < ends[copy]:
                add_value(total, 0, arguments[owners[end]], sort, 1, parts, texts)
                end += 1
            while start < starts[copy]:
                add_value(total, 0, arguments[owners[start]], sort, -1, parts, texts)
                start += 1
            is_failed = _finish(total, function, room.limbs, out)
        if values[copy, 0] >= 0:
            continue
        if is_failed:
            values[copy] = 0
            values[copy, 0] = f
            continue
        values[copy, 1 + f] = out[0]
        if function[FURTHER_WORDS] >= 0:
            for k in range(FURTHER):
                values[copy, 1 + function[FURTHER_WORDS] + k] = out[1 + k]


@njit
def _finish(total, function, limbs, out):
    """Write the word of a total; of one that is finished elsewhere the number of its values, or NULL, and its
    further words. Returns whether it overflows."""
    kind, sort = function[FUNCTION], function[ARGUMENT]
    counted = total[VALUES]
    out[1:] = 0
    if kind == COUNT:
        out[0] = counted
    elif counted <= 0:
        out[0] = NULL
    elif function[FURTHER_WORDS] >= 0:
        out[0] = counted if kind == AVG else 1
        write_apart(total, sort, limbs, out[1:])
    elif sort == FLOAT:
        out[0] = float_of(total, kind == AVG, limbs)
    else:
        out[0], is_failed = number_of_halves(total, function[DIVISOR], kind == AVG)
        return is_failed
    return False


@njit(forceinline=True)
def _slide_extreme(region, function, f, side, base, starts, ends, waiting, texts, values):
    """MIN and MAX, with the `base` from before the region. In `waiting` are copies that can become
    extremes."""
    sort, direction = function[ARGUMENT], 1 if function[FUNCTION] == MIN else -1
    arguments, owners = region.arguments[f], region.owners[side]
    head = tail = end = 0
    for copy in range(region.copies[side, -1]):
        while end < ends[copy]:
            value = arguments[owners[end]]
            if value != NULL:
                while tail > head:
                    other = arguments[owners[waiting[tail - 1]]]
                    if compare_arguments(value, other, sort, texts) * direction > 0:
                        break
                    tail -= 1
                waiting[tail] = end
                tail += 1
            end += 1
        while head < tail and waiting[head] < starts[copy]:
            head += 1
        best = base
        if head < tail:
            best = better_argument(base, arguments[owners[waiting[head]]], direction, sort, texts)
        if values[copy, 0] < 0:
            values[copy, 1 + f] = word_of_argument(best, sort, texts)
