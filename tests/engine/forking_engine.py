"""An engine that is forked again and again: its forks get the same changes, and must agree with it."""

from __future__ import annotations

import random
from collections.abc import Mapping

import numpy as np

from engine.errors import EpochError
from engine.runtime.engine import Engine, Stage
from engine.runtime.forking import forked
from engine.runtime.options import DEFAULTS, Options

_FAR = 10**12
_MOST = 2
"""Forks at a time."""


class Forking(Engine):
    """A fork begins with the newest epoch or an earlier one, and may be the fork of a fork. `compared` counts
    relations of forks that were compared."""

    def __init__(self, rng: random.Random, options: Options = DEFAULTS) -> None:
        super().__init__(options)
        self._rng = rng
        self._forked: list[Engine] = []
        self._given: tuple[Mapping[str, np.ndarray], int] = ({}, 0)
        self._numbers = 0
        self.compared = 0

    def stage(self, deltas: Mapping[str, np.ndarray], upper: int) -> Stage:  # type: ignore[override]
        self._given = deltas, self.snapshot.upper
        return super().stage(deltas, upper)

    def _publish(self, stage: Stage) -> None:
        super()._publish(stage)
        deltas, before = self._given
        self._forked = [fork for fork in self._forked if fork.snapshot.relations.keys() == self._names]
        for fork in self._forked:
            _advance(fork, deltas, fork.snapshot.upper - before, self.snapshot.upper - before)
            self._compare(fork)
        if len(self._forked) < _MOST and self._rng.random() < 0.4 and self._registry.sources:
            self._forked.append(self._new())
        elif self._forked and self._rng.random() < 0.2:
            self._forked.pop(0)

    @property
    def _names(self) -> set[str]:
        return set(self.snapshot.relations)

    def _new(self) -> Engine:
        """A fork of the newest state, or of an earlier epoch that then gets what has come since."""
        newest = self.snapshot.upper - 1
        epoch = self._rng.choice([newest, self._rng.randint(max(0, newest - 5), newest)])
        sources = list(self._registry.sources)
        plans = {name: view.plan for name, view in self._registry.views.items()}
        try:
            fork = self.fork(sources, plans, epoch)
        except EpochError:
            fork, epoch = self.fork(sources, plans), newest
        self._numbers += 1
        made = forked(fork, self._numbers * _FAR, DEFAULTS)
        self.discard(fork)
        if self._rng.random() < 0.3:
            self._numbers += 1
            made = forked(made.fork(sources, plans), self._numbers * _FAR, DEFAULTS)
        since = {name: self.snapshot.changes(name, epoch, newest) for name in sources}
        _advance(made, since, made.snapshot.upper - epoch - 1, newest - epoch)
        self._compare(made)
        return made

    def _compare(self, fork: Engine) -> None:
        """A view that failed must have failed in both."""
        ours, theirs = self.snapshot, fork.snapshot
        for name in theirs.relations:
            assert (ours.failure(name) is None) == (theirs.failure(name) is None), name
            if ours.failure(name) is None:
                assert all(map(np.array_equal, ours.rows(name), theirs.rows(name))), name
                assert sorted(ours.errors(name)) == sorted(theirs.errors(name)), name
                self.compared += 1


def _advance(fork: Engine, deltas: Mapping[str, np.ndarray], ahead: int, epochs: int) -> None:
    """Give a fork the same changes at its own epochs."""
    moved = {}
    for name, delta in deltas.items():
        moved[name] = np.array(delta, order="C")
        moved[name][-2] += ahead
    fork.stage(moved, fork.snapshot.upper + epochs).publish()
