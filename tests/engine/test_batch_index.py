"""Keys are found through indexes of both kinds, whatever words they have; the kind follows how they are
spread."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import pytest

from engine.kernels.index import FEWEST
from engine.kernels.layers import COLUMNS
from engine.kernels.lookup import find_ranges
from engine.kernels.radix_index import KEYS_A_BUCKET
from engine.state.batch_index import Index
from engine.state.layer import NARROW, Layer
from engine.state.trace import Trace
from tests.seeds import SEED, some

LEAST, GREATEST = np.iinfo(np.int64).min, np.iinfo(np.int64).max
SPREADS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "counted": lambda rng, n: np.arange(n),
    "repeated": lambda rng, n: rng.integers(-n // 8, n // 8, n),
    "hashed": lambda rng, n: rng.integers(LEAST, GREATEST, n, endpoint=True),
    "one": lambda rng, n: np.full(n, 7),
    "ends": lambda rng, n: rng.choice([LEAST, LEAST + 1, -1, 0, 1, GREATEST], n),
    "crowded": lambda rng, n: np.append(rng.integers(0, n, n - 1), GREATEST),
    "powers": lambda rng, n: (2.0 ** rng.uniform(0, 62, n)).astype(np.int64),
    "clusters": lambda rng, n: rng.integers(0, 4, n) * 10**15 + rng.integers(0, n, n),
}


def made(words: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A sorted batch with these first words."""
    rows = np.stack(
        [words, rng.integers(0, 3, len(words)), np.zeros_like(words), np.ones_like(words)], axis=1
    )
    return np.unique(rows, axis=0).astype(np.int64)


def check(layer: Layer, key: int, rng: np.random.Generator) -> None:
    """Look some keys up that the batch has, and neighbours of these; one by one, few together and many."""
    rows = layer.matrix[:, :key]
    some = rows[rng.integers(0, len(rows), 200)]
    near = some + rng.integers(-1, 2, some.shape)
    ends = np.array([[LEAST] * key, [GREATEST] * key])
    keys = np.unique(np.concatenate((some, near, ends)), axis=0)
    table = np.empty((1, COLUMNS), np.int64)
    layer.register(table, 0, key)
    have: dict[tuple[int, ...], list[int]] = {}
    for place, row in enumerate(rows.tolist()):
        have.setdefault(tuple(row), []).append(place)
    for asked in (keys, *np.array_split(keys, 1 + len(keys) // 20), *np.array_split(keys, len(keys))):
        lows, highs = find_ranges(table, np.ascontiguousarray(asked))
        for sought, low, high in zip(asked.tolist(), lows[0].tolist(), highs[0].tolist(), strict=True):
            assert list(range(low, high)) == have.get(tuple(sought), [])


@pytest.mark.parametrize("size", [FEWEST, 1_000, NARROW + 1])
@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("key", [1, 2])
def test_every_key_is_found(spread: str, size: int, key: int) -> None:
    rng = np.random.default_rng(SEED + size)
    batch = made(SPREADS[spread](rng, size), rng)
    check(Layer(batch).indexed(key).narrowed, key, rng)


def test_a_merge_of_short_batches_follows_the_first_batch() -> None:
    """They have no indexes by which one could see how their words are spread."""
    rng = np.random.default_rng(SEED)
    trace = Trace(2)
    trace.key = 1
    trace.insert(made(rng.integers(0, 10**6, 200_000), rng))
    for _ in range(40):
        trace.insert(made(rng.integers(0, 10**6, 2_000), rng))
    first, *others = [layer.index for layer in trace.layers() if layer.index is not None]
    assert first.is_even and others
    assert all(index.is_even for index in others)
    for layer in trace.layers():
        check(layer, 1, rng)


@pytest.mark.parametrize(
    "words", [(LEAST, 0, 1), (LEAST, GREATEST), (-5, GREATEST), (-1, GREATEST, 0), (0, GREATEST)]
)
def test_two_or_three_keys_far_apart_are_found(words: tuple[int, ...]) -> None:
    """NULL, 0 and 1, for example."""
    rng = np.random.default_rng(SEED)
    firsts = np.repeat(np.sort(np.array(words, np.int64)), FEWEST)
    batch = np.stack([firsts, np.arange(len(firsts)), np.zeros_like(firsts), np.ones_like(firsts)], axis=1)
    layer = Layer(batch).indexed(1)
    check(layer, 1, rng)
    trace = Trace(2)
    trace.key = 1
    trace.insert(batch)
    more = batch.copy()
    more[:, 1] += len(batch)
    trace.insert(more)
    for merged in trace.layers():
        check(merged.indexed(1), 1, rng)


def _turned(spreads: Iterable[str]) -> list[tuple[str, str]]:
    """All pairs; every fourth of them has each spread on each side."""
    names = list(spreads)
    return [(left, names[(i + j) % len(names)]) for i, left in enumerate(names) for j in range(len(names))]


@pytest.mark.parametrize(("left", "right"), some(_turned(SPREADS)))
def test_keys_are_found_after_merges(left: str, right: str) -> None:
    """Large merges enter the rows as they proceed, in an index whose kind is chosen at the beginning."""
    rng = np.random.default_rng(SEED)
    trace = Trace(2)
    trace.key = 1
    for spread in (left, right):
        trace.insert(made(SPREADS[spread](rng, 3 * NARROW), rng))
    gone = made(SPREADS[right](rng, 2 * NARROW), rng)
    gone[:, -1] = -1
    trace.insert(gone)
    for _ in range(40):
        trace.insert(made(rng.integers(0, 100, 400), rng))
    layers = trace.layers()
    assert max(map(len, layers)) > 3
    for layer in layers:
        check(layer, 1, rng)


@pytest.mark.parametrize("spread", ["counted", "hashed", "repeated"])
def test_words_that_are_spread_evenly_need_few_slots(spread: str) -> None:
    rng = np.random.default_rng(SEED)
    index = Index.of(made(SPREADS[spread](rng, 50_000), rng), 1)
    assert index is not None and index.is_even
    assert len(index.slots) <= index.keys // KEYS_A_BUCKET + 3


@pytest.mark.parametrize("spread", ["crowded", "powers", "clusters"])
def test_other_words_are_found_by_hash(spread: str) -> None:
    rng = np.random.default_rng(SEED)
    index = Index.of(made(SPREADS[spread](rng, 50_000), rng), 1)
    assert index is not None and index.place_bits > 0


def test_the_second_words_of_a_key_may_crowd_the_first_ones() -> None:
    words = np.arange(50_000)
    batch = np.stack([words // 1_000, words, np.zeros_like(words), np.ones_like(words)], axis=1)
    one, two = Index.of(batch, 1), Index.of(batch, 2)
    assert one is not None and one.is_even
    assert two is not None and two.place_bits > 0


def test_a_merge_that_stretches_the_range_uses_hashes() -> None:
    even = np.ones((5_000, 3), np.int64)
    even[:, 0] = np.arange(5_000)
    far = even.copy()
    far[:, 0] += 10**12
    known = Index.of(even, 1)
    near = Index.of_merge((even, even), known, 10_000, 1)
    apart = Index.of_merge((even, far), known, 10_000, 1)
    assert near is not None and near.place_bits < 0
    assert apart is not None and apart.place_bits > 0
