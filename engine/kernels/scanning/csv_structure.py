"""The structure of CSV text: whether every quote stands where all readers of CSV agree on its meaning."""

from __future__ import annotations

from numba import types

from engine.kernels.compiled import kernel

LINE, FIELD, PLAIN, QUOTED, CLOSED, BLANK, ODD = range(7)
"""At the begin of a line or of a field, within a field, within quotes, after a quote within quotes, in a line
of spaces alone; and after something that readers of CSV take in different ways."""


@kernel(types.int64(types.uint8[::1], types.int64, types.uint8, types.uint8, types.boolean))
def csv_state(data, state, separator, quote, breaks):
    """The state after `data`, read in `state`. `breaks` says whether there may be line breaks within quotes.

    A quote is in its place at both ends of a field, or doubled within quotes. A NUL, and a line of spaces
    alone, are odd.
    """
    for byte in data:
        if byte == 0:
            return ODD
        ends_line = byte == 10 or byte == 13
        if state == QUOTED:
            if byte == quote:
                state = CLOSED
            elif ends_line and not breaks:
                return ODD
        elif byte == quote:
            if state in (LINE, FIELD, CLOSED):
                state = QUOTED
            else:
                return ODD
        elif ends_line:
            if state == BLANK:
                return ODD
            state = LINE
        elif byte == separator:
            state = FIELD
        elif state == CLOSED:
            return ODD
        elif byte == 32 or byte == 9:
            if state == LINE:
                state = BLANK
            elif state == FIELD:
                state = PLAIN
        else:
            state = PLAIN
    return state
