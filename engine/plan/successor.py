"""Views that had another plan before: the plan of such a view names the epoch from which it holds."""

from __future__ import annotations

from dataclasses import dataclass

from engine.plan.node import SameSchema


@dataclass(frozen=True, eq=False)
class Successor(SameSchema):
    """The same rows, of a view that had another plan before `epoch`. Its history goes on from that plan's.

    It stands at the top of a view's plan only, and is no operator. It tells the state of this view from that
    of one which always had the plan.
    """

    epoch: int
