"""Rows that wait until a table has a time: a semijoin with the greatest time of rows that only come.

    semi(x, max(t.at), x.moment <= max)   →   temporal(x, since x.moment, clock max(t.at))

The greatest time never goes back, so a row that has come stays, and a new time costs the rows that come by
it.
"""

from __future__ import annotations

from planner.ir.waiting import Waiting
from planner.lower.aggregate import reduced
from planner.lower.lowered import Lowered
from planner.lower.time_filters import during


def lower_waiting(rows: Waiting, left: Lowered, input: Lowered) -> Lowered | None:
    """The rows of the left side that have come; `input` is that of the newest time. None if its rows may
    go."""
    if not input.node.only_grows:
        return None
    return during(left, rows.moment, None, reduced(input, (), list(rows.newest.items)))
