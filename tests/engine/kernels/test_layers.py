"""Keys are found where a linear search finds them, few or many, in small and large batches."""

from __future__ import annotations

import numpy as np
import pytest

from engine.kernels.layers import SPARSE, find_ranges, table_of


@pytest.mark.parametrize("size", [0, 1, 5, 100, 40 * SPARSE])
@pytest.mark.parametrize("asked", [0, 1, 3, 50])
@pytest.mark.parametrize("width", [0, 1, 2])
def test_find_ranges(size: int, asked: int, width: int) -> None:
    rng = np.random.default_rng(size + asked)
    batches = [np.array(sorted(rng.integers(0, 30, (size, 3)).tolist()), np.int64).reshape(-1, 3)] * 2
    keys = np.unique(rng.integers(0, 32, (asked, width)), axis=0).astype(np.int64)

    lows, highs = find_ranges(table_of(batches), np.ascontiguousarray(keys))

    for line, batch in enumerate(batches):
        for m, key in enumerate(keys.tolist()):
            expected = [i for i, row in enumerate(batch.tolist()) if row[:width] == key]
            assert list(range(lows[line, m], highs[line, m])) == expected
