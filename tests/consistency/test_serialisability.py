"""The checker: what it accepts, and what it finds, in histories that are made up."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from tests.consistency.faults import FAULTS
from tests.consistency.history import History, Read, Transaction
from tests.consistency.serialisability import anomaly
from tests.seeds import each_seed

KEYS = 4


def serial(seed: int, count: int = 120) -> History:
    """Transactions that happened at once, each at a moment of its own, and were seen around it."""
    chance = random.Random(seed)
    lists = {key: list[int]() for key in range(KEYS)}
    history, epoch = [], 0
    for number in range(count):
        at = number * 10
        reads = {k: Read(tuple(lists[k])) for k in range(KEYS)} if chance.random() < 0.4 else {}
        appends = {} if reads else dict.fromkeys(chance.sample(range(KEYS), chance.randint(1, 2)), number)
        for key, value in appends.items():
            lists[key].append(value)
        epoch += bool(appends)
        spread = at - chance.randint(1, 60), at + chance.randint(1, 60)
        history.append(Transaction(number, *spread, appends, reads, epoch=epoch))
    final = {key: tuple(values) for key, values in lists.items()}
    for is_ordered, end in ((True, count * 10 + 100), (False, count * 10 + 200)):
        reads = {key: Read(values, is_ordered) for key, values in final.items()}
        history.append(Transaction(len(history), end, end + 50, {}, reads, epoch=epoch))
    return history


@each_seed(20)
def test_what_happened_in_an_order_is_serialisable(seed: int) -> None:
    assert anomaly(serial(seed)) == ""


@each_seed(10)
@pytest.mark.parametrize("plant", FAULTS, ids=lambda plant: plant.__name__)
def test_a_planted_fault_is_found(seed: int, plant: Callable[[History, random.Random], History]) -> None:
    history = serial(seed)
    planted = plant(history, random.Random(seed))
    assert planted != history
    assert anomaly(planted)


def test_write_skew_is_found() -> None:
    """Two transactions at once, each of which reads what the other is about to change."""
    first = Transaction(1, 0, 10, {1: 10}, {2: Read(())})
    second = Transaction(2, 0, 10, {2: 20}, {1: Read(())})
    final = Transaction(3, 20, 30, {}, {1: Read((10,)), 2: Read((20,))})
    assert anomaly([first, second, final])
    assert anomaly([first, Transaction(2, 0, 10, {2: 20}, {1: Read((10,))}), final]) == ""


def test_a_long_fork_is_found() -> None:
    """Two readers that disagree on which of two appends was first."""
    appends = [Transaction(1, 0, 100, {1: 10}), Transaction(2, 0, 100, {2: 20})]
    one = Transaction(3, 0, 100, {}, {1: Read((10,)), 2: Read(())})
    other = Transaction(4, 0, 100, {}, {1: Read(()), 2: Read((20,))})
    final = Transaction(5, 200, 201, {}, {1: Read((10,)), 2: Read((20,))})
    assert anomaly([*appends, one, final]) == ""
    assert anomaly([*appends, one, other, final])


def test_what_nobody_knows_may_have_happened_or_not() -> None:
    unknown = Transaction(1, 0, 10, {1: 10}, is_committed=None)
    assert anomaly([unknown, Transaction(2, 20, 30, {}, {1: Read(())})]) == ""
    assert anomaly([unknown, Transaction(2, 20, 30, {}, {1: Read((10,))})]) == ""
    assert anomaly(
        [unknown, Transaction(2, 20, 30, {}, {1: Read((10,))}), Transaction(3, 40, 50, {}, {1: Read(())})]
    )


def test_the_past_may_be_read_and_the_future_may_not() -> None:
    append = Transaction(1, 0, 10, {1: 10})
    assert anomaly([append, Transaction(2, 20, 30, {}, {1: Read(())}, is_of_the_past=True)]) == ""
    early = Transaction(2, -20, -10, {}, {1: Read((10,))}, is_of_the_past=True)
    assert anomaly([append, early])


def test_an_epoch_that_contradicts_a_list_is_found() -> None:
    first, second = Transaction(1, 0, 10, {1: 10}, epoch=2), Transaction(2, 0, 10, {1: 20}, epoch=1)
    final = Transaction(3, 20, 30, {}, {1: Read((10, 20))})
    assert anomaly([first, second, final])
