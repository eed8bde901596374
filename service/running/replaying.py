"""Replaying: the log is fed to the engine in passes of many epochs each.

Any chopping of history gives the same answer. A pass is limited because its memory grows with its epochs.
What a view may use is for one epoch, so a pass for which a view needs more is divided: a view fails only by
an epoch that is too much alone, as it did before the restart.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from engine.errors import PassTooLarge
from engine.runtime.engine import Engine

TOGETHER = 2_000
"""The most epochs of one pass."""
_PARTS = 32


def replay(
    engine: Engine, deltas: Mapping[str, np.ndarray], upper: int, together: int = TOGETHER
) -> set[str]:
    """Publishes the epochs up to, not including, `upper`; `deltas` have all changes from the engine's epoch
    on, by source. Returns the views that have needed more than an epoch may give."""
    ordered = {
        name: np.ascontiguousarray(delta[:, np.argsort(delta[-2], kind="stable")])
        for name, delta in deltas.items()
    }
    return _feed(engine, ordered, upper, together)


def _feed(engine: Engine, deltas: Mapping[str, np.ndarray], upper: int, together: int) -> set[str]:
    over_budget: set[str] = set()
    for first in range(engine.snapshot.upper, upper, together):
        until = min(first + together, upper)
        try:
            stage = engine.stage(_between(deltas, first, until), until, gives_up=until - first == 1)
            stage.publish()
            over_budget |= stage.over_budget
        except PassTooLarge:
            over_budget |= _feed(engine, deltas, until, -(-(until - first) // _PARTS))
    return over_budget


def _between(deltas: Mapping[str, np.ndarray], first: int, until: int) -> dict[str, np.ndarray]:
    """The part of deltas, which are ordered by epoch, from `first` to before `until`."""
    parts = {
        name: delta[:, slice(*np.searchsorted(delta[-2], (first, until)))] for name, delta in deltas.items()
    }
    return {name: part for name, part in parts.items() if part.shape[1]}
