"""Lines of JSON objects: where the value of each member lies, without making any value.

A line is an object, or with `wrapped` an object whose only member is an operation with an object. All of
JSON's grammar is checked at the first level; of a nested value only the end is found, so whoever takes it has
to parse it. The scanner stops at a line that it does not take, and at a name that it does not know.
"""

from __future__ import annotations

import numpy as np
from numba import njit, types

from engine.kernels.compiled import kernel
from engine.kernels.layers import uncounted
from engine.kernels.scanning.byte_blocks import eight, equals, first, marks, uncounted_bytes

MISSING, NULL_CELL, TEXT, ESCAPED, NUMBER, TRUE, FALSE, NESTED = range(8)
"""Kinds of cells. The span of a text is what stands between its quotes."""
TAKEN, STRANGE, UNKNOWN = range(3)
"""Why the scanner has stopped: at the end of the data or of its room, at a line that it does not take, or at
a name that it does not know."""

_OPERATIONS = np.array(list(b"insertdeleteupsert"), np.uint8)
_BREAK = np.uint64(10)
_u1s = types.uint8[::1]
_i8s = types.int64[::1]
_spans = types.int64[:, ::1]
_kinds = types.uint8[:, ::1]


@njit(forceinline=True)
def after_space(data, at, stop):
    while at < stop and (data[at] == 32 or data[at] == 9 or data[at] == 13):
        at += 1
    return at


@njit(forceinline=True)
def line_end(data, at):
    """The place of the line break at or after `at`, or the end of the data."""
    while at + 8 <= len(data):
        breaks = equals(eight(data, at), _BREAK)
        if breaks != 0:
            return at + first(breaks)
        at += 8
    while at < len(data) and data[at] != 10:
        at += 1
    return at


@njit(forceinline=True)
def after_text(data, at, stop):
    """The place of the quote that ends a text which begins at `at`; its negative if there are escapes; 0 if
    the text does not end or has a control character."""
    escaped = False
    while at + 8 <= stop:
        found = marks(eight(data, at))
        if found == 0:
            at += 8
            continue
        at += first(found)
        if data[at] != 92:
            return 0 if data[at] < 32 else -at if escaped else at
        escaped = True
        at += 2
    while at < stop:
        byte = data[at]
        if byte == 34:
            return -at if escaped else at
        if byte < 32:
            return 0
        if byte == 92:
            escaped = True
            at += 1
        at += 1
    return 0


@njit(forceinline=True)
def after_digits(data, at, stop):
    while at < stop and 48 <= data[at] <= 57:
        at += 1
    return at


@njit(forceinline=True)
def after_number(data, at, stop):
    """The end of a number, or 0."""
    if at < stop and data[at] == 45:
        at += 1
    first = at
    at = after_digits(data, at, stop)
    if at == first or (data[first] == 48 and at > first + 1):
        return 0
    if at < stop and data[at] == 46:
        first = at + 1
        at = after_digits(data, first, stop)
        if at == first:
            return 0
    if at < stop and (data[at] == 101 or data[at] == 69):
        at += 1
        if at < stop and (data[at] == 43 or data[at] == 45):
            at += 1
        first = at
        at = after_digits(data, first, stop)
        if at == first:
            return 0
    return at


@kernel(types.int64(_u1s, types.int64, types.int64))
def after_nested(data, at, stop):
    """The end of an array or object, or 0. Its content is not checked."""
    depth = 0
    while at < stop:
        byte = data[at]
        if byte == 34:
            at = abs(after_text(data, at + 1, stop))
            if at == 0:
                return 0
        elif byte == 91 or byte == 123:
            depth += 1
        elif byte == 93 or byte == 125:
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    return 0


@kernel(types.boolean(_u1s, types.int64, types.int64, _u1s, types.int64, types.int64))
def same_bytes(data, begin, end, names, first, last):
    if end - begin != last - first:
        return False
    for i in range(end - begin):
        if data[begin + i] != names[first + i]:
            return False
    return True


@njit(forceinline=True)
def is_name(data, at, stop, names, first, last):
    """Whether the text at `at` is a name that needs no escapes, and ends with it."""
    end = at + last - first
    if end >= stop or data[end] != 34:
        return False
    while first + 8 <= last:
        block = eight(data, at)
        if block != eight(names, first) or marks(block) != 0:
            return False
        at += 8
        first += 8
    while first < last:
        byte = data[at]
        if byte != names[first] or byte == 34 or byte == 92 or byte < 32:
            return False
        at += 1
        first += 1
    return True


@njit(forceinline=True)
def json_value(data, at, stop, span):
    """The kind of the value at `at`, or -1; `span` gets its begin, its end, and the place after it."""
    byte = data[at]
    span[0] = at
    if byte == 34:
        end = after_text(data, at + 1, stop)
        span[0], span[1], span[2] = at + 1, abs(end), abs(end) + 1
        return -1 if end == 0 else 2 if end > 0 else 3
    if byte == 123 or byte == 91:
        span[1] = span[2] = after_nested(data, at, stop)
        return -1 if span[1] == 0 else 7
    if byte == 110 and at + 4 <= stop and data[at + 1] == 117 and data[at + 2] == 108 and data[at + 3] == 108:
        span[1] = span[2] = at + 4
        return 1
    if byte == 116 and at + 4 <= stop and data[at + 1] == 114 and data[at + 2] == 117 and data[at + 3] == 101:
        span[1] = span[2] = at + 4
        return 5
    if (
        byte == 102
        and at + 5 <= stop
        and data[at + 1] == 97
        and data[at + 2] == 108
        and data[at + 3] == 115
        and data[at + 4] == 101
    ):
        span[1] = span[2] = at + 5
        return 6
    span[1] = span[2] = after_number(data, at, stop)
    return -1 if span[1] == 0 else 4


@njit(forceinline=True)
def json_member(data, at, stop, names, ends, guess, span):
    """The number of the name at `at`; -1 if it is strange, -2 if it is unknown. `span` as for a value."""
    if at >= stop or data[at] != 34:
        return -1
    count = len(ends) - 1
    guess = guess if guess < count else 0
    is_guess = count > 0 and is_name(data, at + 1, stop, names, ends[guess], ends[guess + 1])
    end = at + 1 + ends[guess + 1] - ends[guess] if is_guess else after_text(data, at + 1, stop)
    if end <= 0:
        return -1
    span[0], span[1] = at + 1, end
    colon = after_space(data, end + 1, stop)
    if colon >= stop or data[colon] != 58:
        return -1
    span[2] = after_space(data, colon + 1, stop)
    if span[2] >= stop:
        return -1
    if is_guess:
        return guess
    for step in range(count):
        place = guess + step if guess + step < count else guess + step - count
        if same_bytes(data, at + 1, end, names, ends[place], ends[place + 1]):
            return place
    return -2


@njit(forceinline=True)
def json_object(data, at, stop, names, ends, row, begins, stops, kinds, span):
    """Takes the object at `at` as row `row`. Returns the place after it, 0 if it is strange, or the negative
    place of an unknown name."""
    if at >= stop or data[at] != 123:
        return 0
    at = after_space(data, at + 1, stop)
    guess = 0
    first = True
    while True:
        if at >= stop:
            return 0
        if data[at] == 125 and first:
            return at + 1
        place = json_member(data, at, stop, names, ends, guess, span)
        if place == -2:
            return -span[0]
        if place < 0 or kinds[place, row] != 0:
            return 0
        kind = json_value(data, span[2], stop, span)
        if kind < 0:
            return 0
        begins[place, row], stops[place, row], kinds[place, row] = span[0], span[1], kind
        at = after_space(data, span[2], stop)
        if at >= stop:
            return 0
        if data[at] == 125:
            return at + 1
        if data[at] != 44:
            return 0
        at = after_space(data, at + 1, stop)
        first = False
        guess = place + 1


@kernel(types.int64(_u1s, types.int64, types.int64))
def operation_of(data, begin, end):
    """0, 1 or 2 for `insert`, `delete` and `upsert`; -1 for another name."""
    if end - begin != 6:
        return -1
    for number in range(3):
        same = True
        for i in range(6):
            same = same and data[begin + i] == _OPERATIONS[6 * number + i]
        if same:
            return number
    return -1


@kernel(
    types.UniTuple(types.int64, 3)(
        _u1s, types.int64, _u1s, _i8s, types.boolean, types.int8[::1], _i8s, _spans, _spans, _kinds
    )
)
def json_lines(data, at, names, ends, wrapped, ops, lines, begins, stops, kinds):
    """Takes the lines from `at`, as long as there is room. Returns the number of rows, the place where it has
    stopped, and why.

    `names` are the known names, `ends` int64[C + 1] where each begins. For each row, `lines` gets the place
    of its line, `ops` its operation, and `begins`, `stops` and `kinds` [C, n] its cells; `kinds` must be 0.
    """
    shape, kinds = kinds.shape, kinds.reshape(kinds.size)
    data, names, kinds = uncounted_bytes(data), uncounted_bytes(names), uncounted_bytes(kinds).reshape(shape)
    ends, begins, stops, lines = uncounted(ends), uncounted(begins), uncounted(stops), uncounted(lines)
    counted = np.zeros(3, np.int64)
    span = uncounted(counted)
    row = 0
    while at < len(data) and row < len(lines):
        line = at
        stop = line_end(data, at)
        at = after_space(data, line, stop)
        if at == stop:
            at = stop + 1
            continue
        operation = 0
        if wrapped:
            if data[at] != 123:
                return row, line, 1
            at = after_space(data, at + 1, stop)
            if at >= stop or json_member(data, at, stop, names, ends, 0, span) == -1:
                return row, line, 1
            operation = operation_of(data, span[0], span[1])
            if operation < 0:
                return row, line, 1
            at = span[2]
        at = json_object(data, at, stop, names, ends, row, begins, stops, kinds, span)
        if at > 0 and wrapped:
            at = after_space(data, at, stop)
            at = at + 1 if at < stop and data[at] == 125 else 0
        if at <= 0 or after_space(data, at, stop) != stop:
            kinds[:, row] = 0
            if at < 0:
                return row, line, 2
            return row, line, 1
        lines[row], ops[row] = line, operation
        row += 1
        at = stop + 1
    counted[0] = row  # keeps the array until here
    return row, min(at, len(data)), 0
