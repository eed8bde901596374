"""A trace is the sum of what was inserted, however its merges stand."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from engine.kernels.arrange import arrange
from engine.trace import AT_ONCE, QUANTUM, Trace

NO_ROUNDS = np.empty(0, np.int64)


def batch(rng: np.random.Generator, size: int, epoch: int, bound: int) -> np.ndarray:
    words = rng.integers(0, bound, (1, size))
    delta = np.vstack((words, np.full(size, epoch), rng.choice([-1, 1], size)))
    return arrange(np.ascontiguousarray(delta), np.arange(2), NO_ROUNDS)


def add(sums: Counter[tuple[int, ...]], rows: np.ndarray, keep_epochs: bool) -> None:
    for word, epoch, diff in rows.tolist():
        sums[(word, epoch) if keep_epochs else (word,)] += diff


def contents(trace: Trace, keep_epochs: bool) -> dict[tuple[int, ...], int]:
    sums: Counter[tuple[int, ...]] = Counter()
    for rows in trace.batches():
        add(sums, rows, keep_epochs)
    return {row: diff for row, diff in sums.items() if diff}


@pytest.mark.parametrize("compacts", [False, True])
def test_contents_are_kept_through_merges(compacts: bool) -> None:
    rng = np.random.default_rng(0)
    trace = Trace(1)
    inserted: Counter[tuple[int, ...]] = Counter()
    for epoch in range(600):
        size = 3 * QUANTUM if epoch % 100 == 7 else int(rng.integers(1, 2 * AT_ONCE))
        rows = batch(rng, size, epoch, 500 if epoch % 3 else 10**6)
        if compacts:
            trace.since = epoch
        trace.insert(rows)
        add(inserted, rows, not compacts)
        if epoch % 50 == 0:
            assert contents(trace, not compacts) == {row: n for row, n in inserted.items() if n}
    trace.finish()
    assert len(trace.batches()) == 1
    assert contents(trace, not compacts) == {row: n for row, n in inserted.items() if n}


def test_batches_stay_valid_after_later_insertions() -> None:
    rng = np.random.default_rng(1)
    trace = Trace(1)
    for epoch in range(40):
        trace.insert(batch(rng, 1_000, epoch, 10**6))
    held = trace.batches()
    copies = [rows.copy() for rows in held]
    for epoch in range(40, 400):
        trace.insert(batch(rng, 1_000, epoch, 10**6))
    assert all((rows == copy).all() for rows, copy in zip(held, copies, strict=True))


def test_what_is_taken_back_is_gone() -> None:
    trace = Trace(1)
    rows = np.array([[i, 0, 1] for i in range(10 * QUANTUM)], np.int64)
    taken_back = rows * np.array([1, 1, -1])
    trace.insert(rows)
    trace.insert(taken_back)
    trace.finish()
    assert trace.rows == 0


def test_churn_does_not_grow_a_compacted_trace() -> None:
    trace = Trace(1)
    for epoch in range(5_000):
        trace.since = epoch
        trace.insert(np.array([[epoch, epoch, 1]], np.int64))
        trace.insert(np.array([[epoch, epoch, -1]], np.int64))
    assert trace.rows <= AT_ONCE


def test_the_number_of_batches_is_logarithmic() -> None:
    rng = np.random.default_rng(2)
    trace = Trace(1)
    for epoch in range(3_000):
        trace.insert(batch(rng, 40, epoch, 10**9))
    assert trace.count <= 24
