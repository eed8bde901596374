"""Window functions, from traces that have each group's rows in order."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import inf, nan

import numpy as np

from engine.codec.numerals import is_wide, word_of
from engine.codec.values import float_word
from engine.kernels.chains import PUBLISHED, existing_rows
from engine.kernels.narrow.narrow_rows import Batch, as_matrix, table_of
from engine.kernels.neighbours.bests import best_rows
from engine.kernels.neighbours.copy_frames import DIVISOR, FURTHER_WORDS
from engine.kernels.neighbours.prefixes import block_totals, prefix_sums
from engine.kernels.neighbours.totals import FINITE, FURTHER
from engine.kernels.neighbours.windows import reduce_windows
from engine.kernels.ordered import merge_ordered
from engine.kernels.words import NULL
from engine.operators.failure_log import FailureLog
from engine.operators.group_operators import GroupOperator
from engine.operators.interesting_times import Groups
from engine.operators.operator import Step
from engine.operators.topk import OrderedArrangement
from engine.operators.windowing import Functions
from engine.plan.window_functions import WindowFunction

_SPECIALS = (0.0, nan, inf, -inf)
"""The special values of totals (`engine.kernels.neighbours.totals`)."""


class PlaceFigures:
    """What the kernel needs to know of published batches: figures of each row's place, computed when a batch
    is first read, so that they cost about as much as merges. Those of batches that no longer exist go."""

    def __init__(self, functions: Functions, codes: np.ndarray, key: int) -> None:
        """The batches' rows have such `codes`, and groups have `key` words."""
        self.functions = functions
        self.codes = codes
        self._key = key
        self._known: dict[int, tuple[Batch, tuple[np.ndarray, ...]]] = {}

    def tables(self, batches: Sequence[Batch], texts: Sequence[np.ndarray]) -> list[np.ndarray]:
        """A table of each kind of figures of the batches, valid until the next call; `texts` are the
        dictionary's arrays."""
        known = self._known
        self._known = known = {
            id(batch): known.get(id(batch)) or (batch, self._of_batch(as_matrix(batch), texts))
            for batch in batches
        }
        figures = [figures for _, figures in known.values()]
        return (
            [table_of(list(kind)) for kind in zip(*figures, strict=True)] if figures else [table_of([])] * 3
        )

    def _of_batch(self, batch: np.ndarray, texts: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
        functions, codes = self.functions, self.codes
        return (
            prefix_sums(batch, functions.summed, codes, *texts),
            block_totals(batch, functions.exact, codes, *texts),
            best_rows(batch, self._key, functions.extremes, codes, *texts),
        )


class WindowOperator(GroupOperator):
    """The input's rows with their functions' values."""

    knows_rounds = False
    pairs_changes = True

    def __init__(
        self, source: OrderedArrangement, key: int, functions: Functions, failures: FailureLog
    ) -> None:
        super().__init__(source, key)
        self._functions = functions
        self._figures = PlaceFigures(functions, source.codes, key)
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
            figures = PlaceFigures(self._functions.numbered, source.codes_behind(lead), self.key + lead)
        functions = figures.functions
        _, *texts = source.dictionary.store
        if lead and len(step.masks):
            groups = _existing(groups, figures.codes, *texts[1:])
        delta, failed, self.read, passed = reduce_windows(
            groups.keys,
            groups.table,
            groups.published,
            *figures.tables(groups.batches[: groups.published], texts),
            functions.lines,
            functions.shape,
            functions.summed,
            functions.counted,
            functions.exact,
            functions.extremes,
            figures.codes,
            *texts,
        )
        if not lead:
            source.passed += passed
        delta, too_wide = self._finished(delta)
        failed = np.hstack((failed, too_wide))
        delta[-1] *= groups.sign
        failed[-1] *= groups.sign
        if failed.shape[1]:
            messages = [f"overflow in {functions.label(f)}" for f in failed[0].tolist()]
            self.failures.add(messages, failed[1:], step)
        return delta, groups.no_visits

    def _finished(self, delta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The delta without further words, and what overflows as [3, f] of function, epoch and diff."""
        lines = self._functions.lines
        apart = np.flatnonzero(lines[:, FURTHER_WORDS] >= 0).tolist()
        if not apart:
            return delta, np.empty((3, 0), np.int64)
        values = len(delta) - 2 - FURTHER * len(apart) - len(lines)
        overflowing = np.full(delta.shape[1], -1)
        for f in apart:
            first = values + lines[f, FURTHER_WORDS]
            is_fine = self._finish(f, delta[values + f], delta[first : first + FURTHER])
            overflowing[~is_fine & (overflowing < 0)] = f
        is_fine = overflowing < 0
        failed = np.vstack((overflowing, delta[-2:]))[:, ~is_fine]
        kept = [*range(values + len(lines)), len(delta) - 2, len(delta) - 1]
        return np.ascontiguousarray(delta[kept][:, is_fine]), failed

    def _finish(self, f: int, counts: np.ndarray, further: np.ndarray) -> np.ndarray:
        """Put the words of a function in the place of its `counts`, from its `further` words; returns where
        it does not overflow."""
        is_mean = self._functions.named[f].function is WindowFunction.AVG
        special, low, middle, high = further
        is_small = (low != NULL) & ~is_wide(low)  # NULL, which has no magnitude, may be the sum's low bits
        is_one_word = (special == FINITE) & (middle == low >> 63) & (high == middle) & is_small
        known = counts != NULL
        is_fine = np.ones(len(counts), np.bool_)
        rest = known if is_mean else known & ~is_one_word
        words = np.where(known, low, NULL)
        scale = int(self._functions.lines[f, DIVISOR])
        for line in np.flatnonzero(rest).tolist():
            total = (int(high[line]) << 128) + (int(middle[line]) % 2**64 << 64) + int(low[line]) % 2**64
            number = _SPECIALS[special[line]] if special[line] != FINITE else total
            if is_mean:
                words[line] = float_word(number / (int(counts[line]) * scale))
            elif isinstance(number, float) or abs(number) < 10**38:
                words[line] = word_of(number, self.failures.dictionary)
            else:
                is_fine[line] = False
        counts[:] = words
        return is_fine


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
