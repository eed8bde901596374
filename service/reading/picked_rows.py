"""Which rows of its relations a query is given: those that it demands, where a path leads to them.

Relations are taken one after another. First come those whose conditions name values; then those whose columns
equal columns of relations that were taken before, whose rows give the values; then those with bounds. If no
path leads further, a relation with few rows is taken whole, since its rows may lead to others. The same order
tells EXPLAIN how each relation would be read.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache

import numpy as np

from engine.kernels.words import NULL
from engine.state.dictionary import Dictionary
from engine.state.reading import Rows
from engine.state.snapshot import Snapshot
from planner.adhoc.adhoc_query import SnapshotReference
from planner.adhoc.demanded_rows import ColumnLink
from service.definitions.access_paths import ways
from service.definitions.definition import Definition
from service.reading.demanded_words import both, bounded_words, equated_words
from service.reading.finding import MANY, MOST_KEYS, Words, find_rows

FEW = MOST_KEYS
"""The most rows of a relation that is taken whole because it may lead to others."""


_WORTH = 4096
"""Differences of a relation that a lookup by ranges or by others' rows may always read. Beyond them it may
read a quarter of the relation's rows: to read the whole costs less than to find most of it."""


class PickStep(enum.IntEnum):
    """What a relation's rows are found by: values, the rows of others too, or bounds too."""

    VALUES = 0
    ROWS = 1
    BOUNDS = 2


Attempt = Callable[[SnapshotReference, PickStep, Sequence[ColumnLink]], bool]
"""Whether a relation can be taken at a step, with those of its links whose sources were taken."""


def take(
    references: Iterable[SnapshotReference], attempt: Attempt, size: Callable[[SnapshotReference], int]
) -> list[str]:
    """The aliases of the references that are not taken by a path, in the order in which they are taken
    whole. Each attempt that succeeds takes a reference."""
    waiting = list(references)
    taken: set[object] = set()
    whole: list[str] = []
    tried: set[tuple] = set()

    def succeeds(reference: SnapshotReference, step: PickStep) -> bool:
        links = [link for link in reference.demanded.links if link.source in taken]
        trial = (reference.alias, step, len(links) if step else 0)
        if not reference.demanded or trial in tried or (step is PickStep.ROWS and not links):
            return False
        tried.add(trial)
        return attempt(reference, step, links if step > PickStep.VALUES else ())

    while waiting:
        found = next((r for step in PickStep for r in waiting if succeeds(r, step)), None)
        if found is None:
            found = min(waiting, key=lambda r: (not _leads(r, waiting), size(r)))
            whole.append(found.alias)
            if size(found) > FEW:
                waiting.remove(found)
                continue
        waiting.remove(found)
        taken.add(found.alias)
    return whole


def _leads(reference: SnapshotReference, waiting: Collection[SnapshotReference]) -> bool:
    """Whether other references take values from this one."""
    return any(link.source == reference.alias for r in waiting for link in r.demanded.links)


class PickedRows:
    """The rows of references at their `epochs`, by their aliases; None is the newest epoch.

    Only relations that are not `changed` are as the snapshot has them. `whole` reads all rows of a relation.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        definitions: Mapping[str, Definition],
        dictionary: Dictionary,
        epochs: Mapping[str, int | None],
        changed: Collection[str],
        whole: Callable[[str, int | None], Rows],
    ) -> None:
        self._snapshot = snapshot
        self._definitions = definitions
        self._dictionary = dictionary
        self._epochs = epochs
        self._changed = changed
        self._whole = cache(whole)
        self._references: dict[object, SnapshotReference] = {}
        self._found: dict[str, Rows] = {}

    def of(self, references: Sequence[SnapshotReference]) -> dict[str, Rows]:
        """The rows of each reference that matter, by its alias."""
        self._references = {reference.alias: reference for reference in references}
        take(references, self._attempt, self._size)
        return {reference.alias: self._rows(reference) for reference in references}

    def _rows(self, reference: SnapshotReference) -> Rows:
        found = self._found.get(reference.alias)
        return found or self._whole(reference.relation, self._epochs[reference.alias])

    def _size(self, reference: SnapshotReference) -> int:
        return self._snapshot.relations[reference.relation].size

    def _attempt(self, reference: SnapshotReference, step: PickStep, links: Sequence[ColumnLink]) -> bool:
        name, demand = reference.relation, reference.demanded
        if name in self._changed:
            return False
        definition = self._definitions[name]
        types = definition.schema.types
        words: Words = equated_words(demand.equations, types, self._dictionary)
        for link in links:
            words = both(words, self._linked(link))
        bounds = bounded_words(demand.bounds, types, self._dictionary) if step is PickStep.BOUNDS else {}
        paths = ways(definition.paths, words, bounds)
        if not paths:
            return False
        most = MANY if step is PickStep.VALUES else min(MANY, max(_WORTH, self._size(reference) // 4))
        epoch = self._epochs[reference.alias]
        found = find_rows(self._snapshot, name, paths, words, epoch, most, None, bounds)
        if found is not None:
            self._found[reference.alias] = found
        return found is not None

    def _linked(self, link: ColumnLink) -> Words:
        """The words of the column that a link names; none if they are too many."""
        words, _ = self._rows(self._references[link.source])
        found = np.unique(words[link.other])
        return {} if len(found) > MOST_KEYS else {link.column: found[found != NULL].tolist()}
