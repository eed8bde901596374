"""Shards: every row in one, equal keys in the same, and the order kept."""

from __future__ import annotations

import numpy as np
import pytest

from engine.kernels.index import FEWEST
from engine.state.layer import Layer
from engine.state.store.key_shards import key_words, split_by_shard
from tests.seeds import SEED


def sorted_rows(rng: np.random.Generator, size: int, bound: int) -> np.ndarray:
    rows = rng.integers(0, bound, (size, 4))
    return np.ascontiguousarray(rows[np.lexsort(rows.T[::-1])])


@pytest.mark.parametrize("shards", [1, 2, 3, 7, 64])
@pytest.mark.parametrize("words", [0, 1, 2])
def test_every_row_is_in_one_shard_and_in_order(shards: int, words: int) -> None:
    rows = sorted_rows(np.random.default_rng(SEED + shards), 5_000, 40)
    parts = split_by_shard(rows, words, shards)
    assert len(parts) == shards
    seen: dict[tuple, int] = {}
    for shard, part in enumerate(parts):
        assert part.flags.c_contiguous
        assert (np.lexsort(part.T[::-1]) == np.arange(len(part))).all()
        for key in map(tuple, part[:, :words].tolist()):
            assert seen.setdefault(key, shard) == shard
    whole = np.concatenate(parts)
    assert (whole[np.lexsort(whole.T[::-1])] == rows).all()
    if words == 0:
        assert len(parts[0]) == len(rows)


@pytest.mark.parametrize("keys", [np.arange(100_000), np.arange(100_000) << 40, -(np.arange(100_000) ** 2)])
def test_shards_are_of_about_one_size(keys: np.ndarray) -> None:
    rows = np.stack([np.sort(keys), np.ones_like(keys)], axis=1)
    sizes = [len(part) for part in split_by_shard(rows, 1, 8)]
    assert max(sizes) < 1.05 * 100_000 / 8


def test_the_shard_of_a_key_is_known_to_all_releases() -> None:
    """Files outlive the release that wrote them: a row must be looked for where it was put."""
    rows = np.array([[key, 5] for key in range(12)], np.int64)
    parts = split_by_shard(rows, 1, 4)
    assert [part[:, 0].tolist() for part in parts] == [[1, 7], [3, 4], [9, 10], [0, 2, 5, 6, 8, 11]]


def test_an_index_of_one_shard_uses_all_of_its_slots() -> None:
    """Neither the first bits of hashes nor the words themselves are those by which shards are divided."""
    words = np.append(np.arange(64_000), 1 << 50)
    rows = np.stack([words, np.ones_like(words)], axis=1)
    part = max(split_by_shard(rows, 1, 8), key=lambda part: part[-1, 0])
    index = Layer(part).indexed(1).index
    assert index is not None and index.place_bits > 0 and len(part) > FEWEST
    eighths = np.array_split(index.slots > 0, 8)
    assert min(eighth.sum() for eighth in eighths) > 0.9 * len(part) / 8
    even = Layer(part[:-1]).indexed(1).index
    assert even is not None and even.is_even


def test_no_rows_and_spread_keys() -> None:
    assert [len(part) for part in split_by_shard(np.empty((0, 3), np.int64), 1, 3)] == [0, 0, 0]
    assert (key_words(-1), key_words(0), key_words(2)) == (1, 0, 2)
