"""The steps of a multijoin's path, as kernels take them, linked from first to last.

Lines are a delta, int64[W + 2, n]; their *layout* says which attribute each word is. A step takes lines of
one layout to lines of another, and `then` is the next step. A path reads the tables in `tables`; a step has
the number of the table it reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from engine.errors import JoinTooLarge
from engine.kernels.arrange import arrange
from engine.kernels.candidates import count_rows, propose, take_fewer
from engine.kernels.join import MOST_PAIRS, join
from engine.operators.operator import NO_ROUNDS

Layout = tuple[int, ...]

_MANY = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Lookup:
    """Where lines of `layout` are looked up: in the table numbered `table`, by its first `key` words.

    `words` are the attributes of an arrangement's words, whose rows have `depth` rounds.
    """

    table: int
    key: int
    words: Layout
    depth: int
    layout: Layout

    @property
    def rows(self) -> list[int]:
        """The words of the line that are looked up."""
        return [self.layout.index(attribute) for attribute in self.words[: self.key]]


class Meeting:
    """Joins lines with the rows that have their key; the result's words are those of `layout`."""

    def __init__(self, lookup: Lookup, layout: Layout, then: Step | None) -> None:
        self.then = then
        self._lookup = lookup
        kept = [a for a in lookup.layout if a in layout and a not in lookup.words[: lookup.key]]
        carried = (*lookup.words[: lookup.key], *kept)
        self._words = len(carried)
        self._width = len(lookup.words)
        rows = [lookup.layout.index(attribute) for attribute in carried]
        self._order = np.array([*rows, len(lookup.layout)], np.int64)
        self._columns = np.array(
            [carried.index(a) if a in carried else ~lookup.words.index(a) for a in layout], np.int64
        )

    def __call__(
        self, lines: np.ndarray, tables: list[np.ndarray], rounds: np.ndarray, masks: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """The lines at the step's `rounds`, and those that belong to later rounds: [W + d + 2, n]."""
        lookup = self._lookup
        batch = arrange(lines, self._order, NO_ROUNDS)
        table = tables[lookup.table]
        now, later, excess = join(
            batch, self._words, table, lookup.key, self._width, lookup.depth, rounds, self._columns, masks
        )
        if excess:
            raise JoinTooLarge.of(excess, MOST_PAIRS)
        return now, later


class Checking:
    """Keeps the lines whose key exists."""

    def __init__(self, lookup: Lookup, then: Step | None) -> None:
        self.then = then
        self._table = lookup.table
        self._rows = np.array(lookup.rows, np.int64)

    def __call__(
        self, lines: np.ndarray, tables: list[np.ndarray], rounds: np.ndarray, masks: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray | None]:
        return _some(lines, count_rows(lines, self._rows, tables[self._table]) > 0), None


class Proposing:
    """Joins lines with the distinct values of the word after the key; appends that word to the layout."""

    def __init__(self, lookup: Lookup, attribute: int, then: Step | None) -> None:
        self.then = then
        self._table = lookup.table
        self._rows = np.array(lookup.rows, np.int64)
        self._word = lookup.words.index(attribute)

    def __call__(
        self, lines: np.ndarray, tables: list[np.ndarray], rounds: np.ndarray, masks: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray | None]:
        return propose(lines, self._rows, tables[self._table], self._word), None


class Selecting:
    """Rearranges lines into another layout."""

    then: Step | None = None
    """It is the last step."""

    def __init__(self, before: Layout, after: Layout) -> None:
        words = len(before)
        self._rows = np.array([*(before.index(a) for a in after), words, words + 1], np.int64)

    def __call__(
        self, lines: np.ndarray, tables: list[np.ndarray], rounds: np.ndarray, masks: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray | None]:
        return lines[self._rows], None


class Choosing:
    """Sends each line to the branch whose lookup finds the fewest rows; drops it if one finds none."""

    def __init__(self, lookups: list[Lookup], branches: list[Step]) -> None:
        self._branches = branches
        self._lookups = [(lookup.table, np.array(lookup.rows, np.int64)) for lookup in lookups]

    def divide(self, lines: np.ndarray, tables: list[np.ndarray]) -> Iterator[tuple[Step, np.ndarray]]:
        """The branches with the lines that they get."""
        fewest = np.full(lines.shape[1], _MANY)
        chosen = np.empty_like(fewest)
        for number, (table, rows) in enumerate(self._lookups):
            take_fewer(lines, rows, tables[table], number, fewest, chosen)
        for number, branch in enumerate(self._branches):
            mine = chosen == number
            if mine.any():
                yield branch, _some(lines, mine)


Step = Meeting | Checking | Proposing | Selecting | Choosing


def _some(lines: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    return lines if chosen.all() else np.ascontiguousarray(lines[:, chosen])
