"""Recursion: retractions are right, cycles included, and every epoch stays readable."""

from __future__ import annotations

import pytest

from engine.errors import EngineError
from engine.plan.nodes import (
    AggregateSpec,
    Clamp,
    Concat,
    Function,
    Join,
    LoopBinding,
    Node,
    OnLimit,
    Recursive,
    Reduce,
    Threshold,
    Variable,
    project,
)
from engine.runtime.engine import Engine, Options
from engine.schema import BIGINT
from tests.engine.harness import apply, delete, delta, insert, rows, schema, source

EDGES = source("edges", 2)
ROOTS = source("roots", 1)


def engine_with(plan: Node, **options: int) -> Engine:
    engine = Engine(Options(**options))
    engine.create_source("edges", EDGES.schema)
    engine.create_source("roots", ROOTS.schema)
    engine.create_view("view", plan)
    return engine


def step_from(variable: Node) -> Node:
    """The nodes one edge away."""
    return project(Join(variable, EDGES, (0,), (0,)), (2,))


def reach() -> Node:
    reached = Variable("reached", schema(1))
    value = Threshold(Concat((ROOTS, step_from(reached))), Clamp.DISTINCT)
    return Recursive((LoopBinding("reached", value),), "reached")


def test_fraud_clears_everyone_when_its_source_goes() -> None:
    """The fourth text's example: patching the last answer would leave the cycle flagged for ever."""
    engine = engine_with(reach())
    insert(engine, "edges", (1, 2), (2, 3), (3, 1), (3, 4))
    flagged = insert(engine, "roots", (1,))
    assert rows(engine, "view") == [(1,), (2,), (3,), (4,)]

    delete(engine, "roots", (1,))

    assert rows(engine, "view") == []
    assert rows(engine, "view", flagged) == [(1,), (2,), (3,), (4,)]


def test_a_second_path_keeps_a_node() -> None:
    engine = engine_with(reach())
    apply(engine, {"roots": [((0,), 1)], "edges": [(e, 1) for e in [(0, 1), (1, 3), (0, 2), (2, 3), (3, 4)]]})
    delete(engine, "edges", (1, 3))
    assert rows(engine, "view") == [(0,), (1,), (2,), (3,), (4,)]
    delete(engine, "edges", (2, 3))
    assert rows(engine, "view") == [(0,), (1,), (2,)]


def test_a_long_chain_is_cut_and_mended() -> None:
    engine = engine_with(reach())
    insert(engine, "roots", (0,))
    insert(engine, "edges", *((i, i + 1) for i in range(500)))
    assert len(rows(engine, "view")) == 501
    delete(engine, "edges", (100, 101))
    assert len(rows(engine, "view")) == 101
    insert(engine, "edges", (50, 300))
    assert len(rows(engine, "view")) == 101 + 201


def test_bag_recursion_counts_paths() -> None:
    paths = Variable("paths", schema(1))
    engine = engine_with(Recursive((LoopBinding("paths", Concat((ROOTS, step_from(paths)))),), "paths"))
    insert(engine, "roots", (0,))
    insert(engine, "edges", (0, 1), (0, 2), (1, 3), (2, 3), (3, 4))
    assert rows(engine, "view") == [(0,), (1,), (2,), (3,), (3,), (4,), (4,)]
    delete(engine, "edges", (0, 1))
    assert rows(engine, "view") == [(0,), (2,), (3,), (4,)]


def test_a_recursion_without_fixed_point_is_refused_and_leaves_the_rest() -> None:
    paths = Variable("paths", schema(1))
    plan = Recursive((LoopBinding("paths", Concat((ROOTS, step_from(paths)))),), "paths")
    engine = engine_with(plan, max_rounds=50)
    engine.create_view("other", Threshold(EDGES, Clamp.DISTINCT))
    epoch = apply(engine, {"roots": [((0,), 1)], "edges": [((0, 1), 1)]})

    stage = engine.stage(
        {"edges": delta(2, [((1, 0), epoch + 1, 1)])},
        epoch + 2,
    )
    assert list(stage.failed) == ["view"]
    assert "still changes after 50 rounds" in stage.failed["view"]
    stage.publish()

    assert "50 rounds" in (engine.snapshot.failure("view") or "")
    assert rows(engine, "other") == [(0, 1), (1, 0)]
    assert rows(engine, "view", epoch) == [(0,), (1,)]
    with pytest.raises(EngineError, match="50 rounds"):
        engine.create_view("again", plan)
    engine.drop_view("view")
    delete(engine, "edges", (1, 0))
    engine.create_view("view", plan)
    assert rows(engine, "view") == [(0,), (1,)]


def test_return_at_a_limit_gives_that_many_rounds() -> None:
    reached = Variable("reached", schema(1))
    value = Threshold(Concat((ROOTS, step_from(reached))), Clamp.DISTINCT)
    engine = engine_with(Recursive((LoopBinding("reached", value),), "reached", 3, OnLimit.RETURN))
    insert(engine, "roots", (0,))
    insert(engine, "edges", *((i, i + 1) for i in range(10)))
    assert rows(engine, "view") == [(0,), (1,), (2,)]


def test_shortest_distances_by_min() -> None:
    """Distances: the roots at 0, and a step along each weighted edge; the least of each node."""
    weighted = source("weighted", 3)
    start = source("start", 2)
    distances = Variable("distances", schema(2))
    met = Join(distances, weighted, (0,), (0,))
    # Adding needs no expression here: a table of sums is joined.
    successor = source("successor", 3)
    added = Join(project(met, (3, 1, 4)), successor, (1, 2), (0, 1))
    value = Reduce(Concat((start, project(added, (0, 5)))), (0,), (AggregateSpec(Function.MIN, 1, BIGINT),))
    engine = Engine()
    for node in (weighted, start, successor):
        engine.create_source(node.name, node.schema)
    engine.create_view("view", Recursive((LoopBinding("distances", value),), "distances"))
    insert(engine, "successor", *((a, b, a + b) for a in range(30) for b in range(10)))
    insert(engine, "start", (0, 0))
    insert(engine, "weighted", (0, 1, 7), (0, 2, 1), (2, 1, 2), (1, 3, 1), (3, 0, 1))
    assert rows(engine, "view") == [(0, 0), (1, 3), (2, 1), (3, 4)]
    delete(engine, "weighted", (2, 1, 2))
    assert rows(engine, "view") == [(0, 0), (1, 7), (2, 1), (3, 8)]
    delete(engine, "start", (0, 0))
    assert rows(engine, "view") == []
