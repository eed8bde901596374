"""Window functions, from traces that have each group's rows in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Protocol

import numpy as np

from engine.codec.numerals import is_wide, word_of
from engine.kernels import bests as best_words
from engine.kernels.bests import best_rows
from engine.kernels.chains import PUBLISHED, existing_rows
from engine.kernels.narrow.narrow_rows import Batch, as_matrix, table_of
from engine.kernels.ordered import merge_ordered
from engine.kernels.prefixes import prefix_sums
from engine.kernels.regions import PEERS
from engine.kernels.windows import HIGH, WORD, reduce_windows
from engine.kernels.words import NULL
from engine.operators.failure_log import FailureLog
from engine.operators.group_operators import GroupOperator
from engine.operators.interesting_times import Groups
from engine.operators.operator import Step
from engine.operators.topk import OrderedArrangement


class PreparedFunctions(Protocol):
    """A window's functions, as a kernel takes them."""

    @property
    def lines(self) -> np.ndarray:
        """A line a function, with the place of a sum's high half at HIGH."""

    @property
    def labels(self) -> tuple[str, ...]:
        """What messages call them."""

    @property
    def numbered(self) -> PreparedFunctions:
        """The same functions of rows that a number leads."""


@dataclass(frozen=True, eq=False)
class Functions:
    """A window's functions, as the kernels take them: see `engine.kernels.windows` and `regions`."""

    lines: np.ndarray
    shape: np.ndarray
    summed: np.ndarray
    counted: np.ndarray
    extremes: np.ndarray
    labels: tuple[str, ...]

    @cached_property
    def numbered(self) -> Functions:
        """The same functions of rows that a number leads."""
        lines, shape, extremes = self.lines.copy(), self.shape.copy(), self.extremes.copy()
        lines[:, WORD] += 1
        shape[PEERS] += shape[PEERS] >= 0
        extremes[:, best_words.WORD] += 1
        return replace(self, lines=lines, shape=shape, summed=self.summed + 1, extremes=extremes)


Reduced = tuple[np.ndarray, np.ndarray, int, int]
"""What a kernel of windows returns: a delta, failures, and how many rows were read and lines skipped."""


class PlaceFigures:
    """What the kernel needs to know of published batches: figures of each row's place, computed when a batch
    is first read, so that they cost about as much as merges. Those of batches that no longer exist go."""

    kinds = 2
    """How many matrices of figures a batch has."""

    def __init__(self, functions: Functions, codes: np.ndarray, key: int) -> None:
        """The batches' rows have such `codes`, and groups have `key` words."""
        self.functions = functions
        self.codes = codes
        self._key = key
        self._known: dict[int, tuple[Batch, tuple[np.ndarray, ...]]] = {}

    def tables(self, batches: Sequence[Batch], words: np.ndarray) -> list[np.ndarray]:
        """A table of each kind of figures of the batches, valid until the next call; `words` are the
        dictionary's by entry number."""
        known = self._known
        self._known = known = {
            id(batch): known.get(id(batch)) or (batch, self.of_batch(as_matrix(batch), words))
            for batch in batches
        }
        return [table_of([figures[kind] for _, figures in known.values()]) for kind in range(self.kinds)]

    def of_batch(self, batch: np.ndarray, words: np.ndarray) -> tuple[np.ndarray, ...]:
        """The prefix sums and the best rows of a batch."""
        functions = self.functions
        sums = prefix_sums(batch, functions.summed, self.codes, words)
        return sums, best_rows(batch, self._key, functions.extremes, self.codes, words)

    def reduce(self, groups: Groups, texts: Sequence[np.ndarray]) -> Reduced:
        """The changes of groups; `texts` are the dictionary's arrays."""
        functions = self.functions
        return reduce_windows(  # type: ignore[no-any-return]
            groups.keys,
            groups.table,
            groups.published,
            *self.tables(groups.batches[: groups.published], texts[0]),
            functions.lines,
            functions.shape,
            functions.summed,
            functions.counted,
            functions.extremes,
            self.codes,
            *texts,
        )


class WindowOperator(GroupOperator):
    """The input's rows with their functions' values."""

    knows_rounds = False
    pairs_changes = True
    figures_of: Callable[..., PlaceFigures] = PlaceFigures

    def __init__(
        self, source: OrderedArrangement, key: int, functions: PreparedFunctions, failures: FailureLog
    ) -> None:
        super().__init__(source, key)
        self._functions = functions
        self._figures = self.figures_of(functions, source.codes, key)
        self.failures = failures
        self.read = 0
        """Rows that the last step read."""

    @property
    def _ordered(self) -> OrderedArrangement:
        return self.inputs[0]  # type: ignore[return-value]

    def _groups(self, keys: np.ndarray, step: Step) -> Groups:
        return super()._groups(keys, step)._replace(batches=self.source.trace.batches())

    def _changes(self, groups: Groups, step: Step) -> tuple[np.ndarray, np.ndarray]:
        source, figures = self._ordered, self._figures
        lead = groups.keys.shape[1] - self.key
        if lead:
            figures = self.figures_of(self._functions.numbered, source.codes_behind(lead), self.key + lead)
        functions = figures.functions
        _, *texts = source.dictionary.store
        if lead and len(step.masks):
            groups = _existing(groups, figures.codes, *texts[1:])
        delta, failed, self.read, passed = figures.reduce(groups, texts)
        delta[-1] *= groups.sign
        failed[-1] *= groups.sign
        delta = self._with_numbers(delta)
        if not lead:
            source.passed += passed
        if failed.shape[1]:
            messages = [f"overflow in {functions.labels[f]}" for f in failed[0].tolist()]
            self.failures.add(messages, failed[1:], step)
        return delta, groups.no_visits

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


def _existing(groups: Groups, codes: np.ndarray, ends: np.ndarray, arena: np.ndarray) -> Groups:
    """The chains `groups` with rows that are never there a negative number of times."""
    width = len(codes)
    batches = [as_matrix(batch) for batch in groups.batches]
    for batch in batches[: groups.published]:
        batch[:, width] = PUBLISHED
    batches.sort(key=len)
    if not batches:
        return groups
    merged = reduce(lambda a, b: merge_ordered(a, b, width, PUBLISHED, codes, ends, arena), batches)
    before, after = existing_rows(merged, width)
    batches = [rows for rows in (before, after) if len(rows)]
    return groups._replace(table=table_of(batches), published=int(len(before) > 0), batches=batches)
