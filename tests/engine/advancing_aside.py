"""An engine that computes some of its epochs as side advances, which began one epoch or more before."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from engine.runtime.engine import Engine, Stage
from engine.runtime.execution import Declined, Executor
from engine.runtime.options import DEFAULTS, Options
from engine.runtime.side_advance import Outdated, SideAdvance, ViewLost
from engine.runtime.side_files import SideFiles
from engine.state.snapshot import Snapshot
from engine.state.store.directory import StateDirectory

FEW_SHARDS = (1, 3)


class AdvancingAside(Engine):
    """An epoch joins if it is valid over the state with which its advance began: no row has a negative count
    there, and no key has two rows. `executor` computes some of the advances.

    `joined` counts epochs of side advances, and `behind` those that had to catch up.
    """

    def __init__(
        self, rng: random.Random, path: Path, executor: Executor | None = None, options: Options = DEFAULTS
    ) -> None:
        super().__init__(options)
        self._rng = rng
        self._executor = executor
        self._directory = StateDirectory(path) if executor is None else executor.directory
        self._waiting: SideAdvance | None = None
        self.joined = 0
        self.behind = 0

    def stage(self, deltas: Mapping[str, np.ndarray], upper: int) -> Stage:  # type: ignore[override]
        aside, self._waiting = self._waiting, None
        if aside is not None:
            stage = self._staged_aside(aside, deltas, upper)
            self.discard(aside)
            if stage is not None and self._rng.random() < 0.8:
                return stage
            if stage is not None:
                stage.abort()
        elif self._rng.random() < 0.3:
            aside = self.begin_aside(*deltas)
            stage = self._staged_aside(aside, deltas, upper)
            self.discard(aside)
            if stage is not None:
                return stage
        if self._rng.random() < 0.8:
            tables = sorted(self._registry.sources)
            if self._rng.random() < 0.3:
                tables = self._rng.sample(tables, self._rng.randrange(len(tables)) + 1)
            self._waiting = self.begin_aside(*tables)
        return super().stage(deltas, upper)

    def _staged_aside(self, aside: SideAdvance, deltas: Mapping[str, np.ndarray], upper: int) -> Stage | None:
        changed = {name: delta for name, delta in deltas.items() if delta.shape[1]}
        if not changed.keys() <= set(aside.tables) or upper != self.snapshot.upper + 1:
            return None
        if not all(
            _is_valid(aside.snapshot, name, delta, aside.sources[name].table.key)
            for name, delta in changed.items()
        ):
            return None
        try:
            self._compute(aside, changed)
            if self._rng.random() < 0.5:
                aside.catch_up(self.snapshot)
            files = SideFiles(aside, self._directory, self._rng.choice(FEW_SHARDS))
            files.write(self._rng.choice((1, upper - 1)))
            files.write(upper - 1)
            stage = self.join(aside, files)
        except (Outdated, ViewLost):  # the running dataflow has to find out which view fails
            return None
        self.joined += 1
        self.behind += upper - 1 > aside.snapshot.upper
        return stage

    def _compute(self, aside: SideAdvance, changed: Mapping[str, np.ndarray]) -> None:
        if self._executor is not None and self._rng.random() < 0.6:
            try:
                aside.compute_on(self._executor, changed, {})
                return
            except Declined:
                pass
        aside.compute(changed)


def _is_valid(snapshot: Snapshot, name: str, delta: np.ndarray, key: tuple[int, ...] | None) -> bool:
    """Whether a table's rows have positive counts, and keys of their own, once `delta` is made."""
    words, counts = snapshot.rows(name)
    rows, place = np.unique(np.concatenate((words, delta[:-2]), axis=1), axis=1, return_inverse=True)
    held = np.bincount(place.ravel(), np.concatenate((counts, delta[-1])), rows.shape[1])
    if (held < 0).any():
        return False
    keys = rows[list(key)][:, held > 0] if key is not None else rows[:, :0]
    return key is None or np.unique(keys, axis=1).shape[1] == keys.shape[1]
