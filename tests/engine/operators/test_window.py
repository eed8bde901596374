"""Windows count what they read: a change in a large group costs what it changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np
import pytest

from engine.kernels.coding import codes_of
from engine.kernels.words import NULL
from engine.operators.failure_log import FailureLog
from engine.operators.operator import Operator, Stateful, Step
from engine.operators.topk import OrderedArrangement
from engine.operators.window import WindowOperator
from engine.operators.windowing import window_functions
from engine.plan.nodes import Ordering, Source
from engine.plan.window_functions import Window as WindowNode
from engine.plan.window_functions import Windowed, WindowFunction
from engine.schema import BIGINT, Column, Schema, numeric
from engine.state.dictionary import Dictionary
from engine.state.packed_times import TOTAL, Frontier
from tests.engine.harness import delta

ROWS = 100_000
NUMBER = Windowed(WindowFunction.ROW_NUMBER, None, BIGINT)
RANK = Windowed(WindowFunction.RANK, None, BIGINT)
SUM = Windowed(WindowFunction.SUM, 2, BIGINT)
MOST = Windowed(WindowFunction.MAX, 2, BIGINT)
LAG = Windowed(WindowFunction.VALUE, 2, BIGINT, -1, -1)
MEAN = Windowed(WindowFunction.AVG, 2, BIGINT, -6, 0)

Row = tuple[int, ...]


class Feed(Operator):
    """Gives the deltas that it is told to give."""

    def __init__(self) -> None:
        super().__init__([])


class Nobody:
    def schedule(self, rounds: tuple[int, ...]) -> None:
        raise AssertionError("there are no rounds")


class Running:
    """A window over rows of a group, its order, and a number, which are changed an epoch at a time."""

    def __init__(self, *functions: Windowed, scale: int | None = None) -> None:
        number = BIGINT if scale is None else numeric(18, scale)
        types = {"g": BIGINT, "o": BIGINT, "x": number}
        schema = Schema(tuple(Column(name, type) for name, type in types.items()))
        node = WindowNode(Source("t", schema), (0,), (Ordering(1), Ordering(2)), 1, functions)
        order = {1: codes_of(False, False, False), 2: codes_of(False, False, False)}
        self.dictionary = Dictionary()
        self.feed = Feed()
        self.source = OrderedArrangement(self.feed, (0,), tuple(order.items()), (), 3, 0, self.dictionary)
        prepared = window_functions(node, (0,), order, (), {}, [NULL] * len(functions))
        self.window = WindowOperator(self.source, 1, prepared, FailureLog(self.dictionary))
        self.epoch = 0

    def change(self, lines: Iterable[tuple[Row, int]]) -> Counter[Row]:
        """What the next epoch's changes of the rows make of the window's rows."""
        self.epoch += 1
        self.feed.out = [delta(3, [(row, self.epoch, diff) for row, diff in lines])]
        changed: list[Stateful] = []
        step = Step((), np.empty(0, np.int64), Nobody(), changed, TOTAL.masks)
        self.source.step(step)
        self.window.step(step)
        result: Counter[Row] = Counter()
        found = self.window.delta()
        for *row, _, diff in found.T.tolist() if found is not None else ():
            result[tuple(row)] += diff
        for state in changed:
            state.publish(Frontier(TOTAL, (self.epoch + 1,)))
        return Counter({row: diff for row, diff in result.items() if diff})


@pytest.mark.parametrize("function", [NUMBER, RANK, SUM, MOST, LAG, MEAN], ids=str)
def test_appending_to_a_large_group_reads_few_rows(function: Windowed) -> None:
    running = Running(function)
    assert len(running.change(((1, 2 * i, i % 97), 1) for i in range(ROWS))) == ROWS
    for i in range(5):
        assert len(running.change([((1, 2 * ROWS + i, 5), 1)])) == 1
        assert running.window.read < 20


@pytest.mark.parametrize("function", [LAG, MEAN], ids=str)
def test_what_sees_its_neighbours_alone_reads_few_rows_anywhere(function: Windowed) -> None:
    running = Running(function)
    running.change(((1, 2 * i, i % 97), 1) for i in range(ROWS))
    assert len(running.change([((1, ROWS + 1, 5), 1)])) < 20
    assert running.window.read < 30


def test_a_running_sum_is_read_as_far_as_it_changes() -> None:
    running = Running(SUM)
    running.change(((1, 2 * i, i % 97), 1) for i in range(ROWS))
    there = (1, ROWS, ROWS // 2 % 97)
    assert running.change([((1, ROWS - 9, -7), 1), ((1, ROWS - 5, 7), 1)])
    gone = [((1, ROWS - 9, -7), -1), (there, -1)]
    changed = running.change([*gone, ((1, ROWS - 1, 0), 1), ((1, ROWS + 3, there[2] - 7), 1)])
    assert 0 < len(changed) < 20
    assert running.window.read < 20


def test_an_extreme_that_goes_is_found_again() -> None:
    running = Running(MOST)
    running.change([((1, 0, 5), 1), ((1, 1, 9), 1), ((1, 2, 7), 1), ((1, 9, 1), 1)])
    assert running.change([((1, 1, 9), -1)]) == {
        (1, 1, 9, 9): -1,
        (1, 2, 7, 9): -1,
        (1, 2, 7, 7): 1,
        (1, 9, 1, 9): -1,
        (1, 9, 1, 7): 1,
    }
    assert running.change([((1, 10, 2), 1)]) == {(1, 10, 2, 7): 1}


def test_a_sum_may_be_wider_than_a_word() -> None:
    total = Windowed(WindowFunction.SUM, 2, numeric(38, 0))
    running = Running(total, scale=0)
    most = 10**18 - 1
    found = running.change([((1, 0, most), 1), ((1, 1, most), 1), ((1, 2, -most), 1)])
    wide = next(row[3] for row in found if row[1] == 1)
    assert found == {(1, 0, most, most): 1, (1, 1, most, wide): 1, (1, 2, -most, most): 1}
    assert str(2 * most) in running.dictionary.text(wide)


def test_a_sum_that_overflows_is_an_error_of_its_row() -> None:
    running = Running(SUM)
    most = 2**63 - 1
    found = running.change([((1, 0, most), 1), ((1, 1, 1), 1), ((1, 2, -5), 1)])
    assert found == {(1, 0, most, most): 1, (1, 2, -5, most - 4): 1}
    assert running.change([((1, 0, most), -1)]) == {
        (1, 0, most, most): -1,
        (1, 1, 1, 1): 1,
        (1, 2, -5, most - 4): -1,
        (1, 2, -5, -4): 1,
    }
