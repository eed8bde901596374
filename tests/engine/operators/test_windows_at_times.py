"""Windows in loops and at times of several coordinates: each corner of a group is a group of its own."""

from __future__ import annotations

from collections import Counter

import pytest

from engine.api import Dataflow
from engine.api.collection import Collection
from engine.plan.nodes import Ordering
from engine.plan.window_functions import Window, Windowed, WindowFunction
from engine.schema import BIGINT

LARGE = 2**62
PARTS = {"epochs": (), "several coordinates": ("version", "epoch")}


SUM = Windowed(WindowFunction.SUM, 1, BIGINT, name="s")
NUMBER = Windowed(WindowFunction.ROW_NUMBER, None, BIGINT, name="n")
LAG = Windowed(WindowFunction.VALUE, 1, BIGINT, -1, -1, name="p")


def windowed(rows: Collection, *functions: Windowed) -> Collection:
    """Functions over the rows of each k, by x."""
    return Collection(rows.flow, Window(rows.node, (0,), (Ordering(1),), 0, functions))


@pytest.mark.parametrize("names", PARTS.values(), ids=PARTS)
def test_an_overflow_in_a_later_round_is_an_error_until_its_cause_goes(names: tuple[str, ...]) -> None:
    flow = Dataflow(*names)
    rows, edges = flow.input("rows", k=int, x=int), flow.input("edges", a=int, b=int)

    def body(it: Collection) -> Collection:
        moved = it.join(edges, (["k"], ["a"]), lambda r, e: {"k": e.b, "x": r.x})
        return windowed(moved.concat(rows).distinct(), SUM).select("k", "x")

    output = rows.iterate(body).output()
    times = [(0, epoch) if names else epoch for epoch in range(4)]
    rows.update_all([((1, LARGE), 1), ((2, LARGE + 1), 1), ((3, 5), 1)], times[0])
    edges.update_all([((1, 2), 1)], times[1])
    edges.update_all([((1, 2), -1), ((3, 2), 1)], times[2])
    flow.advance(*([(0, 3), (1, 0)] if names else [3]))
    snapshot = flow.engine.snapshot
    words = [flow.order.pack(time) for time in times]
    assert [snapshot.errors(output.name, word) for word in words[:3]] == [
        [],
        [("overflow in sum, whose result is BIGINT", 1)],
        [],
    ]
    alone = {(1, LARGE): 1, (2, LARGE + 1): 1, (3, 5): 1}
    assert output.at(times[0]) == alone
    assert output.at(times[1]) == {(1, LARGE): 1, (2, LARGE): 1, (3, 5): 1}
    assert output.at(times[2]) == Counter({**alone, (2, 5): 1})


def test_a_row_that_comes_and_goes_at_once_does_not_end_a_region() -> None:
    """At (2, 1) the row 3 is in two batches, and the row 4 comes behind it."""
    flow = Dataflow("version", "epoch")
    rows = flow.input("rows", k=int, x=int)
    output = windowed(rows, NUMBER, LAG).output()
    rows.update_all([((1, 1), 1)], (0, 0))
    rows.update_all([((1, 3), 1)], (0, 1))
    rows.update_all([((1, 3), -1), ((1, 4), 1)], (2, 1))
    flow.advance((0, 3), (2, 0))
    flow.advance((0, 3), (3, 0))
    assert output.at((1, 1)) == {(1, 1, 1, None): 1, (1, 3, 2, 1): 1}
    assert output.at((2, 0)) == {(1, 1, 1, None): 1}
    assert output.at((2, 1)) == {(1, 1, 1, None): 1, (1, 4, 2, 1): 1}


def test_a_row_that_is_less_than_not_there_does_not_count() -> None:
    """Two removals of the row 5 are known before (1, 1), where both have happened, is complete. A group's
    times are swept along the coordinate with the most values: first the epochs, then the versions."""
    flow = Dataflow("version", "epoch")
    rows = flow.input("rows", k=int, x=int)
    output = windowed(rows, SUM).output()
    rows.update_all([((1, 5), 1), ((1, 7), 1)], (0, 0))
    rows.update_all([((1, 5), -1)], (0, 1))
    rows.update_all([((1, 8), 1)], (0, 2))
    rows.update_all([((1, 5), -1)], (1, 0))
    flow.advance((0, 3), (1, 1), (2, 0))
    assert output.at((0, 2)) == {(1, 7, 7): 1, (1, 8, 15): 1}
    assert output.at((1, 0)) == {(1, 7, 7): 1}
    rows.update_all([((1, 5), 1)], (1, 1))
    for version in (2, 3, 4):
        rows.update_all([((1, 9), 1)], (version, 0))
    flow.advance((5, 0), (0, 5))
    assert output.at((1, 1)) == {(1, 7, 7): 1}
    assert output.at((1, 2)) == {(1, 7, 7): 1, (1, 8, 15): 1}
    assert output.at((2, 2)) == {(1, 7, 7): 1, (1, 8, 15): 1, (1, 9, 24): 1}
