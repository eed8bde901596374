"""The texts of cells that `engine.kernels.scanning.json_lines` has found: without escapes, end to end."""

from __future__ import annotations

from numba import types

from engine.kernels.compiled import kernel

_u1s = types.uint8[::1]
_i8s = types.int64[::1]


@kernel(types.int64(_u1s, types.int64))
def hexadecimal(data, at):
    """The number of the four hexadecimal digits at `at`, or -1."""
    number = 0
    for i in range(4):
        byte = data[at + i]
        if 48 <= byte <= 57:
            digit = byte - 48
        elif 97 <= byte <= 102:
            digit = byte - 87
        elif 65 <= byte <= 70:
            digit = byte - 55
        else:
            return -1
        number = number * 16 + digit
    return number


@kernel(types.int64(_u1s, types.int64, types.int64, _u1s, types.int64))
def unescape(data, at, stop, out, to):
    """Writes the text between `at` and `stop` without its escapes to `out`, from `to`. Returns the end, or -1
    if an escape is strange."""
    while at < stop:
        byte = data[at]
        if byte != 92:
            out[to] = byte
            at, to = at + 1, to + 1
            continue
        if at + 1 >= stop:
            return -1
        code = data[at + 1]
        at += 2
        if code == 34 or code == 92 or code == 47:
            out[to] = code
        elif code == 98:
            out[to] = 8
        elif code == 102:
            out[to] = 12
        elif code == 110:
            out[to] = 10
        elif code == 114:
            out[to] = 13
        elif code == 116:
            out[to] = 9
        elif code == 117 and at + 4 <= stop:
            point = hexadecimal(data, at)
            at += 4
            if 0xD800 <= point < 0xDC00 and at + 6 <= stop and data[at] == 92 and data[at + 1] == 117:
                low = hexadecimal(data, at + 2)
                if low < 0xDC00 or low > 0xDFFF:
                    return -1
                point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00)
                at += 6
            elif point < 0 or 0xD800 <= point <= 0xDFFF:
                return -1
            if point < 0x80:
                out[to] = point
            elif point < 0x800:
                out[to], out[to + 1] = 0xC0 | point >> 6, 0x80 | point & 63
                to += 1
            elif point < 0x10000:
                out[to], out[to + 1] = 0xE0 | point >> 12, 0x80 | point >> 6 & 63
                out[to + 2] = 0x80 | point & 63
                to += 2
            else:
                out[to], out[to + 1] = 0xF0 | point >> 18, 0x80 | point >> 12 & 63
                out[to + 2], out[to + 3] = 0x80 | point >> 6 & 63, 0x80 | point & 63
                to += 3
        else:
            return -1
        to += 1
    return to


@kernel(types.int64(_u1s, _i8s, _i8s, types.uint8[::1], _i8s, _u1s))
def gathered_cells(data, begins, stops, kinds, offsets, out):
    """Copies the cells of a column to `out`, and their ends to `offsets` int64[n + 1]. `out` must have room
    for all of them. Returns the end, or -1 if an escape is strange."""
    to = 0
    for row in range(len(kinds)):
        offsets[row] = to
        kind = kinds[row]
        if kind == 3:
            to = unescape(data, begins[row], stops[row], out, to)
            if to < 0:
                return -1
        elif kind > 1:
            for at in range(begins[row], stops[row]):
                out[to] = data[at]
                to += 1
    offsets[len(kinds)] = to
    return to
