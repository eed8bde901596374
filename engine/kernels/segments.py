"""The kernel of LIKE: whether texts of the dictionary consist of segments, with any bytes between them."""

from __future__ import annotations

from numba import njit, types

from engine.kernels.compiled import kernel
from engine.kernels.hashing import BYTES, OFFSETS
from engine.kernels.memory import prefetch
from engine.kernels.texts import AHEAD, ARENA, ENDS, WORDS
from engine.kernels.words import NULL


@njit(inline="always")
def _begins(arena, at, segments, first, last):
    """Whether the segment is at a place of the arena."""
    for k in range(last - first):
        if arena[at + k] != segments[first + k]:
            return False
    return True


@njit
def _end_of(arena, at, stop, segments, first, last):
    """Where the first occurrence of a segment ends that is not empty, between two places; -1 without any."""
    head = segments[first]
    for place in range(at, stop - (last - first) + 1):
        if arena[place] == head and _begins(arena, place, segments, first, last):
            return place + last - first
    return -1


@njit
def _consists(arena, at, stop, segments, cuts):
    """Whether the bytes between two places begin with the first segment and end with the last one, and have
    the others, in their order, between these."""
    inner = cuts.size - 2
    head, tail = cuts[1], cuts[inner + 1] - cuts[inner]
    if stop - at < head + tail:
        return False
    if not _begins(arena, at, segments, 0, head):
        return False
    if not _begins(arena, stop - tail, segments, cuts[inner], cuts[inner + 1]):
        return False
    place = at + head
    for s in range(1, inner):
        place = _end_of(arena, place, stop - tail, segments, cuts[s], cuts[s + 1])
        if place < 0:
            return False
    return True


@kernel(types.void(WORDS, ENDS, ARENA, BYTES, OFFSETS, types.int64, types.int64[::1]))
def match(entries, ends, arena, segments, cuts, negated, out):
    """Whether the texts of entries consist of segments, of which there are at least two: 1 or 0 into `out`,
    the other way around if `negated` is 1; NULL for entry -1.

    The s-th segment is `segments[cuts[s]:cuts[s + 1]]`; only the first and the last one may be empty.
    """
    last = entries.size - 1
    for i in range(entries.size):
        later, soon = entries[min(i + 2 * AHEAD, last)], entries[min(i + AHEAD, last)]
        if later >= 0:
            prefetch(ends.ctypes.data + 8 * later)  # type: ignore[call-arg]
        if soon >= 0:
            prefetch(arena.ctypes.data + ends[soon])  # type: ignore[call-arg]
        if entries[i] < 0:
            out[i] = NULL
        else:
            at, stop = ends[entries[i]], ends[entries[i] + 1]
            out[i] = _consists(arena, at, stop, segments, cuts) ^ negated
