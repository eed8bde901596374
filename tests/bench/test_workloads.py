"""Every workload's changes, summed up from nothing, are the rows that its tables hold."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from bench.data import choose, insertion, replace
from bench.duck import Recompute, WrongAnswer, compare, ordered
from bench.workloads import FULL, QUICK, build
from bench.workloads.base import load

Bag = Counter[tuple[int, ...]]


def add(bag: Bag, delta: np.ndarray) -> None:
    """Sum the delta into the bag, and find that nothing goes that was not there."""
    for *row, _, diff in delta.T.tolist():
        bag[tuple(row)] += diff
    assert min(bag.values()) >= 0


@pytest.mark.parametrize("name", QUICK)
def test_changes_add_up_to_the_tables(name: str) -> None:
    workload = build(name, quick=True)
    bags: dict[str, Bag] = {table: Counter() for table in workload.tables}
    for table, delta in load(workload, 1).items():
        assert set(delta[-2]) == {1}
        add(bags[table], delta)
    for epoch, batch in enumerate((1, 1, 7, 30), start=2):
        deltas = workload.change(batch, epoch)
        assert sum(delta.shape[1] for delta in deltas.values()) == 2 * batch
        for table, delta in deltas.items():
            assert set(delta[-2]) == {epoch}
            add(bags[table], delta)
    for table, bag in bags.items():
        assert +bag == Counter(map(tuple, workload.tables[table].T.tolist()))


@pytest.mark.parametrize("name", QUICK)
def test_a_workload_is_replayed_by_building_it_again(name: str) -> None:
    first, second = build(name, quick=True), build(name, quick=True)
    for batch in (1, 5):
        ours, theirs = first.change(batch, 2), second.change(batch, 2)
        assert ours.keys() == theirs.keys()
        assert all(np.array_equal(ours[table], theirs[table]) for table in ours)


@pytest.mark.parametrize("name", QUICK)
def test_schemas_fit_the_tables(name: str) -> None:
    workload = build(name, quick=True)
    assert {table: len(words) for table, words in workload.tables.items()} == {
        table: len(schema) for table, schema in workload.schemas.items()
    }


def test_one_change_in_ten_moves_an_order() -> None:
    workload = build("W2", quick=True)
    changed = [next(iter(workload.change(1, epoch))) for epoch in range(2, 22)]
    assert changed.count("orders") == 2
    assert changed.count("lines") == 18


def test_replace_deletes_what_is_there() -> None:
    words = np.array([[1, 2, 3], [4, 5, 6]])
    delta = replace(words, np.array([2, 0]), np.array([[7, 8], [9, 9]]), epoch=5)
    assert delta.tolist() == [[3, 1, 7, 8], [6, 4, 9, 9], [5] * 4, [-1, -1, 1, 1]]
    assert words.tolist() == [[8, 2, 7], [9, 5, 9]]


def test_chosen_positions_differ() -> None:
    chosen = choose(np.random.default_rng(1), 100, 50)
    assert len(set(chosen.tolist())) == 50


def test_insertion() -> None:
    assert insertion(np.array([[1, 2]]), epoch=3).tolist() == [[1, 2], [3, 3], [1, 1]]


def test_duckdb_counts_degrees() -> None:
    workload = build("W1", quick=True)
    workload.change(10, 2)
    duck = Recompute(workload)
    duck.refresh()
    assert duck.query() > 0
    degrees = Counter(workload.tables["edges"][0].tolist())
    histogram = Counter(degrees.values())
    assert duck.rows("degrees").T.tolist() == sorted(map(list, degrees.items()))
    assert duck.rows("histogram").T.tolist() == sorted(map(list, histogram.items()))
    duck.close()


def test_ordered_sorts_by_the_first_column_first() -> None:
    assert ordered(np.array([[2, 1, 1], [0, 9, 3]])).tolist() == [[1, 1, 2], [3, 9, 0]]


def test_quick_has_what_full_has() -> None:
    assert QUICK.keys() == FULL.keys()


def test_a_difference_is_found() -> None:
    right = np.array([[1, 2], [3, 4]])
    compare("v", right, right.copy())
    with pytest.raises(WrongAnswer, match=r"v has \[2 5\] where DuckDB has \[2 4\]"):
        compare("v", np.array([[1, 2], [3, 5]]), right)
    with pytest.raises(WrongAnswer, match="1 rows, and 2"):
        compare("v", right[:, :1], right)
