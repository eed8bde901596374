"""Window functions, from traces that have each group's rows in order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from engine.codec.numerals import is_wide, word_of
from engine.kernels.bests import best_rows
from engine.kernels.layers import table_of
from engine.kernels.prefixes import prefix_sums
from engine.kernels.windows import HIGH, reduce_windows
from engine.kernels.words import NULL
from engine.operators.failure_log import FailureLog
from engine.operators.group_operators import GroupOperator
from engine.operators.interesting_times import Groups
from engine.operators.operator import Step
from engine.operators.topk import OrderedArrangement


@dataclass(frozen=True, eq=False)
class Functions:
    """A window's functions, as the kernels take them: see `engine.kernels.windows` and `regions`."""

    lines: np.ndarray
    shape: np.ndarray
    summed: np.ndarray
    counted: np.ndarray
    extremes: np.ndarray
    labels: tuple[str, ...]


class KnownPlaces:
    """Per-row figures of each published batch, computed when a batch is first read, so that they cost about
    as much as merges. Figures of batches that no longer exist are dropped."""

    def __init__(self, make: Callable[[np.ndarray], np.ndarray]) -> None:
        self._make = make
        self._known: dict[int, tuple[np.ndarray, np.ndarray]] = {}

    def table(self, batches: tuple[np.ndarray, ...]) -> np.ndarray:
        """A table of one matrix a batch, valid until the next call."""
        known = self._known
        self._known = {id(b): known.get(id(b)) or (b, self._make(b)) for b in batches}
        return table_of([self._known[id(batch)][1] for batch in batches])


class WindowOperator(GroupOperator):
    """The input's rows with their functions' values. It has no rounds: in a loop, `GeneralOperator` is
    used."""

    pairs_changes = True

    def __init__(
        self, source: OrderedArrangement, key: int, functions: Functions, failures: FailureLog
    ) -> None:
        super().__init__(source, key)
        self._functions = functions
        self._sums = KnownPlaces(
            lambda batch: prefix_sums(batch, functions.summed, source.codes, self._words)
        )
        self._bests = KnownPlaces(
            lambda batch: best_rows(batch, key, functions.extremes, source.codes, self._words)
        )
        self.failures = failures
        self.read = 0
        """Rows that the last step read."""

    @property
    def _ordered(self) -> OrderedArrangement:
        return self.inputs[0]  # type: ignore[return-value]

    @property
    def _words(self) -> np.ndarray:
        """The dictionary's words by entry number."""
        return self._ordered.dictionary.store[1]

    def _changes(self, groups: Groups, step: Step) -> tuple[np.ndarray, np.ndarray]:
        source, functions = self._ordered, self._functions
        _, *texts = source.dictionary.store
        batches = source.trace.batches()
        delta, failed, self.read, passed = reduce_windows(
            groups.keys,
            groups.table,
            groups.published,
            self._sums.table(batches),
            self._bests.table(batches),
            functions.lines,
            functions.shape,
            functions.summed,
            functions.counted,
            functions.extremes,
            source.codes,
            *texts,
        )
        delta = self._with_numbers(delta)
        source.passed += passed
        if failed.shape[1]:
            messages = [f"overflow in {functions.labels[f]}" for f in failed[0].tolist()]
            self.failures.add(messages, failed[1:], step)
        return delta, np.empty((0, self.key), np.int64)

    def _with_numbers(self, delta: np.ndarray) -> np.ndarray:
        """The delta with sums that came in halves as single words, as `engine.codec.numerals` encodes
        them."""
        places = self._functions.lines[:, HIGH]
        halves = int((places >= 0).sum())
        if not halves:
            return delta
        first = len(delta) - 2 - halves - len(places)
        for f in np.flatnonzero(places >= 0).tolist():
            low, high = delta[first + f], delta[first + places[f]]
            known = low != NULL
            word = (high << 32) | low
            large = known & ((np.abs(high) >= 2**29) | is_wide(word))
            word[~known] = NULL
            for line in np.flatnonzero(large).tolist():
                word[line] = word_of((int(high[line]) << 32) + int(low[line]), self.failures.dictionary)
            delta[first + f] = word
        return np.ascontiguousarray(np.delete(delta, slice(len(delta) - 2 - halves, len(delta) - 2), axis=0))
