"""Times of several coordinates: just what a frontier no longer tells apart is made one."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from engine.kernels.times import advance_batch, rows_before
from engine.state.packed_times import Order

SIDE = 4


@pytest.mark.parametrize("coordinates", [2, 3])
@pytest.mark.parametrize("seed", range(5))
def test_a_frontier_makes_one_what_it_does_not_tell_apart(coordinates: int, seed: int) -> None:
    """At every time that can still be read a row is there just when it was."""
    rng = random.Random(seed)
    order = Order(("a", "b", "c")[:coordinates])
    grid = [order.pack(time) for time in itertools.product(range(SIDE), repeat=coordinates)]
    frontier = order.frontier(rng.sample(grid, 3))
    readable = [time for time in grid if any(order.before(least, time) for least in frontier)]
    advanced: dict[tuple[bool, ...], set[int]] = {}
    for time in grid:
        row = np.array([[7, time, 1]], np.int64)
        ((_, later, diff),) = advance_batch(row, 1, np.array(frontier, np.int64), order.masks).tolist()
        seen = tuple(order.before(time, at) for at in readable)
        assert diff == 1
        assert seen == tuple(order.before(later, at) for at in readable), (frontier, time, later)
        advanced.setdefault(seen, set()).add(later)
    assert all(len(times) == 1 for times in advanced.values())


def test_rows_before_a_time_are_before_it_in_each_coordinate() -> None:
    order = Order(("a", "b"))
    grid = list(itertools.product(range(3), repeat=2))
    batch = np.array([[place, order.pack(time), 1] for place, time in enumerate(grid)], np.int64)
    found = rows_before(batch, 1, order.pack((1, 1)), order.masks)
    assert [grid[place] for place in found[:, 0].tolist()] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert not found[:, 1].any()


def test_advancing_keeps_the_order_of_words() -> None:
    """A trace sorted by texts has words that are not in the order of numbers."""
    order = Order(("a", "b"))
    rows = [(7, (1, 1), 1), (7, (2, 0), 1), (3, (0, 2), 1), (3, (1, 0), 2), (5, (2, 2), 1)]
    batch = np.array([(word, order.pack(time), diff) for word, time, diff in rows], np.int64)
    found = advance_batch(batch, 1, np.array([order.pack((2, 1))], np.int64), order.masks)
    expected = [(7, (2, 1), 2), (3, (2, 1), 2), (3, (2, 2), 1), (5, (2, 2), 1)]
    assert [(word, order.unpack(time), diff) for word, time, diff in found.tolist()] == expected
