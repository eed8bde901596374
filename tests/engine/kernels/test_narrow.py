"""Narrow batches: what is written is read, in part or as a whole, and kernels find in them what they find in
matrices."""

from __future__ import annotations

import numpy as np
import pytest

from engine.kernels.arrange import arrange
from engine.kernels.collapse import rows_until
from engine.kernels.join import join
from engine.kernels.layers import SPREAD
from engine.kernels.lookup import find_ranges
from engine.kernels.merge import FIELDS, WRITTEN, merge, merge_step
from engine.kernels.narrow.narrow_rows import NarrowColumn, NarrowRows, as_matrix, table_of
from engine.kernels.parallel import threads
from engine.state.layer import Layer
from engine.state.narrow_writer import NarrowWriter
from tests.seeds import each_seed

LEAST, GREATEST = -(2**63), 2**63 - 1
NO_ROUNDS = NO_MASKS = np.empty(0, np.int64)
RANGES = ((0, 1), (5, 6), (-3, 200), (-1, 256), (0, 2**24), (-(2**40), 2**41), (LEAST, GREATEST))


def words(rng: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    """A matrix whose columns have ranges of many sizes; ends of ranges are likely."""
    parts = []
    for low, high in (RANGES[rng.integers(len(RANGES))] for _ in range(columns)):
        part = rng.integers(low, high, rows)
        part[rng.random(rows) < 0.1] = low
        part[rng.random(rows) < 0.1] = high - (high - low == 1)
        parts.append(part)
    return np.ascontiguousarray(np.array(parts).T)


def sorted_batch(rng: np.random.Generator, rows: int, key: int, bound: int, epochs: int = 3) -> np.ndarray:
    delta = np.vstack(
        (
            rng.integers(-bound, bound, (key + 1, rows)),
            rng.integers(0, epochs, rows),
            rng.choice([-1, 1, 2, 300], rows),
        )
    )
    return arrange(np.ascontiguousarray(delta), np.arange(key + 2), NO_ROUNDS)


@each_seed(60)
def test_what_is_narrow_is_read_as_it_was(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = words(rng, int(rng.integers(1, 300)), int(rng.integers(1, 9)))
    narrow = NarrowRows.of(rows)
    assert narrow.shape == rows.shape and len(narrow) == len(rows)
    assert narrow.nbytes <= rows.nbytes + 8
    low, high = sorted(rng.integers(0, len(rows) + 1, 2).tolist())
    places = rng.integers(0, len(rows), 5)
    chosen = rng.random(len(rows)) < 0.5
    columns = rng.integers(0, rows.shape[1], 2).tolist()
    for place in (slice(None), slice(low, high), slice(high, low), slice(-3, None), places, chosen):
        assert np.array_equal(narrow[place], rows[place])
        assert np.array_equal(narrow[place, -1], rows[place, -1])
        assert np.array_equal(narrow[place, :2], rows[place, :2])
        assert np.array_equal(narrow[place, columns], rows[place][:, columns])
    for column in range(rows.shape[1]):
        read = NarrowColumn(narrow, column)
        assert [read[i] for i in range(len(rows))] == rows[:, column].tolist()
        assert (read.min(), read.max()) == (rows[:, column].min(), rows[:, column].max())


def test_a_column_of_one_word_takes_no_bytes() -> None:
    rows = np.array([[i, 7, 1] for i in range(200)], np.int64)
    assert NarrowRows.of(rows).stride == 1
    assert NarrowRows.of(rows[:1]).stride == 0
    assert NarrowRows.of(rows[:1])[:].tolist() == [[0, 7, 1]]


@pytest.mark.parametrize("high", [2, 200, 2**20, 2**40])
def test_several_threads_write_the_parts_of_one_batch(high: int) -> None:
    """A word is written with eight bytes, which reach into rows that another thread may have written."""
    rows = np.random.default_rng(high).integers(0, high, (threads.LARGE + 5, 2))
    threads.use(3)
    try:
        narrow = [NarrowRows.of(rows) for _ in range(20)]
        assert all(np.array_equal(each[:], rows) for each in narrow)
    finally:
        threads.use(1)


def test_a_word_that_all_rows_have_is_replaced_without_a_copy() -> None:
    rows = np.array([[i, 7, i % 3] for i in range(200)], np.int64)
    narrow = NarrowRows.of(rows)
    moved = narrow.with_word(1, -(2**40))
    assert moved.data is narrow.data
    assert moved[:].tolist() == [[i, -(2**40), i % 3] for i in range(200)]
    assert moved[:, 1].min() == NarrowColumn(moved, 1).max() == -(2**40)
    assert np.array_equal(narrow[:], rows)


def test_a_column_with_room_for_words_that_are_gone_takes_another_word() -> None:
    wide = NarrowRows.of(np.array([[0, 5], [1, 900]]))
    left = NarrowRows(wide.data, 1, wide.format, wide.stride, np.array([[0, 5], [0, 5]]))
    assert left.with_word(1, 7)[:].tolist() == [[0, 7]]
    assert NarrowRows(wide.data[wide.stride :], 1, wide.format, wide.stride, wide.ends).with_word(1, 7)[
        :
    ].tolist() == [[1, 7]]


@each_seed(60)
@pytest.mark.parametrize("spread", [False, True])
def test_lookups_find_the_same_rows(seed: int, spread: bool) -> None:
    rng = np.random.default_rng(seed)
    key = int(rng.integers(1, 4))
    batch = sorted_batch(rng, int(rng.integers(1, 2_000)), key, int(rng.choice([3, 300, 2**40])))
    indexed = int(rng.choice([0, SPREAD if spread and key == 1 else key]))
    tables = []
    layers = [Layer(batch).indexed(indexed), Layer(NarrowRows.of(batch)).indexed(indexed)]
    for layer in layers:
        table = table_of([layer.rows])
        layer.register(table, 0, indexed)
        tables.append(table)
    some = np.unique(batch[rng.integers(0, len(batch), int(rng.integers(1, 50)))][:, :key], axis=0)
    keys = np.ascontiguousarray(np.unique(np.vstack((some, some + 1)), axis=0))
    found, same = (find_ranges(table, keys) for table in tables)
    assert all(map(np.array_equal, found, same))
    probe = np.column_stack((keys, np.zeros(len(keys), np.int64), np.ones(len(keys), np.int64)))
    columns = np.array([*range(key), ~key], np.int64)
    pairs = [
        join(probe, key, table, key, key + 1, 0, NO_ROUNDS, columns, NO_MASKS)[0].tolist() for table in tables
    ]
    assert pairs[0] == pairs[1]
    assert rows_until(tables[0], key + 1, 1).tolist() == rows_until(tables[1], key + 1, 1).tolist()


@each_seed(60)
def test_merges_read_and_write_narrow_batches(seed: int) -> None:
    """A step at a time; sums of diffs may need more bytes than those of the inputs."""
    rng = np.random.default_rng(seed)
    bound, since = int(rng.choice([2, 50, 2**50])), int(rng.integers(0, 5))
    matrices = [sorted_batch(rng, int(rng.integers(1, 900)), 1, bound, 5) for _ in range(2)]
    if rng.random() < 0.5:
        for matrix in matrices:
            matrix[:, -1] = 1
    expected = merge(*matrices, 2, since)
    batches = [NarrowRows.of(m) if rng.random() < 0.7 else m for m in matrices]
    table, state = table_of(batches), np.zeros(FIELDS, np.int64)
    writer = NarrowWriter(sum(map(len, batches)), batches, 1, since)
    fuel = int(rng.integers(1, rng.choice([60, 1_500])))
    stretch = np.empty((fuel + 1, 4), np.int64)
    is_done = False
    while not is_done:
        is_done = merge_step(table, stretch, state, 2, since, fuel)
        made = int(state[WRITTEN])
        ready = made if is_done else made - 1
        if ready:
            writer.write(stretch[:ready])
        stretch[: made - ready] = stretch[ready:made]
        state[WRITTEN] = made - ready
    assert as_matrix(writer.rows).tolist() == expected.tolist()
    if len(expected):
        least, greatest = writer.rows.ends
        assert (least <= expected.min(axis=0)).all() and (greatest >= expected.max(axis=0)).all()
        assert (least[-1], greatest[-1]) == (expected[:, -1].min(), expected[:, -1].max())
