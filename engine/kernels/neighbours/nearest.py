"""Nearest rows: each left row with the first right row that is not before its place.

Both sides are traces sorted by key and place, the left one in the reverse of the right one's order: after a
left row come those that look further ahead. The match of a left row is the first right row that exists from
its place on. A right row that comes or goes at an epoch changes the matches of the left rows from its place
on, up to one whose match stays the same: all behind that one look no further than to its match. So a change
costs the rows that it moves, and the rows are walked through once an epoch, however many change.

What the matches of the left rows before have passed is never read again: while the left side is read forward,
places on the right move backward, and what is not found before the last place is what was found from there.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from engine.kernels.coding import CUT, ENTRY, KIND, PREFIX, SHIFT, SIGN, compare_coded
from engine.kernels.compiled import kernel
from engine.kernels.layers import compare, layer
from engine.kernels.lookup import find_ranges
from engine.kernels.reduce import grow
from engine.kernels.regions import changes_at, epochs_of
from engine.kernels.runs import (
    AFTER,
    BATCH,
    BEFORE,
    CURSOR,
    NEXT,
    ROW,
    RUN,
    next_cursor,
    put_forward,
    read_run,
)
from engine.kernels.top import decoded
from engine.kernels.words import NULL

# A line of changes: where the left row is and the right one (in batch -1 if there is none), epoch and diff.
_LEFT, _RIGHT, _EPOCH, _DIFF, _LINE = 0, 2, 4, 5, 6
_NOWHERE = -1


class Texts(NamedTuple):
    """The dictionary's arrays (see `texts`)."""

    entry_words: Any
    ends: Any
    arena: Any


class Side(NamedTuple):
    """A side of the join: its table, `old` published batches of it, the groups' rows in each batch, the codes
    of its words, and room to read it."""

    table: Any
    old: int
    lows: Any
    highs: Any
    codes: Any
    cursors: Any
    run: Any
    places: Any
    """Where the rows begin, in each batch, that were read already (left) or passed already (right)."""
    probe: Any
    """A row of a key and a place, in this side's code."""


@njit
def _side(table, old, keys, codes, words):
    lows, highs = find_ranges(table, keys)
    cursors = np.empty((table.shape[0], CURSOR), np.int64)
    run, places = np.zeros(RUN, np.int64), np.zeros(table.shape[0], np.int64)
    return Side(table, old, lows, highs, codes, cursors, run, places, np.zeros((1, words), np.int64))


@njit
def _put_probe(source, batch, row, key, target):
    """Make `target`'s probe the key and the place of a row of `source`."""
    probe = target.probe
    for w in range(probe.shape[1]):
        word = batch[row, w]
        if w >= key and source.codes[w, KIND] < ENTRY:
            word = source.codes[w, SIGN] * (word - source.codes[w, SHIFT])
            word = target.codes[w, SIGN] * word + target.codes[w, SHIFT]
        probe[0, w] = word


@njit
def _is_below(side, batch, row, other, line, width, is_past, texts):
    """Whether a row is below another in its first `width` words, or `is_past` and the two are equal."""
    order = compare_coded(side.codes, texts.ends, texts.arena, batch, row, other, line, width)
    return order < 0 or (is_past and order == 0)


@njit
def _halve(side, batch, low, high, other, line, width, is_past, texts):
    """The first row in [low, high) that is not below (see `_is_below`) the other; `high` if all are."""
    while low < high:
        middle = (low + high) >> 1
        if _is_below(side, batch, middle, other, line, width, is_past, texts):
            low = middle + 1
        else:
            high = middle
    return low


@njit
def _seek(side, batch, low, high, other, line, width, is_past, texts):
    """As `_halve`; it gallops from `low`."""
    step = 1
    while low < high:
        row = min(low + step, high) - 1
        if not _is_below(side, batch, row, other, line, width, is_past, texts):
            high = row
            break
        low = row + 1
        step <<= 1
    return _halve(side, batch, low, high, other, line, width, is_past, texts)


@njit
def _seek_back(side, batch, low, high, is_past, texts):
    """As `_halve`, for the side's probe; it gallops from `high`."""
    width = side.probe.shape[1]
    step = 1
    while low < high:
        row = max(high - step, low)
        if _is_below(side, batch, row, side.probe, 0, width, is_past, texts):
            low = row + 1
            break
        high = row
        step <<= 1
    return _halve(side, batch, low, high, side.probe, 0, width, is_past, texts)


@njit
def _find(right, m, key, is_strict, epoch, texts, stops, match):
    """Fill `match` with the batch and row of the right rows nearest to the probe before ([0]) and after ([1])
    an epoch; it has those of the place before. Returns how many lines were read, and how many were of rows
    that do not exist."""
    width = right.codes.shape[0]
    for index in range(right.table.shape[0]):
        low, high = right.lows[index, m], right.places[index]
        stops[index, 0] = high
        if low < high:
            right.places[index] = _seek_back(right, layer(right.table, index), low, high, is_strict, texts)
    count = put_forward(right.table, 0, stops, right.places, right.cursors)
    is_found_before = is_found_after = False
    read = 0
    wasted = 0
    while not (is_found_before and is_found_after):
        best = next_cursor(
            right.table, right.cursors, count, 1, key, width, right.codes, texts.ends, texts.arena
        )
        if best < 0:
            break
        passed = read_run(right.table, right.old, right.cursors, count, best, 1, key, width, epoch, right.run)
        read += 1
        run = right.run
        if run[BEFORE] == 0 and run[AFTER] == 0:
            wasted += passed
        if run[BEFORE] > 0 and not is_found_before:
            match[0, 0], match[0, 1] = run[BATCH], run[ROW]
            is_found_before = True
        if run[AFTER] > 0 and not is_found_after:
            match[1, 0], match[1, 1] = run[BATCH], run[ROW]
            is_found_after = True
    return read, wasted


@njit
def _has_no_place(side, batch, row, texts):
    return decoded(batch, row, side.codes, side.probe.shape[1] - 1, texts.entry_words) == NULL


@njit
def _stay_same(right, match, key):
    """Whether the matches before and after the epoch are the same row, or both none."""
    if match[0, 0] == _NOWHERE or match[1, 0] == _NOWHERE:
        return match[0, 0] == match[1, 0]
    before, after = layer(right.table, match[0, 0]), layer(right.table, match[1, 0])
    return compare(before, match[0, 1], after, match[1, 1], right.codes.shape[0]) == 0


@njit
def _begin(left, right, lefts, rights, i, j, key, is_strict, texts):
    """Whether the next place where matches can change is that of left change i, and not that of right change
    j, whose place becomes the left side's probe."""
    if j < 0:
        return True
    _put_probe(right, layer(right.table, rights[j, 0]), rights[j, 1], key, left)
    if i >= lefts.shape[0]:
        return False
    batch = layer(left.table, lefts[i, 0])
    return _is_below(left, batch, lefts[i, 1], left.probe, 0, left.probe.shape[1], is_strict, texts)


@njit
def _skip(left, m, other, line, width, is_past, texts):
    """Move the left side forward to a row; returns whether rows from there on were read already."""
    is_read = False
    for index in range(left.table.shape[0]):
        batch = layer(left.table, index)
        low, high = left.places[index], left.highs[index, m]
        first = left.lows[index, m]
        is_read = is_read or (
            low > first and not _is_below(left, batch, low - 1, other, line, width, is_past, texts)
        )
        if low < high:
            left.places[index] = _seek(left, batch, low, high, other, line, width, is_past, texts)
    return is_read


@njit
def _write(lines, written, left, match, epoch, diff):
    """Add a line; the caller has made room."""
    lines[written, _LEFT] = left[BATCH]
    lines[written, _LEFT + 1] = left[ROW]
    lines[written, _RIGHT] = match[0]
    lines[written, _RIGHT + 1] = match[1]
    lines[written, _EPOCH] = epoch
    lines[written, _DIFF] = diff


@njit
def _walk(left, right, m, key, is_strict, pads, epoch, texts, stops, match, lines, written, counts):
    """Read the left side from its places on, as far as matches change, and add lines for what changes."""
    width = left.codes.shape[0]
    count = put_forward(left.table, m, left.highs, left.places, left.cursors)
    nothing = np.full(2, _NOWHERE)
    while True:
        best = next_cursor(
            left.table, left.cursors, count, 1, key, width, left.codes, texts.ends, texts.arena
        )
        if best < 0:
            break
        passed = read_run(left.table, left.old, left.cursors, count, best, 1, key, width, epoch, left.run)
        run = left.run
        counts[0] += 1
        before, after = run[BEFORE], run[AFTER]
        if before == 0 and after == 0:
            counts[1] += passed
            continue
        batch = layer(left.table, run[BATCH])
        has_place = not _has_no_place(left, batch, run[ROW], texts)
        if has_place:
            _put_probe(left, batch, run[ROW], key, right)
            read, wasted = _find(right, m, key, is_strict, epoch, texts, stops, match)
            counts[0] += read
            counts[2] += wasted
        is_same = not has_place or _stay_same(right, match, key)
        while written + 2 > lines.shape[0]:
            lines = grow(lines)
        for side in range(2):
            found = match[side] if has_place else nothing
            diff = (after if side else -before) if not is_same else (after - before) * side
            if diff != 0 and (pads or found[0] != _NOWHERE):
                _write(lines, written, run, found, epoch, diff)
                written += 1
        if is_same:
            break
    for c in range(count):
        left.places[left.cursors[c, BATCH]] = left.cursors[c, NEXT]
    return lines, written


@njit
def _write_words(side, lines, place, line, out, texts):
    """Write the uncoded words of a side into lines of `out`, from `line` on; returns the line behind them."""
    for w in range(side.codes.shape[0]):
        if side.codes[w, KIND] == PREFIX or side.codes[w, KIND] == CUT:
            continue
        for k in range(lines.shape[0]):
            out[line, k] = NULL
            if lines[k, place] != _NOWHERE:
                batch = layer(side.table, lines[k, place])
                out[line, k] = decoded(batch, lines[k, place + 1], side.codes, w, texts.entry_words)
        line += 1
    return line


@njit
def _delta(left, right, lines, texts):
    """The lines as a delta of uncoded words."""
    out = np.empty((left.codes.shape[0] + right.codes.shape[0] + 2, lines.shape[0]), np.int64)
    line = _write_words(left, lines, _LEFT, 0, out, texts)
    line = _write_words(right, lines, _RIGHT, line, out, texts)
    for k in range(lines.shape[0]):
        out[line, k] = lines[k, _EPOCH]
        out[line + 1, k] = lines[k, _DIFF]
    return out[: line + 2]


@kernel(
    "Tuple((int64[:,::1], int64[::1]))"
    "(int64[:,::1], int64, boolean, boolean, int64[:,::1], int64, int64[:,::1], int64[:,::1], int64,"
    "int64[:,::1], int64[::1], int64[::1], uint8[::1])",
)
def join_nearest(
    keys,
    words,
    is_strict,
    pads,
    lefts,
    left_old,
    left_codes,
    rights,
    right_old,
    right_codes,
    entry_words,
    ends,
    arena,
):
    """The changes of the pairs of the groups `keys` [m, P]; no rounds.

    Each side has a table, its number of published batches, and the codes of its words (see `coding`); `words`
    words lead both, those of the key and of the place. If it `is_strict`, a right row at the place itself is
    no match; if it `pads`, a left row without a match comes with NULLs. A right row without a place is last,
    and no match. The last three arguments are the dictionary's. Returns a delta [L + R + 2, n] of uncoded
    words; and how many rows were read, and how many published lines of rows that do not exist were passed
    on the left, and on the right.
    """
    size, key = keys.shape
    texts = Texts(entry_words, ends, arena)
    left = _side(lefts, left_old, keys, left_codes, words)
    right = _side(rights, right_old, keys, right_codes, words)
    stops = np.empty((rights.shape[0], 1), np.int64)
    match = np.empty((2, 2), np.int64)
    lines = np.empty((2 * size + 16, _LINE), np.int64)
    written = 0
    counts = np.zeros(3, np.int64)
    for m in range(size):
        for index in range(rights.shape[0]):
            right.highs[index, m] = _end_of_places(right, m, index, texts)
        left_epochs = epochs_of(lefts, left_old, m, left.lows, left.highs, left_codes.shape[0])
        right_epochs = epochs_of(rights, right_old, m, right.lows, right.highs, right_codes.shape[0])
        for epoch in np.unique(np.concatenate((left_epochs, right_epochs))):
            lines, written = _join_epoch(
                left, right, m, key, is_strict, pads, epoch, texts, stops, match, lines, written, counts
            )
    return _delta(left, right, lines[:written], texts), counts


@njit
def _end_of_places(right, m, index, texts):
    """The end of the group's rows in a batch that have a place; those without one are the last."""
    low, high = right.lows[index, m], right.highs[index, m]
    batch = layer(right.table, index)
    while low < high:
        middle = (low + high) >> 1
        if _has_no_place(right, batch, middle, texts):
            high = middle
        else:
            low = middle + 1
    return low


@njit
def _join_epoch(left, right, m, key, is_strict, pads, epoch, texts, stops, match, lines, written, counts):
    """Add the lines by which a group's pairs change at an epoch."""
    lefts = changes_at(
        left.table,
        left.old,
        m,
        left.lows,
        left.highs,
        left.codes.shape[0],
        epoch,
        left.codes,
        texts.ends,
        texts.arena,
    )
    rights = changes_at(
        right.table,
        right.old,
        m,
        right.lows,
        right.highs,
        right.codes.shape[0],
        epoch,
        right.codes,
        texts.ends,
        texts.arena,
    )
    left.places[:] = left.lows[:, m]
    right.places[:] = right.highs[:, m]
    match[:] = _NOWHERE
    i = 0
    j = rights.shape[0] - 1
    while i < lefts.shape[0] or j >= 0:
        if _begin(left, right, lefts, rights, i, j, key, is_strict, texts):
            batch, row, width = layer(left.table, lefts[i, 0]), lefts[i, 1], left.codes.shape[0]
            is_read = _skip(left, m, batch, row, width, False, texts)
            i += 1
        else:
            is_read = _skip(left, m, left.probe, 0, left.probe.shape[1], is_strict, texts)
            j -= 1
        if not is_read:
            lines, written = _walk(
                left, right, m, key, is_strict, pads, epoch, texts, stops, match, lines, written, counts
            )
    return lines, written
