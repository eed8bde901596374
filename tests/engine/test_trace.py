"""A trace is the sum of what was inserted, however its merges stand."""

from __future__ import annotations

from collections import Counter
from math import log2
from random import Random

import numpy as np
import pytest

from engine.kernels.arrange import arrange
from engine.kernels.narrow.narrow_rows import NARROW, as_matrix
from engine.kernels.stepping import spine
from engine.state.layer import Layer
from engine.state.layer_merge import LayerMerge
from engine.state.store.files import BatchFile
from engine.state.trace import AT_ONCE, EFFORT, QUANTUM, Trace
from tests.seeds import SEED

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
        add(sums, as_matrix(rows), keep_epochs)
    return {row: diff for row, diff in sums.items() if diff}


@pytest.mark.parametrize("compacts", [False, True])
def test_contents_are_kept_through_merges(compacts: bool) -> None:
    rng = np.random.default_rng(SEED)
    trace = Trace(1)
    inserted: Counter[tuple[int, ...]] = Counter()
    for epoch in range(300):
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


@pytest.mark.parametrize("since", [0, 3, 5, 7])
def test_a_single_batch_is_merged_as_with_an_empty_one(since: int) -> None:
    """It is the same batch if none of its epochs is earlier."""
    rng = np.random.default_rng(SEED + since)
    trace = Trace(1)
    for epoch in (3, 5):
        rows = batch(rng, 100, epoch, 50)
        early = batch(rng, 100, 1, 50)
        both = trace.merge(rows, early, 0)
        for single in (rows, both):
            merged = trace.merge_all([single], since)
            assert np.array_equal(merged, trace.merge(single, single[:0], since))
            assert (merged is single) == (since <= single[:, 1].min())


def test_batches_stay_valid_after_later_insertions() -> None:
    rng = np.random.default_rng(SEED + 1)
    trace = Trace(1)
    for epoch in range(40):
        trace.insert(batch(rng, 1_000, epoch, 10**6))
    held = trace.batches()
    copies = [as_matrix(rows).copy() for rows in held]
    for epoch in range(40, 400):
        trace.insert(batch(rng, 1_000, epoch, 10**6))
    assert all((as_matrix(rows) == copy).all() for rows, copy in zip(held, copies, strict=True))


def test_a_saved_state_comes_back() -> None:
    """Whatever was merged since, also by merges that were under way, and to later epochs."""
    rng = np.random.default_rng(SEED + 2)
    trace = Trace(1)
    for epoch in range(40):
        trace.insert(batch(rng, int(rng.integers(1, QUANTUM)), epoch, 10**6))
        if epoch % 10 == 9:
            before, rows = contents(trace, True), trace.rows
            restore = trace.saved()
            for later in range(epoch + 1, epoch + 40):
                trace.since = later
                trace.insert(batch(rng, QUANTUM, later, 10**6))
            restore()
            assert trace.since == 0
            assert contents(trace, True) == before
            assert trace.rows == rows


def test_what_is_taken_back_is_gone() -> None:
    trace = Trace(1)
    rows = np.array([[i, 0, 1] for i in range(10 * QUANTUM)], np.int64)
    taken_back = rows * np.array([1, 1, -1])
    trace.insert(rows)
    trace.insert(taken_back)
    trace.finish()
    assert trace.rows == 0


@pytest.mark.parametrize("since", [0, 2])
def test_layers_that_are_merged_narrow_have_the_rows_of_those_merged_as_words(since: int) -> None:
    rng = np.random.default_rng(SEED)
    trace = Trace(1)
    for size in (NARROW - 1, 3 * NARROW):
        left, right = batch(rng, size, 1, 4 * size), batch(rng, size // 2 + 1, 2, 4 * size)
        gone = left * np.array([1, 1, -1])
        for one, other in ((left, right), (right, left), (left, gone)):
            merged = trace.merged(Layer(one).narrowed, Layer(other), since)
            assert as_matrix(merged.rows).tolist() == trace.merge(one, other, since).tolist()


def test_churn_does_not_grow_a_compacted_trace() -> None:
    trace = Trace(1)
    for epoch in range(5_000):
        trace.since = epoch
        trace.insert(np.array([[epoch, epoch, 1]], np.int64))
        trace.insert(np.array([[epoch, epoch, -1]], np.int64))
    assert trace.rows <= AT_ONCE


def test_rows_that_go_at_a_later_epoch_cancel_in_a_compacted_trace() -> None:
    trace = Trace(1)
    for epoch in range(1, 2_000):
        trace.since = epoch
        trace.insert(np.array([[epoch, epoch, 1]], np.int64))
        trace.insert(np.array([[epoch - 1, epoch, -1]], np.int64))
        assert trace.rows <= 4 * AT_ONCE
    trace.finish()
    assert trace.batches()[0].tolist() == [[0, 1_999, -1], [1_999, 1_999, 1]]


def repeated_sizes(random: Random) -> list[int]:
    """Sizes of insertions, small and large by turns, as they come from posts that follow a pattern."""
    sizes = [int(2 ** random.uniform(0, 13)) for _ in range(random.randint(1, 4))]
    return [random.choice(sizes) for _ in range(random.randint(2, 9))] * 100


@pytest.mark.parametrize("case", range(20))
def test_the_number_of_batches_is_logarithmic_whatever_the_sizes(case: int) -> None:
    rng = np.random.default_rng(SEED + case)
    sizes = repeated_sizes(Random(SEED + case)) if case else [1_000, 1] * 500
    trace = Trace(1)
    inserted = 0
    for epoch, size in enumerate(sizes):
        trace.insert(batch(rng, size, epoch, 10**12))
        inserted += size
        assert trace.count <= 2 + log2(inserted), sizes[:9]


# The base


def total(trace: Trace) -> dict[tuple[int, ...], int]:
    return contents(trace, keep_epochs=True)


def filled(rng: np.random.Generator, sizes: list[int]) -> Trace:
    trace = Trace(1)
    trace.key = 1
    for epoch, size in enumerate(sizes):
        trace.insert(batch(rng, size, epoch, 10**6))
    return trace


def test_an_insertion_merges_at_once_what_it_would_pay_for() -> None:
    """A merge of so few rows is not worth being put off."""
    size = 2 * QUANTUM // EFFORT
    trace = Trace(1)
    for first in range(0, 8 * size, size):
        trace.insert(np.array([[word, 0, 1] for word in range(first, first + size)], np.int64))
    assert trace.count == 1


def test_rows_of_compiled_code_are_paid_for_little_by_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many they are, one insertion merges a few quanta, and the merges end."""
    paid = []
    step = LayerMerge._step

    def noted(merge: LayerMerge, trace: Trace, rows: int) -> Layer | None:
        paid.append(rows)
        return step(merge, trace, rows)

    monkeypatch.setattr(LayerMerge, "_step", noted)
    rng = np.random.default_rng(SEED + 10)
    trace = filled(rng, [20 * QUANTUM] * 2)
    trace.spine[spine.UNPAID] = 60 * QUANTUM // EFFORT
    paid.clear()
    for epoch in range(2, 30):
        trace.insert(batch(rng, 1, epoch, 10**6))
    assert len(paid) > 15
    assert set(paid) == {2 * QUANTUM}
    assert max(map(len, trace.layers())) > 30 * QUANTUM


def test_insertions_leave_captured_batches_alone() -> None:
    """With merges under way when they were captured."""
    rng = np.random.default_rng(SEED + 7)
    trace = filled(rng, [3 * QUANTUM] * 3 + [100] * 20)
    before = total(trace)
    captured = trace.capture()
    assert total(trace) == before
    added: Counter[tuple[int, ...]] = Counter(before)
    for epoch in range(30, 200):
        rows = batch(rng, 500, epoch, 10**6)
        trace.insert(rows)
        add(added, rows, keep_epochs=True)
    held = {id(rows) for rows in trace.batches()}
    assert all(id(layer.rows) in held for layer in captured)
    assert total(trace) == {row: n for row, n in added.items() if n}
    assert trace.count == len(trace.batches()) == len(held)


def test_mapped_batches_stand_for_captured_ones() -> None:
    rng = np.random.default_rng(SEED + 8)
    trace = filled(rng, [2_000, 900, 30])
    before = total(trace)
    captured = trace.capture()
    trace.insert(batch(rng, 10, 9, 10**6))
    mapped = [Layer(layer.matrix.copy(), None, BatchFile("a", 1, 1, 1, 1, 1)) for layer in captured]
    assert trace.exchange(captured, mapped)
    assert [file.name for file in trace.files()] == ["a"] * len(captured)
    assert not trace.exchange(captured, mapped)
    trace.insert(batch(rng, 10, 10, 10**6))
    assert len(trace.files()) == len(captured)
    rows = np.concatenate([layer.rows for layer in mapped])
    assert {(word, epoch): n for word, epoch, n in rows.tolist()}.items() <= before.items()
    trace.finish()
    assert trace.files() == []
    assert len(trace.batches()) == 1
    assert before.items() <= total(trace).items()


def test_what_is_rewritten_meanwhile_is_not_exchanged() -> None:
    trace = filled(np.random.default_rng(SEED + 9), [500, 20])
    captured = trace.capture()
    trace.finish()
    before = total(trace)
    assert not trace.exchange(captured, [])
    assert total(trace) == before


def test_released_batches_are_merged_again() -> None:
    rng = np.random.default_rng(SEED + 10)
    trace = filled(rng, [1_000])
    expected = Counter(total(trace))
    for epoch in range(1, 100):
        trace.capture()
        rows = batch(rng, 50, epoch, 10**6)
        trace.insert(rows)
        add(expected, rows, keep_epochs=True)
        trace.release()
    assert total(trace) == {row: n for row, n in expected.items() if n}
    assert len(trace.batches()) < 12


def test_a_table_has_room_for_any_number_of_mapped_batches() -> None:
    trace = Trace(1)
    rows = np.array([[5, 0, 1]], np.int64)
    trace.map([Layer(rows, None, BatchFile(str(n), 1, 3, 0, 0, 0)) for n in range(50)])
    trace.insert(rows)
    assert trace.count == 51
    assert total(trace) == {(5, 0): 51}
    assert trace.rows == 51
