"""Windows over numbers that may be wide, over special ones, and over the columns of their own key."""

from __future__ import annotations

import random
from collections import Counter
from decimal import Decimal

import pytest

from engine.api import Dataflow
from engine.api.collection import Collection
from engine.plan.nodes import Ordering
from engine.plan.window_functions import Window, Windowed, WindowFunction
from engine.schema import DOUBLE, TEXT, numeric
from tests.seeds import each_seed

WIDE = numeric(38, 0)

LARGEST = 10**38 - 1
PAST = {"running": (None, 0), "last three": (-2, 0), "next but one": (2, 2)}


def of(function: WindowFunction, argument: int, start: int | None = None, end: int = 0) -> Windowed:
    type = DOUBLE if function is WindowFunction.AVG else WIDE
    return Windowed(function, argument, type, start, end, name=function.value)


def over(rows: Collection, *functions: Windowed, keys: tuple[int, ...] = (0,)) -> Collection:
    """Functions over the rows of each key, by the second column."""
    return Collection(rows.flow, Window(rows.node, keys, (Ordering(1),), 1, functions))


@pytest.mark.parametrize(("start", "end"), PAST.values(), ids=PAST)
@each_seed(4)
def test_all_aggregates_of_wide_numbers(seed: int, start: int | None, end: int) -> None:
    rng = random.Random(seed)
    flow = Dataflow()
    rows = flow.input("rows", k=int, o=int, n=WIDE)
    kinds = (WindowFunction.SUM, WindowFunction.AVG, WindowFunction.MIN, WindowFunction.MAX)
    output = over(rows, *(of(kind, 2, start, end) for kind in kinds)).output()
    alive: dict[tuple[int, int], int] = {}
    for epoch in range(12):
        for _ in range(rng.randint(1, 6)):
            place = rng.randint(0, 1), rng.randint(0, 9)
            if place in alive:
                rows.update_all([((*place, Decimal(alive.pop(place))), -1)], epoch)
            else:
                alive[place] = rng.choice((1, -1)) * rng.randrange(10 ** rng.choice((2, 17, 18, 19, 30, 36)))
                rows.update_all([((*place, Decimal(alive[place])), 1)], epoch)
        flow.advance(epoch + 1)
        expected: Counter[tuple] = Counter()
        for k in range(2):
            numbers = [(o, alive[k, o]) for o in range(10) if (k, o) in alive]
            for i, (o, n) in enumerate(numbers):
                first = 0 if start is None else max(i + start, 0)
                frame = [number for _, number in numbers[first : max(i + end + 1, 0)]]
                values = (
                    (sum(frame), sum(frame) / len(frame), min(frame), max(frame)) if frame else (None,) * 4
                )
                expected[k, o, n, *values] += 1
        assert output.at(epoch) == expected


def test_special_numbers_sum_to_special_ones() -> None:
    flow = Dataflow()
    rows = flow.input("rows", k=int, o=int, n=WIDE)
    total = of(WindowFunction.SUM, 2)
    output = over(rows, total, of(WindowFunction.AVG, 2), of(WindowFunction.MAX, 2)).output()
    infinite, below = Decimal("Infinity"), Decimal("-Infinity")
    rows.update_all(
        [((1, 0, Decimal(7)), 1), ((1, 1, infinite), 1), ((1, 2, below), 1), ((1, 3, infinite), 1)], 0
    )
    rows.update_all([((1, 1, infinite), -1), ((1, 3, infinite), -1)], 1)
    flow.advance(2)
    shown = {o: (str(s), str(a), str(m)) for _, o, _, s, a, m in output.at(0)}
    assert shown == {
        0: ("7", "7.0", "7"),
        1: ("Infinity", "inf", "Infinity"),
        2: ("NaN", "nan", "Infinity"),
        3: ("NaN", "nan", "Infinity"),
    }
    shown = {o: (str(s), str(a), str(m)) for _, o, _, s, a, m in output.at(1)}
    assert shown == {0: ("7", "7.0", "7"), 2: ("-Infinity", "-inf", "7")}


def test_a_sum_with_too_many_digits_is_an_error_of_its_row() -> None:
    flow = Dataflow()
    rows = flow.input("rows", k=int, o=int, n=WIDE)
    output = over(rows, of(WindowFunction.SUM, 2)).output()
    rows.update_all([((1, 0, Decimal(LARGEST)), 1), ((1, 1, Decimal(1)), 1), ((1, 2, Decimal(-9)), 1)], 0)
    rows.update_all([((1, 1, Decimal(1)), -1)], 1)
    flow.advance(2)
    snapshot = flow.engine.snapshot
    message = f"overflow in sum, whose result is {WIDE}"
    assert [snapshot.errors(output.name, flow.order.pack(epoch)) for epoch in (0, 1)] == [[(message, 1)], []]
    assert output.at(0) == {(1, 0, LARGEST, LARGEST): 1, (1, 2, -9, LARGEST - 8): 1}
    assert output.at(1) == {(1, 0, LARGEST, LARGEST): 1, (1, 2, -9, LARGEST - 9): 1}


def test_functions_of_the_key_itself() -> None:
    flow = Dataflow()
    rows = flow.input("rows", k=WIDE, o=int, t=str)
    large = Decimal(10**20)
    least = Windowed(WindowFunction.MIN, 2, TEXT, name="least")
    output = over(rows, of(WindowFunction.SUM, 0), of(WindowFunction.MAX, 0), least, keys=(0, 2)).output()
    rows.update_all([((large, o, "a"), 1) for o in range(3)], 0)
    rows.update_all([((large, 1, "a"), -1), ((Decimal(2), 1, "b"), 2)], 1)
    flow.advance(2)
    assert output.at(0) == {(large, o, "a", (o + 1) * large, large, "a"): 1 for o in range(3)}
    assert output.at(1) == {
        (large, 0, "a", large, large, "a"): 1,
        (large, 2, "a", 2 * large, large, "a"): 1,
        (2, 1, "b", 2, 2, "b"): 1,
        (2, 1, "b", 4, 2, "b"): 1,
    }


def test_a_sum_whose_bits_are_those_of_null_is_a_number() -> None:
    """Found by random histories of wide numbers (seed 893662803)."""
    flow = Dataflow()
    rows = flow.input("rows", k=int, o=int, n=WIDE)
    output = over(rows, of(WindowFunction.SUM, 2)).output()
    rows.update_all([((1, 0, Decimal(-(2**63))), 1)], 0)
    flow.advance(1)
    assert output.at(0) == {(1, 0, -(2**63), -(2**63)): 1}
