"""A group's states are its rows before a step, and after each of its new epochs."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from engine.kernels.narrow.narrow_rows import table_of
from engine.kernels.states import FROM, GROUP, NONE, UNTIL, group_states

KEYS, EPOCHS = 4, 6


def _batch(rng: np.random.Generator, size: int, values: int, fresh: bool) -> np.ndarray:
    """Sorted rows of a key, values, an epoch and a diff, which may make counts negative."""
    rows = np.column_stack(
        (
            rng.integers(0, KEYS, size),
            rng.integers(0, 3, (size, values)),
            rng.integers(0, EPOCHS, size) if fresh else np.zeros(size, np.int64),
            rng.choice((-1, 1, 2), size),
        )
    )
    return np.ascontiguousarray(rows[np.lexsort(rows[:, ::-1].T)])


@pytest.mark.parametrize("values", [0, 1, 2])
@pytest.mark.parametrize("seed", range(8))
def test_states_have_the_rows_of_all_changes_until_they_begin(seed: int, values: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = [int(size) for size in rng.choice((0, 1, 7, 40), 5)]
    old = seed % 5
    batches = [_batch(rng, size, values, index >= old) for index, size in enumerate(sizes)]
    batches = [batch for batch in batches if len(batch)]
    old = sum(size > 0 for size in sizes[:old])
    keys = np.arange(KEYS, dtype=np.int64)[:, np.newaxis]
    states, rows = group_states(keys, table_of(batches), old, values)

    expected_states, expected = [], []
    for key in range(KEYS):
        new = [row for batch in batches[old:] for row in batch.tolist() if row[0] == key]
        epochs = sorted({row[-2] for row in new})
        if not epochs:
            continue
        published = [row for batch in batches[:old] for row in batch.tolist() if row[0] == key]
        for begin, end in zip((NONE, *epochs), (*epochs, NONE), strict=True):
            counts: Counter[tuple[int, ...]] = Counter()
            for *words, epoch, diff in new:
                counts[tuple(words[1:])] += diff if epoch <= begin else 0
            for *words, _, diff in published:
                counts[tuple(words[1:])] += diff
            expected += [[len(expected_states), n, *row] for row, n in sorted(counts.items()) if n]
            expected_states.append((key, begin, end))
    assert [tuple(state) for state in states[:, [GROUP, FROM, UNTIL]].tolist()] == expected_states
    assert rows[np.argsort(rows[:, 0], kind="stable")].tolist() == expected


def test_groups_that_do_not_change_have_no_states() -> None:
    batch = np.array([[1, 5, 0, 1], [2, 6, 0, 1]], np.int64)
    change = np.array([[2, 6, 3, -1]], np.int64)
    states, rows = group_states(np.array([[1], [2]], np.int64), table_of([batch, change]), 1, 1)
    assert states[:, [GROUP, FROM, UNTIL]].tolist() == [[1, NONE, 3], [1, 3, NONE]]
    assert rows.tolist() == [[0, 1, 6]]
    states, rows = group_states(np.array([[1]], np.int64), table_of([]), 0, 1)
    assert not len(states)
    assert not len(rows)
