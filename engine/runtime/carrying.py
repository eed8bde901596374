"""Carrying: the state of views goes over to their plans over a changed source, where these are one program.

An engine is asked before the old views are dropped. Their batches never change, so nothing is copied: when
the views are restored with their new plans, the operators take the batches of those that computed the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.operators.arrangement import Arrangement
from engine.runtime.hydration import Hydration
from engine.runtime.kept import kept_states
from engine.runtime.state_ground import StateGround, TraceGround


@dataclass(frozen=True, eq=False)
class CarriedState:
    """The state of the new views; and by the name of a view that has none, the reason."""

    ground: StateGround
    reasons: Mapping[str, str]


def carried_ground(
    running: Mapping[str, Arrangement], old: Hydration, new: Hydration
) -> dict[str, TraceGround] | None:
    """The state of a new view, which has not run yet, from that of the old one; None if it cannot be told.

    Both have the same program, so their operators come in the same order.
    """
    befores = list(kept_states(old.dataflow.operators.items()))
    afters = list(kept_states(new.dataflow.operators.items()))
    if len(befores) != len(afters):
        return None
    ground = {}
    for (before, was), (after, state) in zip(befores, afters, strict=True):
        if before not in running or type(was) is not type(state) or was.trace.width != state.trace.width:
            return None
        ground[after] = TraceGround.of(running[before].trace)
    return ground
