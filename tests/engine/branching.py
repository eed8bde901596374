"""An engine that computes some of its epochs on branches, which began one epoch or more before."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from engine.runtime.branch import Branch, Outdated, ViewLost
from engine.runtime.branch_files import BranchFiles
from engine.runtime.engine import Engine, Stage
from engine.runtime.execution import Declined, Executor
from engine.runtime.options import DEFAULTS, Options
from engine.state.snapshot import Snapshot
from engine.state.store.directory import StateDirectory

FEW_SHARDS = (1, 3)


class Branching(Engine):
    """An epoch joins if it is valid over the state with which its branch began: no row has a negative count
    there, and no key has two rows. `executor` computes some of the branches.

    `joined` counts epochs of branches, and `behind` those that had to catch up.
    """

    def __init__(
        self, rng: random.Random, path: Path, executor: Executor | None = None, options: Options = DEFAULTS
    ) -> None:
        super().__init__(options)
        self._rng = rng
        self._executor = executor
        self._directory = StateDirectory(path) if executor is None else executor.directory
        self._waiting: Branch | None = None
        self.joined = 0
        self.behind = 0

    def stage(self, deltas: Mapping[str, np.ndarray], upper: int) -> Stage:  # type: ignore[override]
        branch, self._waiting = self._waiting, None
        if branch is not None:
            stage = self._staged_branch(branch, deltas, upper)
            self.leave(branch)
            if stage is not None and self._rng.random() < 0.8:
                return stage
            if stage is not None:
                stage.abort()
        elif self._rng.random() < 0.3:
            branch = self.begin_branch(*deltas)
            stage = self._staged_branch(branch, deltas, upper)
            self.leave(branch)
            if stage is not None:
                return stage
        if self._rng.random() < 0.8:
            tables = sorted(self._registry.sources)
            if self._rng.random() < 0.3:
                tables = self._rng.sample(tables, self._rng.randrange(len(tables)) + 1)
            self._waiting = self.begin_branch(*tables)
        return super().stage(deltas, upper)

    def _staged_branch(self, branch: Branch, deltas: Mapping[str, np.ndarray], upper: int) -> Stage | None:
        changed = {name: delta for name, delta in deltas.items() if delta.shape[1]}
        if not changed.keys() <= set(branch.tables) or upper != self.snapshot.upper + 1:
            return None
        if not all(
            _is_valid(branch.snapshot, name, delta, branch.sources[name].table.key)
            for name, delta in changed.items()
        ):
            return None
        try:
            self._compute(branch, changed)
            if self._rng.random() < 0.5:
                branch.catch_up(self.snapshot)
            files = BranchFiles(branch, self._directory, self._rng.choice(FEW_SHARDS))
            files.write(self._rng.choice((1, upper - 1)))
            files.write(upper - 1)
            stage = self.join(branch, files)
        except (Outdated, ViewLost):  # the running dataflow has to find out which view fails
            return None
        self.joined += 1
        self.behind += upper - 1 > branch.snapshot.upper
        return stage

    def _compute(self, branch: Branch, changed: Mapping[str, np.ndarray]) -> None:
        if self._executor is not None and self._rng.random() < 0.6:
            try:
                branch.compute_on(self._executor, changed, {})
                return
            except Declined:
                pass
        branch.compute(changed)


def _is_valid(snapshot: Snapshot, name: str, delta: np.ndarray, key: tuple[int, ...] | None) -> bool:
    """Whether a table's rows have positive counts, and keys of their own, once `delta` is made."""
    words, counts = snapshot.rows(name)
    rows, place = np.unique(np.concatenate((words, delta[:-2]), axis=1), axis=1, return_inverse=True)
    held = np.bincount(place.ravel(), np.concatenate((counts, delta[-1])), rows.shape[1])
    if (held < 0).any():
        return False
    keys = rows[list(key)][:, held > 0] if key is not None else rows[:, :0]
    return key is None or np.unique(keys, axis=1).shape[1] == keys.shape[1]
