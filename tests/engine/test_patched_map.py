"""A patched map is the dictionary that it stands for, and the maps it was made from stay as they were."""

from __future__ import annotations

import random
import weakref

import pytest

from engine.state.patched_map import PatchedMap
from tests.seeds import each_seed


@each_seed(3)
def test_it_is_the_dictionary_that_it_stands_for(seed: int) -> None:
    rng = random.Random(seed)
    expected: dict[str, int] = {str(i): i for i in range(rng.choice((0, 3, 50)))}
    made = [(PatchedMap(dict(expected)), dict(expected))]
    for _ in range(200):
        names = [str(rng.randrange(60)) for _ in range(rng.randrange(4))]
        changes = {name: rng.choice((None, rng.randrange(9))) for name in names}
        found = made[-1][0].patched(changes)
        expected |= {name: value for name, value in changes.items() if value is not None}
        expected = {name: value for name, value in expected.items() if changes.get(name, 0) is not None}
        made.append((found, dict(expected)))
    for found, expected in made:
        assert dict(found) == expected
        assert len(found) == len(expected)
        assert all((str(i) in found) == (str(i) in expected) for i in range(61))
    with pytest.raises(KeyError):
        made[-1][0]["61"]


def test_a_change_shares_what_it_does_not_touch() -> None:
    found = PatchedMap({str(i): i for i in range(10_000)})
    for i in range(90):
        following = found.patched({str(i): -i})
        assert following._base is found._base
        found = following
    assert len(found._patch) == 90
    for i in range(90, 120):
        found = found.patched({str(i): -i})
    assert len(found._patch) < 90


def test_what_an_entry_has_replaced_is_not_kept_for_long() -> None:
    class Value:
        pass

    map = PatchedMap({str(number): Value() for number in range(1000)})
    replaced = weakref.ref(map["7"])
    for _ in range(40):
        map = map.patched({"7": Value()})
    assert replaced() is None
    assert len(map) == 1000
