"""Advances are staged and published whole; views come and go without a trace."""

from __future__ import annotations

import numpy as np
import pytest

from engine.errors import EpochError, NameInUse, PlanError, UnknownName
from engine.plan.nodes import AggregateSpec, Clamp, Function, Join, Node, Reduce, Threshold, antijoin, project
from engine.runtime.engine import Engine
from engine.schema import BIGINT
from tests.engine.harness import apply, bag, delete, delta, insert, rows, schema, source

EDGES = source("edges", 2)


def degrees() -> Node:
    return Reduce(EDGES, (0,), (AggregateSpec(Function.COUNT, None, BIGINT),))


@pytest.fixture
def engine() -> Engine:
    engine = Engine()
    engine.create_source("edges", EDGES.schema)
    return engine


def test_nothing_is_seen_before_publish(engine: Engine) -> None:
    engine.create_view("degrees", degrees())
    insert(engine, "edges", (1, 2))
    stage = engine.stage({"edges": delta(2, [((1, 3), 2, 1)])}, 3)
    assert rows(engine, "degrees") == [(1, 1)]
    assert rows(engine, "edges") == [(1, 2)]
    stage.publish()
    assert rows(engine, "degrees") == [(1, 2)]


def test_an_aborted_stage_leaves_nothing(engine: Engine) -> None:
    engine.create_view("degrees", degrees())
    engine.create_view("pairs", Join(EDGES, EDGES, (1,), (0,)))
    insert(engine, "edges", (1, 2), (2, 3))
    engine.stage({"edges": delta(2, [((3, 4), 2, 1), ((1, 2), 2, -1)])}, 3).abort()
    assert engine.snapshot.upper == 2
    insert(engine, "edges", (1, 7))
    assert rows(engine, "degrees") == [(1, 2), (2, 1)]
    assert rows(engine, "pairs") == [(1, 2, 2, 3)]


def test_only_one_stage_at_a_time(engine: Engine) -> None:
    stage = engine.stage({}, 2)
    with pytest.raises(EpochError):
        engine.stage({}, 3)
    stage.publish()
    with pytest.raises(EpochError):
        stage.abort()


def test_many_epochs_in_one_stage_are_told_apart(engine: Engine) -> None:
    engine.create_view("degrees", degrees())
    changes = [((1, 2), 1, 1), ((1, 3), 2, 1), ((1, 2), 4, -1), ((1, 3), 4, -1)]
    engine.stage({"edges": delta(2, changes)}, 6).publish()
    assert [rows(engine, "degrees", epoch) for epoch in range(6)] == [
        [],
        [(1, 1)],
        [(1, 2)],
        [(1, 2)],
        [],
        [],
    ]
    assert engine.snapshot.changes("degrees", 1, 4).T.tolist() == [
        [1, 1, 2, -1],
        [1, 2, 2, 1],
        [1, 2, 4, -1],
    ]


def test_a_new_view_has_the_history_of_its_tables(engine: Engine) -> None:
    insert(engine, "edges", (1, 2))
    insert(engine, "edges", (1, 3))
    delete(engine, "edges", (1, 2))
    engine.create_view("degrees", degrees())
    assert [rows(engine, "degrees", epoch) for epoch in range(4)] == [[], [(1, 1)], [(1, 2)], [(1, 1)]]
    insert(engine, "edges", (1, 5))
    assert rows(engine, "degrees") == [(1, 2)]


def test_rows_of_a_source_that_keeps_none_pass_through() -> None:
    engine = Engine()
    engine.create_source("edges", EDGES.schema, keep=False)
    engine.create_view("degrees", degrees())
    for epoch, edge in ((1, (1, 2)), (2, (1, 3))):
        engine.stage({"edges": delta(2, [(edge, epoch, 1)])}, epoch + 1).publish()
    assert [rows(engine, "degrees", epoch) for epoch in (1, 2)] == [[(1, 1)], [(1, 2)]]
    with pytest.raises(UnknownName):
        engine.snapshot.rows("edges")


def test_equal_subplans_are_one_operator(engine: Engine) -> None:
    engine.create_view("a", degrees())
    before = len(engine._dataflow.operators)
    engine.create_view("b", Threshold(degrees(), Clamp.DISTINCT))
    engine.create_view("c", degrees())
    assert len(engine._dataflow.operators) == before + 3 + 1  # an arrangement, a threshold, two histories
    engine.drop_view("b")
    engine.drop_view("c")
    assert len(engine._dataflow.operators) == before
    insert(engine, "edges", (1, 2))
    assert rows(engine, "a") == [(1, 1)]


def test_names_are_checked(engine: Engine) -> None:
    with pytest.raises(NameInUse):
        engine.create_source("edges", EDGES.schema)
    with pytest.raises(UnknownName):
        engine.create_view("v", source("nothing", 1))
    with pytest.raises(PlanError):
        engine.create_view("v", source("edges", 3))
    with pytest.raises(UnknownName):
        engine.drop_view("edges")
    engine.create_view("v", degrees())
    with pytest.raises(NameInUse, match="edges is read by v"):
        engine.drop_source("edges")
    engine.drop_view("v")
    engine.drop_source("edges")
    with pytest.raises(UnknownName):
        engine.snapshot.rows("edges")


def test_deltas_are_checked(engine: Engine) -> None:
    with pytest.raises(PlanError):
        engine.stage({"edges": np.zeros((3, 1), np.int64)}, 2)
    with pytest.raises(EpochError):
        engine.stage({"edges": delta(2, [((1, 1), 7, 1)])}, 2)
    with pytest.raises(UnknownName):
        engine.stage({"vertices": delta(2, [])}, 2)
    insert(engine, "edges", (1, 2))
    with pytest.raises(EpochError):
        engine.stage({}, 1)


def test_reading_is_checked(engine: Engine) -> None:
    insert(engine, "edges", (1, 2))
    with pytest.raises(EpochError, match="from epoch 0 to 1"):
        engine.snapshot.rows("edges", 2)
    with pytest.raises(EpochError):
        engine.snapshot.rows("edges", -1)


def test_bags_count(engine: Engine) -> None:
    insert(engine, "edges", (1, 2), (1, 2))
    assert bag(engine, "edges") == {(1, 2): 2}
    delete(engine, "edges", (1, 2))
    assert bag(engine, "edges") == {(1, 2): 1}


def test_lookup_by_primary_key() -> None:
    engine = Engine()
    engine.create_source("people", schema(3), key=(1,))
    insert(engine, "people", (7, 1, 70), (8, 2, 80), (9, 3, 90))
    apply(engine, {"people": [((8, 2, 80), -1), ((5, 2, 50), 1)]})
    words, counts, positions = engine.snapshot.lookup("people", np.array([[2, 9, 1]]))
    assert sorted(zip(positions.tolist(), words.T.tolist(), counts.tolist(), strict=True)) == [
        (0, [5, 2, 50], 1),
        (2, [7, 1, 70], 1),
    ]


def test_a_sum_that_overflows_is_an_error_of_its_rows(engine: Engine) -> None:
    plan = Reduce(EDGES, (0,), (AggregateSpec(Function.SUM, 1, BIGINT),))
    engine.create_view("sums", plan)
    most = 2**63 - 1
    insert(engine, "edges", (1, most), (2, 5))
    assert engine.snapshot.errors("sums") == []
    epoch = insert(engine, "edges", (1, 1))
    assert engine.snapshot.errors("sums") == [("overflow in sum, whose result is BIGINT", 1)]
    assert rows(engine, "sums") == [(2, 5)]
    delete(engine, "edges", (1, most))
    assert engine.snapshot.errors("sums") == []
    assert engine.snapshot.errors("sums", epoch) != []
    assert rows(engine, "sums") == [(1, 1), (2, 5)]


def test_everything_deleted_again(engine: Engine) -> None:
    roots = source("roots", 1)
    engine.create_source("roots", roots.schema)
    engine.create_view("free", antijoin(EDGES, roots, (0,)))
    engine.create_view("ends", Threshold(project(EDGES, (1,)), Clamp.DISTINCT))
    edges = [(i % 7, i) for i in range(1_000)]
    insert(engine, "edges", *edges)
    insert(engine, "roots", (3,))
    assert len(rows(engine, "free")) == 1_000 - sum(i % 7 == 3 for i in range(1_000))
    delete(engine, "edges", *edges)
    delete(engine, "roots", (3,))
    for name in ("free", "ends", "edges", "roots"):
        assert rows(engine, name) == []


def test_what_is_forgotten_cannot_be_read_and_the_rest_stays(engine: Engine) -> None:
    engine.create_view("degrees", degrees())
    for epoch in range(1, 200):
        insert(engine, "edges", (1, epoch))
    kept = {epoch: rows(engine, "degrees", epoch) for epoch in range(150, 200)}
    for name in ("edges", "degrees"):
        engine.forget(name, 150)
    assert {epoch: rows(engine, "degrees", epoch) for epoch in range(150, 200)} == kept
    assert engine.snapshot.since("degrees") == 150
    with pytest.raises(EpochError):
        engine.snapshot.rows("degrees", 149)
    with pytest.raises(EpochError):
        engine.snapshot.changes("edges", 149, 160)
    assert engine.snapshot.changes("degrees", 150, 151).T.tolist() == [[1, 150, 151, -1], [1, 151, 151, 1]]
    engine.create_view("again", degrees())
    assert engine.snapshot.since("again") == 150
    assert rows(engine, "again", 150) == kept[150]
    insert(engine, "edges", (2, 1))
    assert rows(engine, "degrees") == [(1, 199), (2, 1)]
    with pytest.raises(EpochError):
        engine.forget("edges", engine.snapshot.upper)


def test_churn_that_is_forgotten_takes_no_room(engine: Engine) -> None:
    for _ in range(100):
        epoch = insert(engine, "edges", *((i, i) for i in range(50)))
        delete(engine, "edges", *((i, i) for i in range(50)))
    engine.forget("edges", epoch + 1)
    assert sum(len(batch) for batch in engine.snapshot.relations["edges"].batches) == 0
