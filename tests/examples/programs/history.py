"""Random histories of a program's inputs: from nothing, through growth and decay, to nothing again.

A history is a list of epochs, each the changes that it makes to each input. The bags grow and shrink
twice, so that a graph gets its cycles and its one large component and loses them again. No row's
multiplicity is ever negative, and the last epoch deletes what is left.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping

Row = tuple[object, ...]
Bag = Counter[Row]
Changes = dict[str, list[tuple[Row, int]]]
Maker = Callable[[random.Random, float], list[Row]]
"""Rows to insert together, of an input that is to have about so many distinct values: `rows(rng, size)`."""

WAVES = 2


def random_history(rng: random.Random, makers: Mapping[str, Maker], epochs: int, most: int) -> list[Changes]:
    """`epochs` epochs of changes; each input grows to about `most` rows."""
    bags: dict[str, Bag] = {name: Counter() for name in makers}
    history: list[Changes] = []
    for epoch in range(epochs - 1):
        wave = WAVES * epoch / epochs % 1
        wanted = most * (1 - abs(2 * wave - 1))
        changes: Changes = {name: [] for name in makers}
        for _ in range(rng.choice((0, 1, 1, 2, 2, 3, 6))):
            name = rng.choice(list(makers))
            bag = bags[name]
            grows = rng.random() < (0.85 if bag.total() <= wanted else 0.2)
            for row, diff in _inserted(rng, bag, makers[name], most) if grows else _deleted(rng, bag):
                changes[name].append((row, diff))
                bag[row] += diff
            bags[name] = +bag
        history.append(changes)
    history.append({name: [(row, -count) for row, count in bag.items()] for name, bag in bags.items()})
    return history


def _inserted(rng: random.Random, bag: Bag, maker: Maker, most: int) -> list[tuple[Row, int]]:
    """New rows, or sometimes one that is there already."""
    if bag and rng.random() < 0.1:
        return [(rng.choice(sorted(bag)), 1)]
    return [(row, 1) for row in maker(rng, most)]


def _deleted(rng: random.Random, bag: Bag) -> list[tuple[Row, int]]:
    return [(rng.choice(sorted(bag)), -1)] if bag else []


def states(history: list[Changes]) -> list[dict[str, Bag]]:
    """The inputs after each epoch."""
    bags: dict[str, Bag] = {name: Counter() for name in history[0]}
    after: list[dict[str, Bag]] = []
    for changes in history:
        for name, lines in changes.items():
            for row, diff in lines:
                bags[name][row] += diff
            bags[name] = +bags[name]
        after.append({name: Counter(bag) for name, bag in bags.items()})
    return after


def chopped(rng: random.Random, epochs: int) -> list[int]:
    """Sizes of pieces that make `epochs` together."""
    pieces: list[int] = []
    while sum(pieces) < epochs:
        pieces.append(rng.randint(1, min(20, epochs - sum(pieces))))
    return pieces
