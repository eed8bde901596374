"""Every program at times of two coordinates, version and epoch, of which neither is before the other.

What an input holds at a time is the sum of its changes at times at or before it in both coordinates;
the oracle gets that sum. Times are completed in an order drawn at random, and one by one, with the
same differences.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter

import pytest

from engine.api import Dataflow, Output
from tests.examples.programs import (
    test_breadth_first,
    test_connected_components,
    test_life,
    test_pagerank,
    test_points_to,
    test_shortest_paths,
    test_strongly_connected,
    test_transitive_closure,
)
from tests.examples.programs.follow import HISTORIES, Case, rows
from tests.examples.programs.history import Bag, Row
from tests.seeds import each_seed

CASES = {
    module.__name__.rpartition("test_")[2]: module.CASE
    for module in (
        test_breadth_first,
        test_connected_components,
        test_life,
        test_pagerank,
        test_points_to,
        test_shortest_paths,
        test_strongly_connected,
        test_transitive_closure,
    )
}
VERSIONS, EPOCHS = 4, 6
GRID = list(itertools.product(range(VERSIONS), range(EPOCHS)))

Time = tuple[int, int]
Change = tuple[str, Row, Time, int]


def before(time: Time, other: Time) -> bool:
    """Whether a time is at or before another."""
    return time[0] <= other[0] and time[1] <= other[1]


def random_changes(rng: random.Random, case: Case) -> list[Change]:
    """Rows that come at a time, and go at one after it or stay: so that no frequency is ever negative."""
    changes: list[Change] = []
    for _ in range(3 * case.most[0]):
        name = rng.choice(list(case.inputs))
        comes = rng.choice(GRID)
        goes = rng.choice([time for time in GRID if before(comes, time)])
        for row in case.inputs[name].maker(rng, case.most[0]):
            changes.append((name, row, comes, 1))
            if rng.random() < 0.7:
                changes.append((name, row, goes, -1))
    return changes


def expected(case: Case, changes: list[Change], time: Time) -> dict[Row, int]:
    bags: dict[str, Bag] = {name: Counter() for name in case.inputs}
    for name, row, at, diff in changes:
        if before(at, time):
            bags[name][row] += diff
    return rows(case.oracle(*(+bag for bag in bags.values())))


def frontier(complete: set[Time]) -> list[Time]:
    """The least times that are not complete."""
    open_times = [
        time for time in itertools.product(range(VERSIONS + 1), range(EPOCHS + 1)) if time not in complete
    ]
    return [
        time for time in open_times if not any(other != time and before(other, time) for other in open_times)
    ]


def run(case: Case, changes: list[Change], order: list[list[Time]]) -> Output:
    """The program over the changes, the times of each piece of `order` completed together."""
    flow = Dataflow("version", "epoch")
    inputs = {name: flow.input(name, **it.columns) for name, it in case.inputs.items()}
    output = case.program(*inputs.values()).output()
    complete: set[Time] = set()
    for piece in order:
        for name, row, time, diff in changes:
            if time in piece:
                inputs[name].update(row, diff, time)
        complete |= set(piece)
        flow.advance(*frontier(complete))
    return output


def random_order(rng: random.Random) -> list[Time]:
    """All times, each after those before it."""
    left, order = list(GRID), []
    while left:
        least = [time for time in left if not any(other != time and before(other, time) for other in left)]
        order.append(rng.choice(least))
        left.remove(order[-1])
    return order


@pytest.mark.parametrize("name", CASES)
@each_seed(HISTORIES)
def test_every_version_is_as_from_scratch(name: str, seed: int) -> None:
    case, rng = CASES[name], random.Random(seed)
    changes = random_changes(rng, case)
    one_by_one = run(case, changes, [[time] for time in random_order(rng)])
    for time in GRID:
        assert one_by_one.at(time) == expected(case, changes, time), (name, seed, time)
    order = random_order(rng)
    cuts = [0, *sorted(rng.sample(range(len(GRID)), 3)), len(GRID)]
    pieces = [order[low:high] for low, high in itertools.pairwise(cuts)]
    in_pieces = run(case, changes, pieces)
    assert [in_pieces.difference(t) for t in GRID] == [one_by_one.difference(t) for t in GRID], (name, seed)
