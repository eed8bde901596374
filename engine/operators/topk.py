"""The first rows of each group, in a wanted order; MIN and MAX are the very first."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from engine.codec.numerals import is_wide
from engine.kernels.coding import AS_IS, ENTRY, KIND, NUMERAL, Codes
from engine.kernels.narrow.narrow_rows import Batch, as_matrix
from engine.kernels.ordered import arrange_ordered, merge_ordered, merge_ordered_step
from engine.kernels.stepping import opcodes
from engine.kernels.top import reduce_top
from engine.operators.arrangement import Arrangement
from engine.operators.group_operators import GroupOperator
from engine.operators.interesting_times import Groups
from engine.operators.operator import Instruction, Operator, Step
from engine.state.dictionary import Dictionary
from engine.state.packed_times import Frontier
from engine.state.trace import AT_ONCE, Trace

MOST = 2**61
"""Larger offsets and limits count as this; no group has so many rows."""


class TextTrace(Trace):
    """A trace sorted by texts, which are stored as numbers of dictionary entries.

    Entry numbers mean nothing to another process, so files have words in their place.
    """

    may_merge_beside = False
    translates = True
    merges_words = False

    def __init__(self, width: int, codes: np.ndarray, dictionary: Dictionary) -> None:
        super().__init__(width)
        self._codes = codes
        self._dictionary = dictionary

    def merge(self, left: Batch, right: Batch, since: int) -> np.ndarray:
        _, _, ends, arena = self._dictionary.store
        left, right = as_matrix(left), as_matrix(right)
        return merge_ordered(left, right, self.width, since, self._codes, ends, arena)

    def merge_step(
        self, table: np.ndarray, out: np.ndarray, state: np.ndarray, since: int, fuel: int
    ) -> bool:
        _, _, ends, arena = self._dictionary.store
        return merge_ordered_step(table, out, state, self.width, since, fuel, self._codes, ends, arena)

    def export_rows(self, rows: Batch) -> np.ndarray:
        return self._translated(as_matrix(rows), self._dictionary.entry_words)

    def import_rows(self, rows: np.ndarray) -> np.ndarray:
        return self._translated(rows, self._dictionary.entry_numbers)

    def renumber(self, numbers: np.ndarray) -> bool:
        self.replace(lambda rows: self._translated(rows, lambda old: _numbered(old, numbers)))
        return True

    def _translated(self, rows: np.ndarray, translate: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """A copy of the rows with the numbers or words of texts translated."""
        translated = rows.copy()
        for column in np.flatnonzero(self._codes[:, KIND] >= ENTRY).tolist():
            translated[:, column] = translate(rows[:, column])
        return translated


def _numbered(old: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """The new numbers of entries; -1 stays."""
    return np.where(old < 0, -1, numbers[old])


class OrderedArrangement(Arrangement):
    """The input's rows by key, and then in a wanted order, as coded words (`engine.kernels.coding`).

    If rows come and go at a group's front, their differences pile up there until a merge cancels them.
    Readers count in `passed` the rows they skip; once these are as many as the trace has, it is merged at
    once. So a reader skips few rows, and no row is merged more often than others were skipped.

    If no row ever goes, one that has `most` others of its key before it never matters again. Such rows are
    forgotten whenever the trace has doubled in size, so that it has about as many as readers want.
    """

    def __init__(
        self,
        source: Operator,
        key: tuple[int, ...],
        order: tuple[tuple[int, Codes], ...],
        rest: tuple[int, ...],
        width: int,
        depth: int,
        dictionary: Dictionary,
        *,
        most: int | None = None,
        entries: tuple[tuple[int, Codes], ...] = (),
    ) -> None:
        """The words `key`, those of `order` with their codes, then `rest` and `entries` with their codes, of
        an input of `width` words.

        Given `most`, readers want no more than so many first rows of a key, and the input only grows.
        """
        as_they_are = [(word, (AS_IS,)) for word in (*key, *rest)]
        columns = (*as_they_are[: len(key)], *order, *as_they_are[len(key) :], *entries)
        coded = [(word, code) for word, codes in columns for code in codes]
        super().__init__(source, tuple(word for word, _ in coded), width, depth)
        self.codes = np.array([code for _, code in coded], np.int64).reshape(-1, 3)
        """int64[W, 3]: the codes of the words (`engine.kernels.coding`)."""
        self.distinct = len(key)
        self.dictionary = dictionary
        self._texts = [word for word, code in coded if code[KIND] == ENTRY]
        self._numbers = [word for word, code in coded if code[KIND] == NUMERAL]
        if (self.codes[:, KIND] >= ENTRY).any():
            self.trace = TextTrace(self.trace.width, self.codes, dictionary)
        self.passed = 0
        """Rows that readers skipped since the last merge."""
        self._most = most
        self._selected = 0

    def codes_behind(self, lead: int) -> np.ndarray:
        """The codes of rows that `lead` more words lead."""
        return np.vstack((np.tile(AS_IS, (lead, 1)), self.codes)) if lead else self.codes

    @property
    def instruction(self) -> Instruction | None:
        if self._texts or self._numbers:
            return None
        codes = self.codes.ravel()
        return Instruction(opcodes.ARRANGE_ORDERED, (self.inputs[0],), first=self.order, second=codes)

    def arrange(self, delta: np.ndarray, step: Step) -> np.ndarray:
        for word in self._texts:
            self.dictionary.require(delta[word])
        for word in self._numbers:
            self.dictionary.require(delta[word][is_wide(delta[word])])
        return arrange_ordered(delta, self.order, step.array, self.codes, *self.dictionary.store)

    def publish(self, frontier: Frontier) -> None:
        super().publish(frontier)
        self._tidy()

    def inserted(self, passed: int) -> None:
        self.passed += passed
        self._tidy()

    def _tidy(self) -> None:
        """Forget rows if the trace has doubled; merge it if readers have passed over as many rows as it
        has."""
        rows = self.trace.rows
        if self._most is not None and rows >= 2 * self._selected + AT_ONCE:
            self.trace.select(self._first_rows)
            self._selected = self.trace.rows
        elif self.passed > rows:
            self.trace.finish()
        else:
            return
        self.reset()
        self.passed = 0

    def _first_rows(self, rows: np.ndarray) -> np.ndarray:
        """Those of sorted rows that are among the first `most` of their key; each copy of a row counts."""
        if not len(rows):
            return rows
        counts = rows[:, -1]
        before = np.cumsum(counts) - counts
        keys = rows[:, : self.distinct]
        starts = np.append(True, (keys[1:] != keys[:-1]).any(axis=1))
        ahead = before - before[starts][np.cumsum(starts) - 1]
        return np.ascontiguousarray(rows[ahead < self._most])


class TopKOperator(GroupOperator):
    """The rows at positions offset < p ≤ offset + limit of their group; each copy of a row takes a
    position."""

    def __init__(self, source: OrderedArrangement, key: int, offset: int, limit: int) -> None:
        super().__init__(source, key)
        self._offset = min(offset, MOST)
        self._limit = min(limit, MOST)

    @property
    def instruction(self) -> Instruction:
        numbers = (self._offset, self._limit, *self._ordered.codes.ravel())
        return Instruction(opcodes.TOP, (self.inputs[0],), self.key, numbers)

    @property
    def _ordered(self) -> OrderedArrangement:
        return self.inputs[0]  # type: ignore[return-value]

    def _changes(self, groups: Groups, step: Step) -> tuple[np.ndarray, np.ndarray]:
        source = self._ordered
        keys, table, published, rounds, *_ = groups
        codes = source.codes_behind(keys.shape[1] - self.key)
        _, *texts = source.dictionary.store
        delta, later, passed = reduce_top(
            keys, table, published, len(rounds), rounds, self._offset, self._limit, codes, *texts
        )
        source.passed += passed
        return delta, later
