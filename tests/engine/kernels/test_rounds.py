"""Work for later rounds is grouped by them: nothing is lost, and nothing is there twice."""

from __future__ import annotations

import numpy as np
import pytest

from engine.kernels.rounds import distinct_rows, group_deltas, group_keys, split_deltas


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("size", [0, 1, 60])
def test_keys_by_their_rounds(depth: int, size: int) -> None:
    later = np.random.default_rng(size).integers(0, 3, (size, depth + 2))
    lines, starts = group_keys(later, depth)
    assert list(map(tuple, lines.tolist())) == sorted(set(map(tuple, later.tolist())))
    rounds = [tuple(line) for line in lines[:, :depth].tolist()]
    assert starts.tolist() == [i for i, r in enumerate(rounds) if i == 0 or r != rounds[i - 1]] + [len(lines)]


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("size", [0, 1, 60])
def test_deltas_by_their_rounds(depth: int, size: int) -> None:
    later = np.random.default_rng(size).integers(0, 3, (2 + depth + 2, size))
    found = list(split_deltas(later, depth))
    rounds = later[2 : 2 + depth].T.tolist()
    assert [at for at, _ in found] == sorted(set(map(tuple, rounds)))
    for at, delta in found:
        chosen = [i for i, r in enumerate(rounds) if tuple(r) == at]
        assert delta.T.tolist() == later[[0, 1, 2 + depth, 3 + depth]][:, chosen].T.tolist()
    assert group_deltas(later, 2, depth)[0].shape == later.shape


def test_rows_are_distinct_by_all_their_words() -> None:
    rows = np.random.default_rng(1).integers(0, 3, (60, 3))
    assert distinct_rows(rows).tolist() == [list(row) for row in sorted(set(map(tuple, rows.tolist())))]
