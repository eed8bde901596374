"""Distances between the rows of a group, along the first column of their order.

A row's place is its word there in the direction of the order, in a zone: NaNs stand before or behind numbers,
and NULLs before or behind all. Only numbers are near others.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from engine.kernels.coding import SHIFT, SIGN, decoded
from engine.kernels.floats import NAN_WORD, to_float, to_word
from engine.kernels.words import NULL

_NULLS_FIRST, _BEFORE_NUMBERS, NUMBERS, _BEHIND_NUMBERS, _NULLS_LAST = range(5)
_LAST = (1 << 63) - 2


@njit
def place_of(batch, row, codes, word, entry_words, is_float):
    """The zone of a row whose order begins with word `word`, and its place there."""
    value = decoded(batch, row, codes, word, entry_words)
    is_down = codes[word, SIGN] < 0
    if value == NULL:
        return (_NULLS_FIRST if codes[word, SHIFT] == 0 else _NULLS_LAST), np.int64(0)
    if is_float and value == NAN_WORD:
        return (_BEFORE_NUMBERS if is_down else _BEHIND_NUMBERS), np.int64(0)
    if is_down:
        value = to_word(-to_float(value)) if is_float else -value
    return NUMBERS, value


@njit
def _moved(place, distance, is_float):
    """A place further on by a distance, which is a float's word if places are."""
    if is_float:
        return to_word(to_float(place) + to_float(distance))
    if distance >= 0:
        return place + distance if place <= _LAST - distance else _LAST
    return place + distance if place >= -_LAST - distance else -_LAST


@njit
def compare_places(one, other, distance, is_float):
    """-1, 0 or 1: a place against another one, moved by a distance."""
    if not is_float and distance >= 0 and other > _LAST - distance:
        return -1
    if not is_float and distance < 0 and other < -_LAST - distance:
        return 1
    moved = _moved(other, distance, is_float)
    return int(one > moved) - int(one < moved)


@njit
def _stretched(place, span, times):
    """A float's place and its span behind it, or before it if `times` is negative, and that many times what
    rounding could add."""
    value, distance = to_float(place), to_float(span)
    if np.isinf(value):
        return value
    return value + np.sign(times) * distance + times * (abs(value) + distance) * 1e-15


@njit
def first_code_within(batch, row, codes, word, entry_words, span, is_float):
    """The code of the first place within a span before a row."""
    zone, place = place_of(batch, row, codes, word, entry_words, is_float)
    if zone != NUMBERS:
        return batch[row, word]
    if not is_float:
        return _moved(place, -span, False) + codes[word, SHIFT]
    value = _stretched(place, span, -1.0)
    is_down = codes[word, SIGN] < 0
    return codes[word, SIGN] * to_word(-value if is_down else value) + codes[word, SHIFT]


@njit
def is_beyond(its_zone, its_place, zone, place, span, is_float):
    """Whether a place in a zone comes behind the span of another one."""
    if its_zone != zone or zone != NUMBERS:
        return its_zone > zone
    if is_float:
        return to_float(its_place) > _stretched(place, span, 4.0)
    return its_place > _moved(place, span, False)
