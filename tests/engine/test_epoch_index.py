"""Changes between epochs are found by an index: what is old is not looked at again, and nothing is missed."""

from __future__ import annotations

import random

import numpy as np
import pytest

from engine.runtime.engine import Engine
from engine.state.epoch_index import FEW, EpochIndex
from tests.engine.harness import delta, insert, schema
from tests.seeds import SEED, each_seed


@pytest.mark.parametrize("shape", ["load", "even", "few", "two"])
def test_every_range_of_epochs(shape: str) -> None:
    rng = np.random.default_rng(SEED)
    epochs = {
        "load": np.where(rng.random(5 * FEW) < 0.9, 3, rng.integers(3, 40, 5 * FEW)),
        "even": rng.integers(3, 40, 5 * FEW),
        "few": rng.integers(3, 40, 7),
        "two": rng.integers(5, 7, 2 * FEW),
    }[shape].astype(np.int64)
    rows = np.arange(len(epochs))
    index = EpochIndex(epochs)
    for since in range(1, 42, 3):
        for until in range(since, 44, 3):
            expected = rows[(epochs > since) & (epochs <= until)]
            assert sorted(rows[index.places(since, until)]) == expected.tolist()


class Watched(np.ndarray):
    """A column of epochs that counts the numbers read from it."""

    read = 0

    def __getitem__(self, key):  # type: ignore[no-untyped-def]
        Watched.read += np.asarray(np.arange(len(self))[key]).size
        return super().__getitem__(key)

    def __gt__(self, other):  # type: ignore[no-untyped-def]
        Watched.read += len(self)
        return super().__gt__(other)

    def __le__(self, other):  # type: ignore[no-untyped-def]
        Watched.read += len(self)
        return super().__le__(other)


def test_a_range_reads_its_own_rows_and_few_others() -> None:
    epochs = np.full(1 << 17, 1, np.int64)
    epochs[:: 1 << 10] = np.arange(2, 2 + (1 << 7))
    index = EpochIndex(epochs.view(Watched))
    index.places(50, 60)  # sorts
    Watched.read = 0
    assert len(index.places(50, 60)) == 10
    assert 0 < Watched.read < 50


def test_a_poll_looks_only_into_layers_that_have_news() -> None:
    engine = Engine()
    engine.create_source("s", schema(2))
    epoch = insert(engine, "s", *((i, i) for i in range(20_000)))
    assert engine.snapshot.changes("s", 0, epoch).shape[1] == 20_000
    for i in range(50):
        newest = insert(engine, "s", (i, -1))
        assert engine.snapshot.changes("s", newest - 1, newest).T.tolist() == [[i, -1, newest, 1]]
    large = max(engine.snapshot.relations["s"].layers, key=len)
    assert large.epochs.greatest < newest - 1
    assert large.epochs.bytes == 0  # never sorted, because no poll asked for a part of it


@each_seed(3)
def test_changes_are_those_that_were_made_however_layers_are_merged(seed: int) -> None:
    rng = random.Random(seed)
    engine = Engine()
    engine.create_source("s", schema(2))
    made: list[tuple[int, int, int, int]] = []
    for _ in range(150):
        epoch = engine.snapshot.upper
        size = rng.choice((1, 2, 3, 200))
        new = {(rng.randrange(1_000), rng.randrange(1_000)) for _ in range(size)}
        lines = [(row, epoch, 1) for row in sorted(new)]
        engine.stage({"s": delta(2, lines)}, epoch + 1).publish()
        made += [(*row, at, diff) for row, at, diff in lines]
        since = rng.randrange(epoch)
        until = rng.randrange(since, epoch + 1)
        found = list(map(tuple, engine.snapshot.changes("s", since, until).T.tolist()))
        assert found == sorted((c for c in made if since < c[2] <= until), key=lambda c: (c[2], c[:2]))
    words, diffs = engine.snapshot.net_changes("s", 0, epoch)
    assert int(diffs.sum()) == len(made)
    assert list(map(tuple, words.T.tolist())) == sorted({change[:2] for change in made})


def test_what_was_forgotten_in_part_is_still_found() -> None:
    engine = Engine()
    engine.create_source("s", schema(1))
    for i in range(100):
        insert(engine, "s", (i,))
    engine.forget("s", 60)
    assert engine.snapshot.changes("s", 60, 70).T.tolist() == [[e - 1, e, 1] for e in range(61, 71)]
    assert engine.snapshot.relations["s"].size == 100
