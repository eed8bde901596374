"""Keys are found where a linear search finds them, in small and large batches, indexed or not."""

from __future__ import annotations

import numpy as np
import pytest

from engine.kernels.layers import COLUMNS, SPREAD
from engine.kernels.lookup import BLOCK, find_ranges
from engine.state.layer import Layer


@pytest.mark.parametrize("size", [0, 1, 5, 100, 3_000])
@pytest.mark.parametrize("asked", [0, 1, 3, 50, 2 * BLOCK])
@pytest.mark.parametrize("width", [0, 1, 2, 3])
def test_find_ranges(size: int, asked: int, width: int) -> None:
    rng = np.random.default_rng(size + asked)
    batch = np.array(sorted(rng.integers(0, [2_000, 4, 4], (size, 3)).tolist()), np.int64).reshape(-1, 3)
    keys = np.unique(rng.integers(0, [2_002, 5, 5][:width], (asked, width)), axis=0).astype(np.int64)
    keyed_by = (0, 1, 2, 3, SPREAD)
    layers = [Layer(batch).indexed(key) for key in keyed_by]
    table = np.empty((len(layers), COLUMNS), np.int64)
    for line, (layer, key) in enumerate(zip(layers, keyed_by, strict=True)):
        layer.register(table, line, key)

    lows, highs = find_ranges(table, np.ascontiguousarray(keys))

    places: dict[tuple[int, ...], list[int]] = {}
    for i, row in enumerate(batch[:, :width].tolist()):
        places.setdefault(tuple(row), []).append(i)
    for line in range(len(layers)):
        for m, key in enumerate(keys.tolist()):
            assert list(range(lows[line, m], highs[line, m])) == places.get(tuple(key), [])
