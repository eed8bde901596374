"""The rows of sources that a query can use, found column by column before it is computed.

Conditions of one scan come first. Then, from the scan with the fewest rows on, each leaves to those that have
to share values with it the rows that do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from engine.codec.python import encode_row
from engine.plan.expressions import Expression, Parameter, columns_of, renumbered
from engine.plan.nodes import Source
from engine.plan.plan_templates import bound
from engine.scalar.program import ScalarProgram
from engine.schema import Column, Schema, Type
from engine.state.dictionary import Dictionary
from engine.state.reading import Rows
from planner.evidence.scan_links import ScannedSource

_FEW = 8
"""Values that are sought one after the other."""
_SHARE = 8
"""A scan is worth asking for its values if it has so many times fewer rows."""
NOTHING = np.empty(0, np.int64)


@dataclass(frozen=True, eq=False)
class SourceRows:
    """The rows of a source: at each position a line of the words int64[W, n], or the rows' places."""

    words: np.ndarray
    counts: np.ndarray
    lines: tuple[int | None, ...]

    @staticmethod
    def of(rows: Rows) -> SourceRows:
        """Rows that have all columns of the source, in order."""
        words, counts = rows
        return SourceRows(words, counts, tuple(range(len(words))))

    def column(self, position: int) -> np.ndarray:
        line = self.lines[position]
        return np.arange(len(self.counts)) if line is None else self.words[line]

    def delta(self, positions: Sequence[int], kept: np.ndarray | None, epoch: int) -> np.ndarray:
        """Some columns of the kept rows, all without `kept`, as a delta of one epoch."""
        count = len(self.counts) if kept is None else len(kept)
        delta = np.empty((len(positions) + 2, count), np.int64)
        for line, position in enumerate(positions):
            column = self.column(position)
            delta[line] = column if kept is None else column[kept]
        delta[-2] = epoch
        delta[-1] = self.counts if kept is None else self.counts[kept]
        return delta


Picked = dict[Source, np.ndarray | None]
"""The places, in order, of some rows of each source; None for all."""


def add(picked: Picked, source: Source, kept: np.ndarray | None) -> None:
    """Picks more rows of a source."""
    other = picked.get(source, NOTHING)
    if kept is None or other is None:
        picked[source] = None
    elif not len(kept) or not len(other):
        picked[source] = kept if len(kept) else other
    else:
        picked[source] = _either(other, kept)


def _either(places: np.ndarray, others: np.ndarray) -> np.ndarray:
    """The places of both, in order; there are some of either."""
    is_there = np.zeros(max(int(places[-1]), int(others[-1])) + 1, bool)
    is_there[places] = is_there[others] = True
    return np.flatnonzero(is_there)


def _distinct(words: np.ndarray) -> np.ndarray:
    """The words once each, in order; `numpy.unique` hashes them, and takes seconds for some numbers."""
    words = np.sort(words)
    return words[np.concatenate((np.ones(min(len(words), 1), bool), words[1:] != words[:-1]))]


class Picking:
    """Picks rows for the scans of one query, whose parameters have the `values`."""

    def __init__(
        self,
        scans: Sequence[ScannedSource],
        rows: Mapping[Source, SourceRows],
        values: Mapping[int, object],
        dictionary: Dictionary,
    ) -> None:
        self._scans = scans
        self._rows = [rows[scan.source] for scan in scans]
        self._values = values
        self._dictionary = dictionary
        self._kept: list[np.ndarray | None] = [None] * len(scans)

    def picked(self) -> Picked:
        """The rows of each source that one of its scans can use."""
        for number, scan in enumerate(self._scans):
            for position, value in scan.values:
                given = self._values[value.number] if isinstance(value, Parameter) else value.value
                self._keep_values(number, position, np.array([word_of(given, value.type, self._dictionary)]))
            for condition in scan.conditions:
                self._keep_true(number, condition)  # type: ignore[arg-type]
        self._share()
        found: Picked = {}
        for scan, kept in zip(self._scans, self._kept, strict=True):
            add(found, scan.source, kept)
        return found

    def _share(self) -> None:
        """From the fewest rows to the most, each leaves the others only rows with values that it has."""
        waiting = set(range(len(self._scans)))
        while waiting:
            source = min(waiting, key=self._size)
            waiting.remove(source)
            for number in waiting:
                for position, (other, place) in self._scans[number].links:
                    if other == source and _SHARE * self._size(source) <= self._size(number):
                        self._keep_values(number, position, _distinct(self._column(source, place)))

    def _size(self, number: int) -> int:
        kept = self._kept[number]
        return len(self._rows[number].counts) if kept is None else len(kept)

    def _column(self, number: int, position: int) -> np.ndarray:
        kept, column = self._kept[number], self._rows[number].column(position)
        return column if kept is None else column[kept]

    def _keep_values(self, number: int, position: int, words: np.ndarray) -> None:
        """Keeps the rows that have one of the words, which are sorted, at a position."""
        self._keep(number, _is_in(self._column(number, position), words))

    def _keep_true(self, number: int, condition: Expression) -> None:
        """Keeps the rows that meet a condition over positions."""
        positions = sorted(columns_of(condition))
        bare = renumbered(condition, {position: i for i, position in enumerate(positions)})
        program = ScalarProgram((bound(bare, self._values),), self._dictionary)
        words, failures = program(np.stack([self._column(number, it) for it in positions]))
        if failures is None:
            self._keep(number, words[0] == 1)

    def _keep(self, number: int, fits: np.ndarray) -> None:
        found, kept = np.flatnonzero(fits), self._kept[number]
        self._kept[number] = found if kept is None else kept[found]


def word_of(value: object, type: Type, dictionary: Dictionary) -> int:
    """The word of a value."""
    return encode_row([value], Schema((Column("value", type),)), dictionary)[0]


def _is_in(column: np.ndarray, words: np.ndarray) -> np.ndarray:
    """Which of the column's words are one of the others, which are sorted."""
    if len(words) <= _FEW:
        fits = np.zeros(len(column), bool)
        for word in words:
            fits |= column == word
        return fits
    if int(words[-1]) - int(words[0]) < max(len(column), 1 << 16):
        return np.isin(column, words, kind="table")
    places = np.minimum(np.searchsorted(words, column), len(words) - 1)
    return words[places] == column
