"""Window functions, from traces that have each group's rows in their order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.kernels.layers import COLUMNS, register
from engine.kernels.prefixes import prefix_sums
from engine.kernels.windows import reduce_windows
from engine.operators.failures import FailureLog
from engine.operators.operator import Step
from engine.operators.ordered import OrderedArrangement
from engine.operators.reduce import GroupOperator


@dataclass(frozen=True, eq=False)
class Functions:
    """What a window computes, as the kernels take it: see `engine.kernels.windows` and `regions`."""

    lines: np.ndarray
    shape: np.ndarray
    summed: np.ndarray
    counted: np.ndarray
    extremes: np.ndarray
    labels: tuple[str, ...]


class Window(GroupOperator):
    """The input's rows with their functions' values. No rounds: in a loop, `General` takes its place.

    The prefix sums of a published batch are made when it is first read, so they cost what merges do.
    """

    def __init__(
        self, source: OrderedArrangement, key: int, functions: Functions, failures: FailureLog
    ) -> None:
        super().__init__(source, key)
        self._functions = functions
        self._prefixes: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        self.failures = failures

    @property
    def _ordered(self) -> OrderedArrangement:
        return self.inputs[0]  # type: ignore[return-value]

    def _reduce(self, keys: np.ndarray, step: Step) -> tuple[np.ndarray, np.ndarray]:
        source, functions = self._ordered, self._functions
        _, *texts = source.dictionary.store
        delta, failed, passed = reduce_windows(
            keys,
            source.after(),
            source.published,
            self._prefix_table(),
            functions.lines,
            functions.shape,
            functions.summed,
            functions.counted,
            functions.extremes,
            source.codes,
            *texts,
        )
        source.passed += passed
        if failed.shape[1]:
            messages = [f"overflow in {functions.labels[f]}" for f in failed[0].tolist()]
            self.failures.add(messages, failed[1:], step)
        return delta, np.empty((0, self.key), np.int64)

    def _prefix_table(self) -> np.ndarray:
        """The prefix sums of the published batches, as a table; what is no batch any more is forgotten."""
        source, functions = self._ordered, self._functions
        entry_words = source.dictionary.store[1]
        known = self._prefixes
        self._prefixes = {}
        table = np.empty((source.published, COLUMNS), np.int64)
        for index, batch in enumerate(source.trace.batches()):
            kept = known.get(id(batch))
            if kept is None:
                kept = batch, prefix_sums(batch, functions.summed, source.codes, entry_words)
            self._prefixes[id(batch)] = kept
            register(table, index, kept[1])
        return table
