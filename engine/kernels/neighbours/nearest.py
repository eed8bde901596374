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

from engine.kernels.coding import ENTRY, KIND, SHIFT, SIGN, decoded, texts_of, write_words
from engine.kernels.compiled import kernel
from engine.kernels.cursors import BATCH, NEXT, compare_rows, foremost, groups_of, keep_alive, put_forward
from engine.kernels.layers import compare, layer
from engine.kernels.neighbours.runs import AFTER, BEFORE, ROW, RUN, changes_at, read_run
from engine.kernels.reduce import grow, most_new_rows
from engine.kernels.states import epochs_of
from engine.kernels.words import NULL

# A line of changes: where the left row is and the right one (in batch -1 if there is none), epoch and diff.
_LEFT, _RIGHT, _EPOCH, _DIFF, _LINE = 0, 2, 4, 5, 6
_NOWHERE = -1


class Side(NamedTuple):
    """A side of the join: its groups; where the rows begin, in each batch, that were read already (left) or
    passed already (right); a row of a key and a place, in this side's code; and room for a run."""

    group: Any
    places: Any
    probe: Any
    run: Any


@njit
def _side(group, words):
    places, probe = np.zeros(group.table.shape[0], np.int64), np.zeros((1, words), np.int64)
    return Side(group, places, probe, np.zeros(RUN, np.int64))


@njit
def _put_probe(source, batch, row, target):
    """Make `target`'s probe the key and the place of a row of `source`."""
    probe, codes, others = target.probe, source.group.codes, target.group.codes
    for w in range(probe.shape[1]):
        word = batch[row, w]
        if w >= source.group.key and codes[w, KIND] < ENTRY:
            word = codes[w, SIGN] * (word - codes[w, SHIFT])
            word = others[w, SIGN] * word + others[w, SHIFT]
        probe[0, w] = word


@njit
def _is_below(side, batch, row, other, line, width, is_past):
    """Whether a row is below another in its first `width` words, or `is_past` and the two are equal."""
    order = compare_rows(side.group, batch, row, other, line, width)
    return order < 0 or (is_past and order == 0)


@njit
def _halve(side, batch, low, high, other, line, width, is_past):
    """The first row in [low, high) that is not below (see `_is_below`) the other; `high` if all are."""
    while low < high:
        middle = (low + high) >> 1
        if _is_below(side, batch, middle, other, line, width, is_past):
            low = middle + 1
        else:
            high = middle
    return low


@njit
def _seek(side, batch, low, high, other, line, width, is_past):
    """As `_halve`; it gallops from `low`."""
    step = 1
    while low < high:
        row = min(low + step, high) - 1
        if not _is_below(side, batch, row, other, line, width, is_past):
            high = row
            break
        low = row + 1
        step <<= 1
    return _halve(side, batch, low, high, other, line, width, is_past)


@njit
def _seek_back(side, batch, low, high, is_past):
    """As `_halve`, for the side's probe; it gallops from `high`."""
    width = side.probe.shape[1]
    step = 1
    while low < high:
        row = max(high - step, low)
        if _is_below(side, batch, row, side.probe, 0, width, is_past):
            low = row + 1
            break
        high = row
        step <<= 1
    return _halve(side, batch, low, high, side.probe, 0, width, is_past)


@njit
def _find(right, m, is_strict, epoch, stops, match):
    """Fill `match` with the batch and row of the right rows nearest to the probe before ([0]) and after ([1])
    an epoch; it has those of the place before. Returns how many lines were read, and how many were of rows
    that do not exist."""
    group = right.group
    for index in range(group.table.shape[0]):
        low, high = group.lows[index, m], right.places[index]
        stops[index, 0] = high
        if low < high:
            right.places[index] = _seek_back(right, layer(group.table, index), low, high, is_strict)
    count = put_forward(group, 0, right.places, stops)
    is_found_before = is_found_after = False
    read = 0
    wasted = 0
    run = right.run
    while count > 0 and not (is_found_before and is_found_after):
        count, passed = read_run(group, count, foremost(group, count, 1), 1, epoch, run)
        read += 1
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
def _has_no_place(side, batch, row):
    group = side.group
    return decoded(batch, row, group.codes, side.probe.shape[1] - 1, group.texts.entry_words) == NULL


@njit
def _stay_same(right, match):
    """Whether the matches before and after the epoch are the same row, or both none."""
    if match[0, 0] == _NOWHERE or match[1, 0] == _NOWHERE:
        return match[0, 0] == match[1, 0]
    group = right.group
    before, after = layer(group.table, match[0, 0]), layer(group.table, match[1, 0])
    return compare(before, match[0, 1], after, match[1, 1], group.codes.shape[0]) == 0


@njit
def _begin(left, right, lefts, rights, i, j, is_strict):
    """Whether the next place where matches can change is that of left change i, and not that of right change
    j, whose place becomes the left side's probe."""
    if j < 0:
        return True
    _put_probe(right, layer(right.group.table, rights[j, 0]), rights[j, 1], left)
    if i >= lefts.shape[0]:
        return False
    batch = layer(left.group.table, lefts[i, 0])
    return _is_below(left, batch, lefts[i, 1], left.probe, 0, left.probe.shape[1], is_strict)


@njit
def _skip(left, m, other, line, width, is_past):
    """Move the left side forward to a row; returns whether rows from there on were read already."""
    is_read = False
    for index in range(left.group.table.shape[0]):
        batch = layer(left.group.table, index)
        low, high = left.places[index], left.group.highs[index, m]
        first = left.group.lows[index, m]
        is_read = is_read or (
            low > first and not _is_below(left, batch, low - 1, other, line, width, is_past)
        )
        if low < high:
            left.places[index] = _seek(left, batch, low, high, other, line, width, is_past)
    return is_read


@njit
def _write(lines, written, run, match, epoch, diff):
    """Add a line; the caller has made room."""
    lines[written, _LEFT] = run[BATCH]
    lines[written, _LEFT + 1] = run[ROW]
    lines[written, _RIGHT] = match[0]
    lines[written, _RIGHT + 1] = match[1]
    lines[written, _EPOCH] = epoch
    lines[written, _DIFF] = diff


@njit
def _walk(left, right, m, is_strict, pads, epoch, stops, match, lines, written, counts):
    """Read the left side from its places on, as far as matches change, and add lines for what changes."""
    group, run = left.group, left.run
    every = count = put_forward(group, m, left.places, group.highs)
    nothing = np.full(2, _NOWHERE)
    while count > 0:
        count, passed = read_run(group, count, foremost(group, count, 1), 1, epoch, run)
        counts[0] += 1
        before, after = run[BEFORE], run[AFTER]
        if before == 0 and after == 0:
            counts[1] += passed
            continue
        batch = layer(group.table, run[BATCH])
        has_place = not _has_no_place(left, batch, run[ROW])
        if has_place:
            _put_probe(left, batch, run[ROW], right)
            read, wasted = _find(right, m, is_strict, epoch, stops, match)
            counts[0] += read
            counts[2] += wasted
        is_same = not has_place or _stay_same(right, match)
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
    for c in range(every):
        left.places[group.cursors[c, BATCH]] = group.cursors[c, NEXT]
    return lines, written


@njit
def _delta(left, right, lines):
    """The lines as a delta of uncoded words."""
    out = np.empty((left.codes.shape[0] + right.codes.shape[0] + 2, lines.shape[0]), np.int64)
    words = left.texts.entry_words
    line = write_words(left.table, lines, _LEFT, left.codes, words, out, 0)
    line = write_words(right.table, lines, _RIGHT, right.codes, words, out, line)
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
    texts = texts_of(entry_words, ends, arena)
    left_group, left_rows = groups_of(keys, lefts, left_old, left_codes, texts)
    right_group, right_rows = groups_of(keys, rights, right_old, right_codes, texts)
    left, right = _side(left_group, words), _side(right_group, words)
    stops = np.empty((rights.shape[0], 1), np.int64)
    match = np.empty((2, 2), np.int64)
    lines = np.empty((2 * keys.shape[0] + 16, _LINE), np.int64)
    written = 0
    counts = np.zeros(3, np.int64)
    no_rounds = np.empty(0, np.int64)
    most = max(
        most_new_rows(left_group.lows, left_group.highs, left_old, keys.shape[0]),
        most_new_rows(right_group.lows, right_group.highs, right_old, keys.shape[0]),
    )
    room = np.empty((2, most, 1), np.int64)
    for m in range(keys.shape[0]):
        for index in range(rights.shape[0]):
            right.group.highs[index, m] = _end_of_places(right, m, index)
        of_left = epochs_of(left.group, m, no_rounds, room[0])
        of_right = epochs_of(right.group, m, no_rounds, room[1])
        for epoch in np.unique(np.concatenate((of_left, of_right))):
            lines, written = _join_epoch(
                left, right, m, is_strict, pads, epoch, stops, match, lines, written, counts
            )
    delta = _delta(left.group, right.group, lines[:written])
    keep_alive((left_rows, right_rows))
    return delta, counts


@njit
def _end_of_places(right, m, index):
    """The end of the group's rows in a batch that have a place; those without one are the last."""
    low, high = right.group.lows[index, m], right.group.highs[index, m]
    batch = layer(right.group.table, index)
    while low < high:
        middle = (low + high) >> 1
        if _has_no_place(right, batch, middle):
            high = middle
        else:
            low = middle + 1
    return low


@njit
def _join_epoch(left, right, m, is_strict, pads, epoch, stops, match, lines, written, counts):
    """Add the lines by which a group's pairs change at an epoch."""
    lefts, rights = changes_at(left.group, m, epoch), changes_at(right.group, m, epoch)
    left.places[:] = left.group.lows[:, m]
    right.places[:] = right.group.highs[:, m]
    match[:] = _NOWHERE
    i = 0
    j = rights.shape[0] - 1
    while i < lefts.shape[0] or j >= 0:
        if _begin(left, right, lefts, rights, i, j, is_strict):
            batch, row, width = layer(left.group.table, lefts[i, 0]), lefts[i, 1], left.group.codes.shape[0]
            is_read = _skip(left, m, batch, row, width, False)
            i += 1
        else:
            is_read = _skip(left, m, left.probe, 0, left.probe.shape[1], is_strict)
            j -= 1
        if not is_read:
            lines, written = _walk(
                left, right, m, is_strict, pads, epoch, stops, match, lines, written, counts
            )
    return lines, written
