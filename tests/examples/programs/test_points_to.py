"""The points-to analysis against naive evaluation of its rules."""

from __future__ import annotations

import random

from examples.programs.points_to import points_to
from tests.examples.programs.follow import HISTORIES, Case, Input, follow
from tests.examples.programs.history import Bag, Row
from tests.seeds import each_seed


def naive(alloc: Bag, move: Bag, load: Bag, store: Bag) -> set[Row]:
    """All rules over all facts, again and again until there is nothing new."""
    points: set[Row] = set(alloc)
    heap: set[Row] = set()
    while True:
        points_now = points | {(to, o) for to, source in move for v, o in points if v == source}
        points_now |= {
            (to, target)
            for to, base, field in load
            for v, o in points
            for holder, name, target in heap
            if v == base and holder == o and name == field
        }
        heap_now = heap | {
            (holder, field, target)
            for base, field, source in store
            for v, holder in points
            for w, target in points
            if v == base and w == source
        }
        if (points_now, heap_now) == (points, heap):
            return points
        points, heap = points_now, heap_now


def variable(rng: random.Random, size: int) -> str:
    return f"v{rng.randrange(max(2, size * 3 // 5))}"


def field(rng: random.Random) -> str:
    return rng.choice(("left", "right"))


CASE = Case(
    program=points_to,
    inputs={
        "alloc": Input(
            {"variable": str, "object": str},
            lambda rng, size: [(variable(rng, size), f"new{rng.randrange(size)}")],
        ),
        "move": Input(
            {"target": str, "source": str}, lambda rng, size: [(variable(rng, size), variable(rng, size))]
        ),
        "load": Input(
            {"target": str, "base": str, "field": str},
            lambda rng, size: [(variable(rng, size), variable(rng, size), field(rng))],
        ),
        "store": Input(
            {"base": str, "field": str, "source": str},
            lambda rng, size: [(variable(rng, size), field(rng), variable(rng, size))],
        ),
    },
    oracle=naive,
    most=(4, 10),
)


@each_seed(HISTORIES)
def test_every_epoch_is_as_from_scratch(seed: int) -> None:
    follow(CASE, seed)
