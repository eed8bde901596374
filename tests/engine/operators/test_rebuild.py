"""A loop that is rebuilt gives the differences that its changes would give, and when it is."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from engine.operators.rebuild import PRICE, UNSEEN, Estimate, Rebuild, Sizes
from engine.plan.nodes import (
    AggregateSpec,
    Clamp,
    Concat,
    Function,
    Join,
    LoopBinding,
    Node,
    Recursive,
    Reduce,
    Threshold,
    Variable,
    project,
)
from engine.runtime.engine import Engine, Options
from engine.schema import BIGINT
from tests.engine.harness import Change, Row, apply, bag, delta, insert, rows, source
from tests.seeds import SEED, each_seed, few

EDGES = source("edges", 2)
ROOTS = source("roots", 1)
SOURCES = (EDGES, ROOTS)
POLICIES = tuple(Rebuild)


def reach() -> Node:
    """The nodes that can be reached from each root."""
    reached = Variable("reached", project(EDGES, (0, 1)).schema)
    start = project(ROOTS, (0, 0))
    step = project(Join(reached, EDGES, (1,), (0,)), (0, 3))
    return Recursive((LoopBinding("reached", Threshold(Concat((start, step)), Clamp.DISTINCT)),), "reached")


def paths() -> Node:
    """The nodes that can be reached, once for each path. Nothing inside the loop tells the result."""
    reached = Variable("paths", ROOTS.schema)
    step = project(Join(reached, EDGES, (0,), (0,)), (2,))
    return Recursive((LoopBinding("paths", Concat((ROOTS, step))),), "paths")


def sizes_of(node: Node) -> Node:
    """How many rows there are for each value of the first column, and how many values have that many."""
    counted = Reduce(node, (0,), (AggregateSpec(Function.COUNT, None, BIGINT),))
    return Reduce(counted, (1,), (AggregateSpec(Function.COUNT, None, BIGINT),))


def closed_again() -> Node:
    """A recursion over a recursion: which roots meet."""
    meets = Variable("meets", EDGES.schema)
    reached = reach()
    pairs = project(Join(reached, reached, (1,), (1,)), (0, 2))
    step = project(Join(meets, pairs, (1,), (0,)), (0, 3))
    return Recursive((LoopBinding("meets", Threshold(Concat((pairs, step)), Clamp.DISTINCT)),), "meets")


def engine_with(rebuild: Rebuild, **views: Node) -> Engine:
    engine = Engine(Options(max_rounds=100, rebuild=rebuild))
    for node in SOURCES:
        engine.create_source(node.name, node.schema)
    for name, plan in views.items():
        engine.create_view(name, plan)
    return engine


def graph(rng: random.Random, nodes: int, edges: int, acyclic: bool) -> list[Row]:
    pairs = [(rng.randrange(nodes), rng.randrange(nodes)) for _ in range(edges)]
    return [(min(p), max(p) + 1) for p in pairs] if acyclic else pairs


def changes(rng: random.Random, acyclic: bool) -> Iterator[dict[str, list[Change]]]:
    """A load, changes small and large, everything deleted, and some of it again."""
    edges = graph(rng, 40, 80, acyclic)
    yield {"edges": [(edge, 1) for edge in edges], "roots": [((root,), 1) for root in range(3)]}
    for replaced in (1, 2, 40, 3, 80, 1):
        rng.shuffle(edges)
        new = graph(rng, 40, replaced, acyclic)
        yield {"edges": [(edge, -1) for edge in edges[:replaced]] + [(edge, 1) for edge in new]}
        edges[:replaced] = new
    yield {"edges": [(edge, -1) for edge in edges], "roots": [((root,), -1) for root in range(3)]}
    yield {"edges": [(edge, 1) for edge in edges[:20]], "roots": [((0,), 1)]}


@each_seed(few(6))
def test_the_differences_do_not_depend_on_rebuilds(seed: int) -> None:
    acyclic = seed % 2 == 0
    reached = reach()
    views = {"reach": reached, "sizes": sizes_of(reached), "meets": closed_again()}
    if acyclic:
        views["paths"] = paths()
    engines = [engine_with(policy, **views) for policy in POLICIES]
    rng = random.Random(seed)
    for change in changes(rng, acyclic):
        aborted = rng.random() < 0.5
        for engine in engines:
            if aborted:
                _staged(engine, change).abort()
            _staged(engine, change).publish()
    upper = engines[0].snapshot.upper
    for name in views:
        same = [engine.snapshot.changes(name, 0, upper - 1).tolist() for engine in engines]
        assert same[0] == same[1] == same[2], name
        assert bag(engines[0], name, upper - 2) == bag(engines[0], name, 0)  # all was deleted
    counted = {policy: engine.statistics() for policy, engine in zip(POLICIES, engines, strict=True)}
    assert all(loop.rebuilt == 0 for loop in counted[Rebuild.NEVER])
    assert all(loop.rebuilt >= 7 for loop in counted[Rebuild.ALWAYS] if loop.name != "meets")


def _staged(engine: Engine, change: dict[str, list[Change]]):  # type: ignore[no-untyped-def]
    epoch = engine.snapshot.upper
    deltas = {
        name: delta(len(engine.snapshot.schema(name)), [(row, epoch, diff) for row, diff in lines])
        for name, lines in change.items()
    }
    return engine.stage(deltas, epoch + 1)


def test_a_rebuild_that_fails_leaves_the_state() -> None:
    engine = engine_with(Rebuild.ALWAYS, paths=paths())
    insert(engine, "roots", (0,))
    epoch = insert(engine, "edges", (0, 1), (1, 2))
    stage = engine.stage({"edges": delta(2, [((2, 0), epoch + 1, 1)])}, epoch + 2)
    assert "does not come to rest" in stage.failed["paths"]
    stage.abort()
    apply(engine, {"edges": [((2, 3), 1)]})
    assert rows(engine, "paths") == [(0,), (1,), (2,), (3,)]


def test_changes_at_several_epochs_are_not_rebuilt() -> None:
    engine = engine_with(Rebuild.ALWAYS, reach=reach())
    insert(engine, "roots", (0,))
    epoch = insert(engine, "edges", (0, 1))
    lines = [((1, 2), epoch + 1, 1), ((0, 1), epoch + 2, -1)]
    engine.stage({"edges": delta(2, lines)}, epoch + 3).publish()
    assert rows(engine, "reach", epoch + 1) == [(0, 0), (0, 1), (0, 2)]
    assert rows(engine, "reach") == [(0, 0)]
    assert engine.statistics()[0].reason == "changes at several epochs"


def test_the_engine_chooses_by_the_size_of_the_change() -> None:
    rng = random.Random(SEED)
    engine = engine_with(Rebuild.AUTO, reach=reach())
    edges = graph(rng, 500, 1_000, acyclic=False)
    apply(engine, {"edges": [(edge, 1) for edge in edges], "roots": [((root,), 1) for root in range(5)]})
    assert engine.statistics()[0].reason == "the loop was empty"
    apply(engine, {"edges": [(edges[0], -1)]})
    assert engine.statistics()[0].reason == "a small change"
    apply(engine, {"edges": [(edge, -1) for edge in edges[500:]]})
    loop = engine.statistics()[0]
    assert (loop.reason, loop.incremental, loop.rebuilt) == ("a large change", 2, 1)


def test_a_change_that_brings_about_too_much_is_given_up() -> None:
    """A short cut at the root of a chain: one row of a change puts every node into an earlier round."""
    chain = [(i, i + 1) for i in range(90)]
    engines = [engine_with(policy, reach=reach()) for policy in (Rebuild.AUTO, Rebuild.NEVER)]
    for engine in engines:
        apply(engine, {"edges": [(edge, 1) for edge in chain], "roots": [((0,), 1)]})
        insert(engine, "edges", (0, 2))
    loop = engines[0].statistics()[0]
    assert (loop.reason, loop.given_up, loop.rebuilt) == ("a change with too many consequences", 1, 1)
    upper = engines[0].snapshot.upper
    first, second = (engine.snapshot.changes("reach", 0, upper - 1).tolist() for engine in engines)
    assert first == second


def test_before_anything_was_seen_a_part_of_what_entered_is_large() -> None:
    estimate = Estimate()
    assert not estimate.prefers_rebuild(Sizes(change=9, entered=10 * UNSEEN, held=10**6))
    assert estimate.prefers_rebuild(Sizes(change=11, entered=10 * UNSEEN, held=10**6))


def test_what_changes_have_cost_is_learned_and_fades() -> None:
    estimate = Estimate()
    for _ in range(5_000):
        estimate.learn(Sizes(change=10, entered=1_000, held=9_000), brought_about=20)
    assert estimate.per_row(Sizes(1, 1_000, 9_000)) == pytest.approx(2)
    enough = round(10_000 / 2 / PRICE)
    assert not estimate.prefers_rebuild(Sizes(enough - 10, 1_000, 9_000))
    assert estimate.prefers_rebuild(Sizes(enough + 10, 1_000, 9_000))
    for _ in range(100):
        estimate.fade(Sizes(enough, 1_000, 9_000))
    assert not estimate.prefers_rebuild(Sizes(10, 1_000, 9_000))
    assert estimate.prefers_rebuild(Sizes(20, 1_000, 9_000))


@pytest.mark.parametrize("width", range(2, 8))
def test_rows_of_any_width_are_taken_back(width: int) -> None:
    """Numpy 2.4 negates a column in place wrongly in rows of 64 bytes, which three of these have."""
    start = project(EDGES, (0, 1, *(0,) * (width - 2)))
    reached = Variable("reached", start.schema)
    step = project(Join(reached, EDGES, (1,), (0,)), (0, width + 1, *range(2, width)))
    plan = Recursive((LoopBinding("reached", Threshold(Concat((start, step)), Clamp.DISTINCT)),), "reached")
    engines = [engine_with(policy, reach=plan) for policy in (Rebuild.NEVER, Rebuild.ALWAYS)]
    for lines in ([((n, n + 1), 1) for n in range(9)], [((4, 5), -1), ((2, 3), -1)], [((4, 5), 1)]):
        for engine in engines:
            _staged(engine, {"edges": lines}).publish()
    upper = engines[0].snapshot.upper
    never, always = (engine.snapshot.changes("reach", 0, upper - 1).tolist() for engine in engines)
    assert never == always
