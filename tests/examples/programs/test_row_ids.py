"""Methods of one name in one class, found by ids, against a nested loop over the texts."""

from __future__ import annotations

import random

from examples.programs.row_ids import overloads
from tests.examples.programs.follow import HISTORIES, Case, Input, follow
from tests.examples.programs.history import Bag, Row
from tests.seeds import each_seed


def nested_loop(methods: Bag) -> set[Row]:
    return {(*one, other[2]) for one in methods for other in methods if one[:2] == other[:2] and one != other}


def method(rng: random.Random, size: int) -> list[Row]:
    """Texts that also are equal across columns."""
    return [tuple(f"text {rng.randrange(4)}" for _ in range(3))]


CASE = Case(
    program=overloads,
    inputs={"methods": Input({"owner": str, "name": str, "parameters": str}, method)},
    oracle=nested_loop,
)


@each_seed(HISTORIES)
def test_every_epoch_is_as_from_scratch(seed: int) -> None:
    follow(CASE, seed)
