"""How the rows of a view differ under its new plan: the difference of two collections at one epoch.

It is computed once, over all rows of both, and then follows their changes. Any thread may compute it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.operators.linear import as_batch
from engine.runtime.succession import Past, Succession, placed
from engine.schema import keeps_words
from engine.state.layer import Layer
from engine.state.reading import Rows
from engine.state.snapshot import RelationSnapshot, Snapshot
from service.changes.resolve import sum_rows
from service.definitions.planned_replacement import ReplacedView

LITTLE = 1_000
"""Differences that the writer may read itself when it applies a replacement."""


@dataclass(frozen=True, eq=False)
class ReplacedRows:
    """The difference of a view at an epoch of `snapshot`, mostly the newest: words int64[W, n] of the new
    columns, sorted, and counts int64[n].

    The old rows have NULL for columns that they lack or that have another type. With `goes_on`, the history
    goes on from the old rows, and `layers` has them in the new columns if these are not the old ones.
    """

    view: ReplacedView
    snapshot: Snapshot
    epoch: int
    words: np.ndarray
    counts: np.ndarray
    goes_on: bool
    layers: tuple[Layer, ...] | None

    @staticmethod
    def of(view: ReplacedView, snapshot: Snapshot, epoch: int | None = None) -> ReplacedRows:
        """The difference over all rows, by default at the newest epoch. Only for a view with another plan,
        which is maintained."""
        places, old = view.places, _maintained(view, snapshot)
        goes_on = places is not None and old is not None and not old.errors
        layers = None
        if old is not None and places is not None and places != tuple(range(len(old.schema))):
            layers = Past(old, snapshot.upper, places).layers()
        epoch = snapshot.upper - 1 if epoch is None else epoch
        before = None if old is None else old.rows(epoch)
        after = snapshot.rows(view.hidden or "", epoch)
        return ReplacedRows(view, snapshot, epoch, *_less(view, after, before), goes_on, layers)

    @property
    def is_newest(self) -> bool:
        """Whether it is the difference at the newest epoch of its snapshot."""
        return self.epoch == self.snapshot.upper - 1

    def at(self, snapshot: Snapshot) -> ReplacedRows:
        """The difference at a newer snapshot. Costs the changes since, or all if these are not kept."""
        since, until, view = self.epoch, snapshot.upper - 1, self.view
        old = _maintained(view, snapshot)
        kept = [snapshot.since(view.hidden or ""), 0 if old is None else old.since]
        if since < max(kept) or (old is None) != (_maintained(view, self.snapshot) is None):
            return ReplacedRows.of(view, snapshot)
        before = None if old is None else old.net_changes(since, until)
        after = snapshot.net_changes(view.hidden or "", since, until)
        words, counts = _less(view, after, before)
        layers = self.layers
        if layers is not None and old is not None:
            delta = old.changes(since, until)
            batch = as_batch(np.vstack((placed(delta[:-2], view.places or ()), delta[-2:])))
            layers = (*layers, *([Layer(batch)] if len(batch) else ()))
        words, counts = sum_rows(
            np.concatenate((self.words, words), axis=1), np.concatenate((self.counts, counts))
        )
        goes_on = self.goes_on and old is not None and not old.errors
        return ReplacedRows(view, snapshot, until, words, counts, goes_on, layers)

    def is_near(self, snapshot: Snapshot) -> bool:
        """Whether little has changed until a newer snapshot."""
        since, until = self.epoch, snapshot.upper - 1
        names = (self.view.name, self.view.hidden or "")
        there = [snapshot.relations[name] for name in names if name in snapshot.relations]
        return all(since >= it.since and it.stretch(since, until, LITTLE) >= until for it in there)

    def succession(self) -> Succession:
        """How the view goes on from the newest epoch of the snapshot on."""
        view, snapshot, epoch = self.view, self.snapshot, self.epoch
        difference = np.vstack((self.words, self.counts))
        if not self.goes_on:
            new = snapshot.relations[view.hidden or ""]
            return Succession(view.name, view.hidden or "", epoch, new.layers, epoch, difference[:, :0])
        old = snapshot.relations[view.name]
        layers = old.layers if self.layers is None else self.layers
        return Succession(view.name, view.hidden or "", epoch, layers, old.since, difference)


def _maintained(view: ReplacedView, snapshot: Snapshot) -> RelationSnapshot | None:
    """The old rows, unless the view has failed."""
    old = snapshot.relations.get(view.name)
    return None if old is None or old.failure is not None else old


def _less(view: ReplacedView, after: Rows, before: Rows | None) -> Rows:
    if before is None:
        return after
    names = view.old.schema.names
    types = dict(zip(names, view.old.schema.types, strict=True))
    places = [
        names.index(c.name) if c.name in names and keeps_words(types[c.name], c.type) else -1
        for c in view.new.schema.columns
    ]
    words = np.concatenate((placed(before[0], places), after[0]), axis=1)
    return sum_rows(words, np.concatenate((-before[1], after[1])))
