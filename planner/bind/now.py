"""The time in a view: `now()`, `current_date` and their names in every dialect mean the time of the epoch.

It is constant within an epoch, however long the epoch takes, as within a transaction. A view cannot read a
clock that advances during an epoch.
"""

from __future__ import annotations

from sqlglot import exp

from engine.plan.expressions import Cast
from engine.schema import DATE
from planner.clock_functions import reads_clock
from planner.ir import Expression, Now
from planner.positions import refuse

_DATES = (exp.CurrentDate, exp.UtcDate)
_NAMED_DATES = frozenset({"today"})
_GOING_ON = frozenset({"clock_timestamp", "timeofday"})


def time_of_epoch(node: exp.Expression) -> Expression | None:
    """The expression of a function that reads the time; None for any other node."""
    name = node.name.lower() if isinstance(node, exp.Anonymous) else ""
    if reads_clock(node):
        return Now()
    if name in _GOING_ON:
        refuse(node, f"{name}() is not deterministic, so it cannot be maintained", "use now()")
    if isinstance(node, _DATES) or name in _NAMED_DATES:
        _check_zone(node)
        return Cast(Now(), DATE)  # type: ignore[arg-type]
    return None


def _check_zone(node: exp.Expression) -> None:
    zone = node.this
    if isinstance(zone, exp.Literal) and zone.this.upper() not in ("UTC", "GMT", "ETC/UTC"):
        refuse(node, f"the date in {zone.this} is not supported", "use dates in UTC")
