"""The first rows of groups against the definition, at every time of partially ordered rounds and epochs."""

from __future__ import annotations

import random
from collections import Counter
from itertools import product

import numpy as np
import pytest

from engine.kernels.coding import codes_of
from engine.kernels.words import NULL
from engine.operators.operator import Operator, Stateful, Step
from engine.operators.topk import OrderedArrangement, TopKOperator
from engine.state.dictionary import Dictionary
from engine.state.packed_times import TOTAL, Frontier
from tests.engine.harness import delta

Row = tuple[int, ...]
Time = tuple[tuple[int, ...], int]
Differences = Counter[tuple[Row, Time]]

WIDTH = 3  # a key, a column of the order, and one more
EPOCHS = 6
ROUNDS = 3
VALUES = (NULL, NULL + 1, -1, 0, 1, 2**63 - 1)


class Feed(Operator):
    """Gives the deltas that it is told to give."""

    def __init__(self) -> None:
        super().__init__([])


class Agenda:
    """The rounds that are to be run in an advance."""

    def __init__(self) -> None:
        self.rounds: set[tuple[int, ...]] = set()

    def schedule(self, rounds: tuple[int, ...]) -> None:
        self.rounds.add(rounds)


def random_changes(rng: random.Random, depth: int) -> Differences:
    changes: Differences = Counter()
    for _ in range(rng.randint(1, 25)):
        row = (rng.randrange(2), rng.choice(VALUES), rng.randrange(3))
        rounds = tuple(rng.randrange(ROUNDS) for _ in range(depth))
        changes[row, (rounds, rng.randint(1, EPOCHS))] += rng.choice((-2, -1, 1, 1, 1, 2))
    return changes


def run(top: TopKOperator, changes: Differences, depth: int, pieces: list[int]) -> Differences:
    """The differences of `top`, given those of its input in pieces of so many epochs."""
    arrangement = top.inputs[0]
    feed = arrangement.inputs[0]
    agenda = Agenda()
    result: Differences = Counter()
    done = 0
    for size in pieces:
        now = [item for item in changes.items() if done < item[0][1][1] <= done + size]
        done += size
        changed: list[Stateful] = []
        agenda.rounds = {rounds for (_, (rounds, _)), _ in now}
        while agenda.rounds:
            rounds = min(agenda.rounds)
            agenda.rounds.remove(rounds)
            lines = [(row, epoch, diff) for (row, (at, epoch)), diff in now if at == rounds]
            feed.out = [delta(WIDTH, lines)] if lines else []
            step = Step(rounds, np.array(rounds, np.int64), agenda, changed, TOTAL.masks)
            arrangement.step(step)
            top.step(step)
            for column in np.concatenate([np.empty((WIDTH + 2, 0), np.int64), *top.out], axis=1).T.tolist():
                result[tuple(column[:WIDTH]), (rounds, column[WIDTH])] += column[WIDTH + 1]
        for state in changed:
            state.publish(Frontier(TOTAL, (done + 1,)))
    return Counter({key: diff for key, diff in result.items() if diff})


def accumulated(differences: Differences, rounds: tuple[int, ...], epoch: int) -> Counter[Row]:
    bag: Counter[Row] = Counter()
    for (row, (at, then)), diff in differences.items():
        if then <= epoch and all(a <= r for a, r in zip(at, rounds, strict=True)):
            bag[row] += diff
    return Counter({row: count for row, count in bag.items() if count})


def first_rows(
    bag: Counter[Row], descending: bool, nulls_first: bool, offset: int, limit: int
) -> Counter[Row]:
    def place(row: Row) -> tuple[int, int, Row]:
        value = row[1]
        if value == NULL:
            return (-1 if nulls_first else 1, 0, row)
        return (0, -value if descending else value, row)

    result: Counter[Row] = Counter()
    for key in {row[0] for row in bag}:
        members = sorted((row for row in bag if row[0] == key), key=place)
        copies = [row for row in members for _ in range(max(bag[row], 0))]
        result.update(copies[offset : offset + limit])
    return result


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_first_rows_at_every_time(depth: int) -> None:
    for seed in range(150):
        rng = random.Random(f"{seed} {depth}")
        changes = random_changes(rng, depth)
        descending, nulls_first = rng.random() < 0.5, rng.random() < 0.5
        offset, limit = rng.choice((0, 0, 1, 3)), rng.choice((0, 1, 1, 2, 5, 2**70))
        outcomes = []
        for pieces in ([1] * EPOCHS, [2, 1, EPOCHS - 3], [EPOCHS]):
            source = OrderedArrangement(
                Feed(),
                (0,),
                ((1, codes_of(False, descending, nulls_first)),),
                (2,),
                WIDTH,
                depth,
                Dictionary(),
            )
            outcomes.append(run(TopKOperator(source, 1, offset, limit), changes, depth, pieces))
        for rounds in product(range(ROUNDS), repeat=depth):
            for epoch in range(1, EPOCHS + 1):
                rows = accumulated(changes, rounds, epoch)
                expected = first_rows(rows, descending, nulls_first, offset, limit)
                assert accumulated(outcomes[0], rounds, epoch) == expected, (seed, rounds, epoch)
        assert outcomes[1] == outcomes[2] == outcomes[0], seed


def test_a_hot_group_with_a_long_history() -> None:
    """One value after the other comes and goes; the tree of versions is deep."""
    rng = random.Random(5)
    changes: Differences = Counter()
    for epoch in range(1, 300):
        changes[(0, rng.randrange(40), 0), ((), epoch)] += 1
        changes[(0, rng.randrange(40), 0), ((), epoch)] -= rng.random() < 0.9
    for pieces in ([300], [7, 200, 93]):
        source = OrderedArrangement(
            Feed(), (0,), ((1, codes_of(False, True, True)),), (2,), WIDTH, 0, Dictionary()
        )
        outcome = run(TopKOperator(source, 1, 2, 5), changes, 0, pieces)
        for epoch in range(1, 300, 7):
            expected = first_rows(accumulated(changes, (), epoch), True, True, 2, 5)
            assert accumulated(outcome, (), epoch) == expected, epoch


def test_what_was_passed_too_often_is_merged_away() -> None:
    """Rows that have gone from the front of a group are not read again and again."""
    source = OrderedArrangement(
        Feed(), (0,), ((1, codes_of(False, False, False)),), (2,), WIDTH, 0, Dictionary()
    )
    top = TopKOperator(source, 1, 0, 1)
    changes: Differences = Counter({((0, value, 0), ((), 1)): 1 for value in range(2000)})
    changes.update({((0, value, 0), ((), value + 2)): -1 for value in range(600)})
    outcome = run(top, changes, 0, [1] * 601)
    assert accumulated(outcome, (), 601) == Counter([(0, 600, 0)])
    assert source.trace.rows < 2000
