"""Why a row has changed: the epochs in which it came or went, each with the changes of tables that did it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from engine.operators.allowance import Spending
from engine.plan.nodes import sources_of
from service.definitions.definition import Definition
from service.derivations.why import AskedEpoch, Why

MOST_EPOCHS = 20
"""The most epochs that are looked at, the newest ones."""


@dataclass(frozen=True, eq=False)
class MovedRow:
    """A row became `diff` more at an epoch. `changes` has deltas int64[W + 2, n] by table: of those rows of
    the table that the view's row follows from or, if none of these has changed, of all that changed."""

    epoch: int
    diff: int
    changes: dict[str, np.ndarray]


def moved(
    asked: AskedEpoch, view: Definition, words: np.ndarray, epochs: tuple[int, int], spending: Spending
) -> list[MovedRow]:
    """How often a row int64[W] has changed at the epochs after the first up to the second, oldest first."""
    delta = asked.snapshot.changes(view.name, *epochs)
    mine = delta[-2:, (delta[:-2] == words[:, np.newaxis]).all(axis=0)]
    found = [MovedRow(epoch, diff, {}) for epoch, diff in mine.T.tolist()]
    found = found[-MOST_EPOCHS:]
    return [replace(it, changes=dict(_changes(asked, view, words, it, spending))) for it in found]


def _changes(
    asked: AskedEpoch, view: Definition, words: np.ndarray, row: MovedRow, spending: Spending
) -> Iterator[tuple[str, np.ndarray]]:
    at = row.epoch if row.diff > 0 else row.epoch - 1
    tables = Why(replace(asked, epoch=at), spending).of_view(view, words).tables()
    every: dict[str, np.ndarray] = {}
    found: dict[str, np.ndarray] = {}
    for name in sorted(source.name for source in sources_of(view.relation.plan)):
        if name not in asked.snapshot.relations:
            continue
        delta = asked.snapshot.changes(name, row.epoch - 1, row.epoch)
        if delta.shape[1]:
            every[name] = delta
            known = tables.get(name, {})
            kept = np.array([tuple(it) in known for it in delta[:-2].T.tolist()], bool)
            if kept.any():
                found[name] = delta[:, kept]
    yield from (found or every).items()
