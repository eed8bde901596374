from __future__ import annotations

import numpy as np
import pytest

from engine.kernels.words import NULL
from engine.scalar import remembered as module
from engine.scalar.remembered import Memo
from engine.state.dictionary import Dictionary


class Sums:
    """Adds the words of a row; fails for a row that begins with -1. Keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[int, ...]] = []
        self.broken = False

    def __call__(self, rows: np.ndarray) -> tuple[np.ndarray, dict[int, str]]:
        if self.broken:
            raise RuntimeError("broken")
        self.asked += [tuple(row) for row in rows.T.tolist()]
        wrong = np.flatnonzero(rows[0] == -1)
        sums = rows.sum(axis=0)
        sums[wrong] = NULL
        return sums, {int(i): f"no {rows[1, i]}" for i in wrong}


def ask(memo: Memo, rows: list[tuple[int, ...]]):
    matrix = np.ascontiguousarray(np.array(rows, np.int64).reshape(len(rows), 2).T)
    out = np.empty(len(rows), np.int64)
    failed = memo(matrix, out)
    if failed is None:
        return out.tolist(), {}
    places, numbers, reasons = failed
    return out.tolist(), {p: reasons[n] for p, n in zip(places.tolist(), numbers.tolist(), strict=True)}


def test_each_row_is_computed_once():
    sums = Sums()
    memo = Memo(2, sums, Dictionary())
    assert ask(memo, [(1, 2), (3, 4), (1, 2)]) == ([3, 7, 3], {})
    assert ask(memo, [(3, 4), (NULL + 1, 0), (2, 1)]) == ([7, NULL + 1, 3], {})
    assert ask(memo, []) == ([], {})
    assert sums.asked == [(1, 2), (3, 4), (NULL + 1, 0), (2, 1)]


def test_failures_are_remembered_too():
    sums = Sums()
    memo = Memo(2, sums, Dictionary())
    assert ask(memo, [(-1, 5), (1, 1)]) == ([NULL, 2], {0: "no 5"})
    assert ask(memo, [(1, 1), (-1, 6), (-1, 5)]) == ([2, NULL, NULL], {1: "no 6", 2: "no 5"})
    assert len(sums.asked) == 3


def test_many_rows_make_it_grow():
    sums = Sums()
    memo = Memo(2, sums, Dictionary())
    rows = [(i, i % 7) for i in range(10_000)]
    for _ in range(2):
        assert ask(memo, rows) == ([a + b for a, b in rows], {})
    assert len(sums.asked) == len(rows)


def test_rows_that_differ_in_one_word_alone_are_told_apart():
    """Many of them meet in the table's slots, whichever word it is."""
    for rows in ([(7, i) for i in range(10_000)], [(i, 7) for i in range(10_000)]):
        sums = Sums()
        memo = Memo(2, sums, Dictionary())
        for _ in range(2):
            assert ask(memo, rows) == ([a + b for a, b in rows], {})
        assert len(sums.asked) == len(rows)


def test_it_starts_anew_past_its_limit(monkeypatch):
    monkeypatch.setattr(module, "_LIMIT", 10)
    sums = Sums()
    memo = Memo(2, sums, Dictionary())
    rows = [(i, 0) for i in range(11)]
    for _ in range(2):
        assert ask(memo, rows)[0] == list(range(11))
    assert sums.asked == rows * 2


def test_nothing_is_kept_of_a_computation_that_breaks():
    sums = Sums()
    memo = Memo(2, sums, Dictionary())
    sums.broken = True
    with pytest.raises(RuntimeError):
        ask(memo, [(1, 2)])
    sums.broken = False
    assert ask(memo, [(1, 2)]) == ([3], {})
