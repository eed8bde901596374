"""The files of a side advance: its state, and what it adds to histories at the epoch at which it joins.

A history must not show the advance before that epoch, and keeps all epochs apart. So the advance's own
history does not take its place. Both histories have grown from the same ground; at the epoch of the join the
running one changes by the difference of what they have added since,

    F(S + d + L) - F(S + d) = (F(S + d + L) - F(S)) - (F(S + d) - F(S)),

which costs L and d, whatever the size of S. Arrangements do not tell past epochs apart: the advance's take
the place of the running ones.

All of it is written at an epoch that is still to come, and written again if that passes before the join. What
comes between the last writing and the join is written apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from engine.kernels.arrange import arrange
from engine.operators.arrangement import Arrangement
from engine.operators.failure_log import FailureLog
from engine.operators.history import History
from engine.operators.operator import NO_ROUNDS
from engine.runtime.rewriting import Captured, rewrite
from engine.runtime.side_advance import SideAdvance, check_same
from engine.state.layer import Layer
from engine.state.snapshot import Snapshot
from engine.state.store.directory import StateDirectory, Writing


class SideFiles:
    """Writes a side advance to files in `directory`, divided into `shards`."""

    def __init__(self, aside: SideAdvance, directory: StateDirectory, shards: int) -> None:
        self.directory = directory
        self.shards = shards
        self.added: dict[str, tuple[Layer, ...]] = {}
        """What the advance adds to histories and failure logs at `epoch`, by fingerprint."""
        self.epoch = 0
        self._aside = aside
        self._written: dict[str, tuple[Layer, ...]] = {}
        self._until: Snapshot = aside.snapshot

    def write(self, epoch: int) -> None:
        """Write everything, for a join at `epoch`."""
        aside = self._aside
        self.epoch = epoch
        self.added = {}
        self._written = {name: aside.ground.traces[name].layers for name, _ in aside.reached()}
        self._until = aside.snapshot
        self.write_rest()

    def write_rest(self) -> None:
        """Write what the advance has got since it was last written."""
        known = self._aside.known
        with self.directory.writing() as writing:
            for name, state in self._aside.reached():
                if isinstance(state, FailureLog):
                    continue  # see `write_failures`
                if isinstance(state, History):
                    self._add(name, state, self._taken_back(state, known), writing)
                    self._written[name] = state.trace.capture()
                else:
                    self._write_state(name, state, writing)
        self._until = known

    def write_failures(self, running: Mapping[str, Arrangement]) -> None:
        """Write what the advance adds to the running failure logs, which must have the same snapshot."""
        first = self._aside.snapshot.upper
        with self.directory.writing() as writing:
            for name, state in self._aside.reached():
                log = running.get(name)
                if isinstance(state, FailureLog) and log is not None:
                    self.added.pop(name, None)
                    batches = log.trace.batches()
                    taken_back = [_negated(batch[batch[:, -2] >= first]) for batch in batches]
                    self._add(name, state, taken_back, writing)

    def _add(self, name: str, state: Arrangement, taken_back: Iterable[np.ndarray], writing: Writing) -> None:
        """Write what a state has got since it was last written, without what the running one has got."""
        known = set(map(id, self._written[name]))
        batches = [layer.rows for layer in state.trace.layers() if id(layer) not in known]
        batches += [batch for batch in taken_back if len(batch)]
        rows = state.trace.settled(batches, self.epoch)
        if len(rows):
            captured = Captured(name, state, state.trace, (Layer(rows),), self.epoch)
            made = rewrite(captured, self.directory, writing, self.shards).made
            self.added[name] = (*self.added.get(name, ()), *made)

    def _taken_back(self, history: History, known: Snapshot) -> list[np.ndarray]:
        """What the running history has got since the last writing, negated."""
        old, new = (snapshot.relations.get(history.name) for snapshot in (self._until, known))
        if new is None or new is old or new.failure is not None:
            return []
        check_same(history.name, self._until, known)
        words, diffs = known.net_changes(history.name, self._until.upper - 1, known.upper - 1)
        delta = np.vstack((words, np.full(len(diffs), self.epoch, np.int64), -diffs))
        order = np.array([*new.order, len(new.order)], np.int64)
        return [arrange(np.ascontiguousarray(delta), order, NO_ROUNDS)]

    def _write_state(self, name: str, state: Arrangement, writing: Writing) -> None:
        """Put files in the place of what an arrangement has in memory only."""
        if all(layer.file is not None for layer in state.trace.layers()):
            return
        rewrite(Captured.of(name, state), self.directory, writing, self.shards).install()


def _negated(batch: np.ndarray) -> np.ndarray:
    negated = batch.copy()
    negated[:, -1] = -negated[:, -1]  # numpy 2.4 negates every second one in place if rows have 64 bytes
    return negated
