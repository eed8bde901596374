"""The texts of EXPLAIN for unnested lists, in the relational and the dataflow listing."""

from __future__ import annotations

from collections.abc import Sequence


def elements_text(columns: Sequence[str], exclusive: bool) -> str:
    """The elements of an array, or a series: `from r1.a to r1.b by r1.c`."""
    if len(columns) == 1:
        return f"elements of {columns[0]}"
    start, stop, step = columns
    return f"from {start} {'below' if exclusive else 'to'} {stop} by {step}"
