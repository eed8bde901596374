"""Results remembered by the words they were computed from.

Each distinct row of arguments is numbered as it comes; its result is stored under its number. The memo is
emptied, between batches, once it has grown past its limit, and whenever the dictionary collects texts: words
that only a memo knows do not keep their texts.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable

import numpy as np

from engine.kernels import memo as kernels
from engine.kernels.words import NULL
from engine.state.dictionary import Dictionary

_LIMIT = 1 << 20  # rows of arguments; some 50 MB for one column

Compute = Callable[[np.ndarray], tuple[np.ndarray, dict[int, str]]]
"""Distinct rows of arguments int64[K, m] → results int64[m], and by position why a row failed."""


_MEMOS: weakref.WeakSet[Memo] = weakref.WeakSet()
_MEMOS_LOCK = threading.Lock()


def remembered_bytes() -> int:
    """The bytes of all memos of this process."""
    with _MEMOS_LOCK:
        return sum(memo.bytes for memo in _MEMOS)


class Memo:
    """Remembers the results of `compute`. Thread-safe."""

    def __init__(self, width: int, compute: Compute, dictionary: Dictionary) -> None:
        """`dictionary` has the texts of the words."""
        self._width = width
        self._compute = compute
        self._dictionary = dictionary
        self._lock = threading.Lock()
        self._reset()
        with _MEMOS_LOCK:
            _MEMOS.add(self)

    @property
    def bytes(self) -> int:
        """The bytes of arguments and results."""
        return self._keys.nbytes + self._table.nbytes + self._results.nbytes

    def _reset(self) -> None:
        self._version = self._dictionary.version
        self._count = 0
        self._keys = np.empty((self._width, 64), np.int64)
        self._table = np.zeros(256, np.uint32)
        self._results = np.empty(64, np.int64)
        self._reasons: dict[int, str] = {}

    def __call__(
        self, rows: np.ndarray, out: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, dict[int, str]] | None:
        """Write the results of `rows` int64[K, n] to `out`.

        If some failed, returns their positions, their numbers, and the reasons by number; else None.
        """
        with self._lock:
            if self._count > _LIMIT or self._version != self._dictionary.version:
                self._reset()
            known = self._count
            numbers = self._number(rows)
            if self._count > known:
                self._learn(known)
            kernels.gather(self._results, numbers, out)
            reasons = self._reasons
        if reasons:
            failed = np.flatnonzero((out == NULL) & np.isin(numbers, list(reasons)))
            if failed.size:
                return failed, numbers[failed], reasons
        return None

    def _number(self, rows: np.ndarray) -> np.ndarray:
        count = rows.shape[1]
        numbers = np.empty(count + 1, np.int64)
        row = 0
        while True:
            row = kernels.number(rows, row, self._count, self._keys, self._table, numbers)
            self._count = int(numbers[count])
            if row == count:
                return numbers[:count]
            self._grow()

    def _grow(self) -> None:
        size = 2 * self._keys.shape[1]
        keys = np.empty((self._width, size), np.int64)
        keys[:, : self._count] = self._keys[:, : self._count]
        results = np.empty(size, np.int64)
        results[: self._count] = self._results[: self._count]
        self._keys, self._results = keys, results
        self._table = np.zeros(4 * size, np.uint32)
        known = np.ascontiguousarray(keys[:, : self._count])
        kernels.number(known, 0, 0, keys, self._table, np.empty(self._count + 1, np.int64))

    def _learn(self, known: int) -> None:
        """Compute the results of the rows from number `known` on."""
        fresh = np.ascontiguousarray(self._keys[:, known : self._count])
        try:
            results, reasons = self._compute(fresh)
        except BaseException:
            self._reset()  # rows without a result must not stay in the memo
            raise
        self._results[known : self._count] = results
        if reasons:
            self._reasons = self._reasons | {known + place: reason for place, reason in reasons.items()}
