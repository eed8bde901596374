"""The errors of a view at any epoch, and that they are counted once for all reads until one comes or goes."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from engine.kernels.arrange import arrange
from engine.state import error_history
from engine.state.dictionary import Dictionary
from engine.state.error_history import ErrorHistory
from engine.state.layer import Layer
from tests.seeds import each_seed

_ORDER, _NONE = np.array([0, 1], np.int64), np.empty(0, np.int64)


def layer(changes: list[tuple[int, int, int]]) -> Layer:
    """The batch of message words, epochs and diffs."""
    return Layer(arrange(np.array(changes, np.int64).reshape(-1, 3).T.copy(), _ORDER, _NONE))


@each_seed(6)
def test_the_errors_at_an_epoch_are_what_came_and_has_not_gone(seed: int) -> None:
    rng, dictionary = random.Random(seed), Dictionary()
    words = [dictionary.word(f"message {n}") for n in range(6)]
    changes: list[tuple[int, int, int]] = []
    history, now = ErrorHistory(), Counter[int]()
    layers: tuple[Layer, ...] = ()
    for epoch in range(1, 40):
        fresh = []
        for _ in range(rng.choice((0, 0, 1, 4))):
            word = rng.choice(words)
            diff = -1 if now[word] and rng.random() < 0.6 else 1
            now[word] += diff
            fresh.append((word, epoch, diff))
        changes += fresh
        layers = (layer(changes),) if rng.random() < 0.3 else (*layers, layer(fresh))
        history = history.with_layers(layers)
        for at in (epoch, rng.randrange(epoch + 1), epoch):
            counts = Counter[int]()
            for word, time, diff in changes:
                counts[word] += diff * (time <= at)
            expected = sorted((dictionary.text(word), count) for word, count in counts.items() if count)
            assert history.at(at, _NONE, dictionary) == expected
            few = history.at(at, _NONE, dictionary, 2)
            assert few == sorted(few) and set(few) <= set(expected)
            frequent = sorted((count for _, count in expected), reverse=True)[:2]
            assert sorted((count for _, count in few), reverse=True) == frequent


def test_errors_are_counted_once_until_one_comes_or_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = []

    def counting(batches, *others):  # type: ignore[no-untyped-def]
        counted.append(1)
        return accumulate(batches, *others)

    accumulate = error_history.accumulate
    monkeypatch.setattr(error_history, "accumulate", counting)
    dictionary = Dictionary()
    word = dictionary.word("division by zero")
    first = layer([(word, epoch, 1 if epoch % 2 else -1) for epoch in range(1, 1001)])
    history = ErrorHistory((first,))
    for epoch in range(1000, 1100):
        assert history.at(epoch, _NONE, dictionary) == []
        history = history.with_layers((first,))
    assert len(counted) == 1
    history = history.with_layers((first, layer([(word, 1100, 1)])))
    for epoch in range(1100, 1200):
        assert history.at(epoch, _NONE, dictionary) == [("division by zero", 1)]
        assert history.at(999, _NONE, dictionary) == [("division by zero", 1)]
    assert len(counted) == 3
