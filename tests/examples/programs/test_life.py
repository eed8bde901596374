"""Life against sets of living cells."""

from __future__ import annotations

import random

from examples.programs.life import generations
from tests.examples.programs.follow import HISTORIES, Case, Input, follow
from tests.examples.programs.history import Bag, Row
from tests.seeds import each_seed

GENERATIONS = 5


def boards(cells: Bag) -> set[Row]:
    """(generation, x, y) of every cell alive in generations 0 to GENERATIONS."""
    alive = set(cells)
    found: set[Row] = set()
    for generation in range(GENERATIONS + 1):
        found |= {(generation, x, y) for x, y in alive}
        around = {(x + i, y + j) for x, y in alive for i in (-1, 0, 1) for j in (-1, 0, 1)}
        alive = {cell for cell in around if lives(cell, alive)}
    return found


def lives(cell: tuple[int, int], alive: set[Row]) -> bool:
    x, y = cell
    block = {(x + i, y + j) for i in (-1, 0, 1) for j in (-1, 0, 1)}
    neighbours = len((block - {cell}) & alive)
    return neighbours == 3 or (neighbours == 2 and cell in alive)


def cell(rng: random.Random, size: int) -> list[Row]:
    """A cell of a small board, or now and then three in a row."""
    side = max(3, size // 3)
    x, y = rng.randrange(side), rng.randrange(side)
    return [(x + i, y) for i in range(3)] if rng.random() < 0.2 else [(x, y)]


CASE = Case(
    program=lambda cells: generations(cells, GENERATIONS),
    inputs={"cells": Input({"x": int, "y": int}, cell)},
    oracle=boards,
)


@each_seed(HISTORIES)
def test_every_epoch_is_as_from_scratch(seed: int) -> None:
    follow(CASE, seed)
