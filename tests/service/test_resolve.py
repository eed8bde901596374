"""Changes resolved together, against taking them one by one."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.schema import BIGINT, Column, Schema
from service.changes.resolve import Net, TableBatch, sum_rows
from service.changes.table_changes import ChangeOp, TableChanges

SCHEMA = Schema((Column("a", BIGINT), Column("b", BIGINT)))

Change = tuple[int, ChangeOp, tuple[int, int]]


def batch_of(changes: list[Change], base: Counter, key: tuple[int, ...] | None) -> TableBatch:
    words = np.array([row for _, _, row in changes], np.int64).reshape(-1, 2).T
    ops = np.array([op for _, op, _ in changes], np.int8)
    request = np.array([request for request, _, _ in changes], np.int64)
    columns = [0, 1] if key is None else list(key)

    def lookup(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        found = [
            (row, count, position)
            for position, wanted in enumerate(keys.T.tolist())
            for row, count in base.items()
            if [row[c] for c in columns] == wanted
        ]
        rows = np.array([row for row, _, _ in found], np.int64).reshape(-1, 2).T
        counts = np.array([count for _, count, _ in found], np.int64)
        return np.ascontiguousarray(rows), counts, np.array([p for _, _, p in found], np.int64)

    return TableBatch(TableChanges(SCHEMA, ops, np.ascontiguousarray(words)), request, key, lookup)


def resolve(batch: TableBatch, requests: int) -> tuple[set[int], Net]:
    """The refused requests, and the net effect of the others."""
    alive = np.ones(requests, np.bool_)
    while (found := batch.conflict(alive)) is not None:
        alive[found[0]] = False
    return set(np.flatnonzero(~alive).tolist()), batch.net(alive)


def one_by_one(
    changes: list[Change], base: Counter, key: tuple[int, ...] | None, requests: int
) -> tuple[set[int], list[Counter]]:
    """The refused requests, and the state after each request."""
    state, refused, states = Counter(base), set(), []
    for request in range(requests):
        trial = Counter(state)
        for _, op, row in (change for change in changes if change[0] == request):
            held = [r for r in trial if trial[r] > 0 and (r[0] == row[0] if key else r == row)]
            if (op is ChangeOp.INSERT and key and held) or (op is ChangeOp.DELETE and not held):
                refused.add(request)
                break
            if key:
                for other in held:
                    del trial[other]
            if op in (ChangeOp.DELETE, ChangeOp.DISCARD):
                if not key:
                    trial[row] -= 1
            else:
                trial[row] += 1
        else:
            state = +trial
        states.append(state)
    return refused, states


def check(changes: list[Change], base: Counter, key: tuple[int, ...] | None, requests: int) -> None:
    refused, net = resolve(batch_of(changes, base, key), requests)
    expected_refused, states = one_by_one(changes, base, key, requests)
    assert refused == expected_refused
    assert (net.diffs != 0).all()
    state = Counter(base)
    for request, expected in enumerate(states):
        mine = net.request == request
        seen = set()
        for row, diff in zip(net.words[:, mine].T.tolist(), net.diffs[mine].tolist(), strict=True):
            if key or ChangeOp.DELETE in {op for _, op, _ in changes}:
                assert tuple(row) not in seen
            seen.add(tuple(row))
            state[tuple(row)] += diff
            if state[tuple(row)] == 0:
                del state[tuple(row)]
        assert state == expected


ROWS = st.tuples(st.integers(0, 3), st.integers(0, 2))


def changes_with(ops: list[ChangeOp]) -> st.SearchStrategy[list[Change]]:
    change = st.tuples(st.integers(0, 4), st.sampled_from(ops), ROWS)
    return st.lists(change, max_size=14).map(lambda changes: sorted(changes, key=lambda c: c[0]))


@settings(max_examples=300, deadline=None)
@given(changes_with(list(ChangeOp)), st.dictionaries(st.integers(0, 3), st.integers(0, 2)))
def test_keyed(changes: list[Change], base: dict[int, int]) -> None:
    check(changes, Counter(dict.fromkeys(base.items(), 1)), (0,), 5)


@settings(max_examples=300, deadline=None)
@given(changes_with([ChangeOp.INSERT, ChangeOp.DELETE]), st.dictionaries(ROWS, st.integers(1, 3)))
def test_bag(changes: list[Change], base: dict[tuple[int, int], int]) -> None:
    check(changes, Counter(base), None, 5)


def test_key_that_is_not_the_first_column() -> None:
    batch = batch_of([(0, ChangeOp.UPSERT, (5, 1))], Counter({(4, 1): 1, (4, 2): 1}), (1,))
    refused, net = resolve(batch, 1)
    assert refused == set()
    assert net.words.T.tolist() == [[4, 1], [5, 1]]
    assert net.diffs.tolist() == [-1, 1]


def test_upsert_of_what_is_there_comes_to_nothing() -> None:
    _, net = resolve(batch_of([(0, ChangeOp.UPSERT, (4, 1))], Counter({(4, 1): 1}), (0,)), 1)
    assert net.words.shape == (2, 0)


def test_discard_of_what_is_gone_comes_to_nothing() -> None:
    _, net = resolve(
        batch_of([(0, ChangeOp.DISCARD, (4, 1)), (0, ChangeOp.INSERT, (4, 2))], Counter(), (0,)), 1
    )
    assert (net.words.T.tolist(), net.diffs.tolist()) == ([[4, 2]], [1])


def test_conflict_names_the_change() -> None:
    batch = batch_of([(0, ChangeOp.INSERT, (1, 1)), (0, ChangeOp.INSERT, (1, 2))], Counter(), (0,))
    assert batch.conflict(np.ones(1, np.bool_)) == (0, 1, ChangeOp.INSERT)


def test_sum_rows() -> None:
    words, counts = sum_rows(np.array([[2, 1, 2, 3], [0, 0, 0, 0]]), np.array([1, 1, 2, 0]))
    assert words.T.tolist() == [[1, 0], [2, 0]]
    assert counts.tolist() == [1, 3]
