"""Rounds in compiled code give the differences that Python's rounds give, wherever a call stops."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping

import numpy as np
import pytest

from engine.operators import compiled_rounds, outermost_loop
from engine.operators.allowance import UNLIMITED, Allowance
from engine.operators.compiled_rounds import CompiledRounds, Ran
from engine.operators.rebuild import Rebuild
from engine.plan.expressions import Call, ColumnRef, Literal, Op
from engine.plan.nodes import (
    AggregateSpec,
    Clamp,
    Concat,
    Consolidate,
    Filter,
    Function,
    Join,
    LoopBinding,
    Map,
    Negate,
    Node,
    OnLimit,
    Ordering,
    Recursive,
    Reduce,
    Threshold,
    TopK,
    Variable,
    project,
)
from engine.runtime.engine import Engine, Options
from engine.schema import BIGINT, BOOLEAN
from tests.engine.harness import Change, apply, bag, delta, insert, rows, source
from tests.seeds import SEED, each_seed, few

EDGES = source("edges", 2)
ROOTS = source("roots", 1)
DEFAULT_ROUNDS = compiled_rounds.MOST_ROUNDS


def reach() -> Node:
    """The nodes that can be reached from each root."""
    reached = Variable("reached", EDGES.schema)
    step = project(Join(reached, EDGES, (1,), (0,)), (0, 3))
    start = project(ROOTS, (0, 0))
    return Recursive((LoopBinding("reached", Threshold(Concat((start, step)), Clamp.DISTINCT)),), "reached")


def closure() -> Node:
    """Pairs of nodes with a path between them: two changing collections meet, and pairs wait for rounds."""
    pairs = Variable("pairs", EDGES.schema)
    step = project(Join(pairs, pairs, (1,), (0,)), (0, 3))
    return Recursive((LoopBinding("pairs", Threshold(Concat((EDGES, step)), Clamp.DISTINCT)),), "pairs")


def counted() -> Node:
    """Four rounds of counting how many nodes lead to each node, from an initial value that is withdrawn."""
    sizes = Variable("sizes", EDGES.schema)
    met = project(Join(sizes, EDGES, (0,), (0,)), (3, 1))
    value = Consolidate(
        Reduce(
            met,
            (0,),
            (AggregateSpec(Function.SUM, 1, BIGINT),),
        )
    )
    return Recursive(
        (LoopBinding("sizes", value, initial=project(EDGES, (0, 1))),), "sizes", 4, OnLimit.RETURN
    )


def together() -> Node:
    """Two collections that refer to each other, one of them less what the other has."""
    even, odd = Variable("even", ROOTS.schema), Variable("odd", ROOTS.schema)
    to_odd = project(Join(even, EDGES, (0,), (0,)), (2,))
    to_even = project(Join(odd, EDGES, (0,), (0,)), (2,))
    evens = Threshold(Concat((ROOTS, to_even)), Clamp.DISTINCT)
    odds = Threshold(Concat((to_odd, Negate(ROOTS))), Clamp.POSITIVE)
    bindings = (LoopBinding("even", evens), LoopBinding("odd", odds))
    return Recursive(bindings, "odd", 6, OnLimit.RETURN)


def _walked(first: Callable[[Node], Node], checked: bool) -> Node:
    """What `first` leaves of the nodes on ways of up to five edges from each root, with their lengths.

    If it is `checked`, a step to a node above the tenth overflows, and is an error as long as there is one.
    """
    walked = Variable("walked", EDGES.schema)
    near = Filter(walked, Call(Op.LT, (ColumnRef(1, BIGINT), Literal(5, BIGINT)), BOOLEAN))
    met = Join(near, EDGES, (0,), (0,))
    much = Literal(2**63 - 11 if checked else 0, BIGINT)
    node = Call(Op.SUB, (Call(Op.ADD, (ColumnRef(3, BIGINT), much), BIGINT), much), BIGINT)
    length = Call(Op.ADD, (ColumnRef(1, BIGINT), Literal(1, BIGINT)), BIGINT)
    start = Map(ROOTS, (ColumnRef(0, BIGINT), Literal(0, BIGINT)), EDGES.schema)
    value = first(Concat((start, Map(met, (node, length), EDGES.schema))))
    return Recursive((LoopBinding("walked", value),), "walked")


def ways() -> Node:
    """A filter and a map in the loop, which runs between calls, and their errors."""
    return _walked(lambda node: Threshold(node, Clamp.DISTINCT), checked=True)


def shortest() -> Node:
    """The length of the shortest way to each node."""
    least = AggregateSpec(Function.MIN, 1, BIGINT)
    return _walked(lambda node: Reduce(node, (0,), (least,)), checked=False)


def longest() -> Node:
    """The second and third longest way to each node, of different lengths."""
    return _walked(
        lambda node: TopK(Threshold(node, Clamp.DISTINCT), (0,), (Ordering(1, True),), 2, 1), checked=False
    )


PLANS: Mapping[str, Callable[[], Node]] = {
    "reach": reach,
    "closure": closure,
    "counted": counted,
    "together": together,
    "ways": ways,
    "shortest": shortest,
    "longest": longest,
}


def engine_of(*names: str) -> Engine:
    engine = Engine(Options(max_rounds=100, rebuild=Rebuild.NEVER))
    for node in (EDGES, ROOTS):
        engine.create_source(node.name, node.schema)
    for name in names:
        engine.create_view(name, PLANS[name]())
    return engine


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often calls have run rounds, have stopped before the end, and have been refused."""
    counter: Counter[str] = Counter()
    run = CompiledRounds.run

    def counting(self: CompiledRounds, *args, **options) -> Ran | None:  # type: ignore[no-untyped-def]
        ran = run(self, *args, **options)
        counter["refused" if ran is None else "stopped" if args[0] else "done"] += 1
        return ran

    monkeypatch.setattr(CompiledRounds, "run", counting)
    return counter


def in_python(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Act without compiled rounds."""
    with monkeypatch.context() as patch:
        patch.setattr(outermost_loop, "MOST_CHANGES", -1)
        act()


def changes(rng: random.Random, nodes: int) -> list[dict[str, list[Change]]]:
    """A load, and changes of one to a few rows, with retractions."""
    edges = [(rng.randrange(nodes), rng.randrange(nodes)) for _ in range(2 * nodes)]
    found: list[dict[str, list[Change]]] = [
        {"edges": [(edge, 1) for edge in edges], "roots": [((root,), 1) for root in range(2)]}
    ]
    for _ in range(12):
        new = [(rng.randrange(nodes), rng.randrange(nodes)) for _ in range(rng.choice((1, 1, 3)))]
        gone = [edges.pop(rng.randrange(len(edges))) for _ in new]
        edges += new
        found.append({"edges": [(edge, -1) for edge in gone] + [(edge, 1) for edge in new]})
        if rng.random() < 0.2:
            found.append({"roots": [((rng.randrange(nodes),), 1)]})
    return found


def check(rng: random.Random, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare all plans, compiled and not, over the same changes; some are staged and aborted first."""
    compiled, plain = engine_of(*PLANS), engine_of(*PLANS)
    for change in changes(rng, 14):
        if rng.random() < 0.3:
            epoch = compiled.snapshot.upper
            lines = [(row, epoch, diff) for row, diff in change.get("edges", [])]
            compiled.stage({"edges": delta(2, lines)}, epoch + 1).abort()
        apply(compiled, change)
        in_python(monkeypatch, lambda change=change: apply(plain, change))  # type: ignore[misc]
    last = plain.snapshot.upper - 1
    for name in PLANS:
        expected = plain.snapshot.changes(name, 0, last)
        assert compiled.snapshot.changes(name, 0, last).tolist() == expected.tolist(), name
        for epoch in range(1, last + 1):
            assert compiled.snapshot.errors(name, epoch) == plain.snapshot.errors(name, epoch), name
        assert min(bag(compiled, name).values(), default=1) > 0


@pytest.mark.parametrize("name", PLANS)
def test_each_of_the_loops_is_compiled(name: str, calls: Counter[str]) -> None:
    engine = engine_of(name)
    insert(engine, "edges", (0, 1), (1, 2))
    insert(engine, "roots", (0,))
    assert calls["done"] + calls["stopped"] >= 1
    assert not calls["refused"]


@each_seed(few(4))
@pytest.mark.parametrize("most", [1, 2, 3, DEFAULT_ROUNDS])
def test_the_differences_do_not_depend_on_who_runs_rounds(
    seed: int, most: int, monkeypatch: pytest.MonkeyPatch, calls: Counter[str]
) -> None:
    monkeypatch.setattr(compiled_rounds, "MOST_ROUNDS", most)
    check(random.Random(seed), monkeypatch)
    assert calls["done"] > 20
    assert most > 3 or calls["stopped"] > 10


@each_seed(few(3))
@pytest.mark.parametrize("words", [1 << 11, 1 << 12, 1 << 13])
def test_a_call_without_room_stops_or_is_forgotten(
    seed: int, words: int, monkeypatch: pytest.MonkeyPatch, calls: Counter[str]
) -> None:
    monkeypatch.setattr(compiled_rounds._room, "arena", np.empty(words, np.int64))
    check(random.Random(seed), monkeypatch)
    assert calls["refused"] + calls["stopped"] > 0


@each_seed(few(3))
def test_a_call_stops_when_much_waits(
    seed: int, monkeypatch: pytest.MonkeyPatch, calls: Counter[str]
) -> None:
    room = compiled_rounds._room
    monkeypatch.setattr(room, "waiting", room.waiting[:12])
    monkeypatch.setattr(room, "taken", room.taken[:12])
    monkeypatch.setattr(compiled_rounds, "MOST_ROUNDS", 4)
    check(random.Random(seed), monkeypatch)
    assert calls["refused"] + calls["stopped"] > 0


NODES = 5 * DEFAULT_ROUNDS


def broken_chain(allowance: Allowance = UNLIMITED) -> Engine:
    """A view of what the first node of a long chain reaches, which lacks the edge from 3 to 4."""
    engine = Engine(Options(max_rounds=1_000, rebuild=Rebuild.NEVER, allowance=allowance))
    for node in (EDGES, ROOTS):
        engine.create_source(node.name, node.schema)
    engine.create_view("reach", reach())
    apply(engine, {"edges": [((i, i + 1), 1) for i in range(NODES) if i != 3]})
    insert(engine, "roots", (0,))
    assert rows(engine, "reach") == [(0, i) for i in range(4)]
    return engine


def test_a_long_chain_is_followed_call_by_call(calls: Counter[str]) -> None:
    engine = broken_chain()
    calls.clear()
    insert(engine, "edges", (3, 4))
    assert rows(engine, "reach") == [(0, i) for i in range(NODES + 1)]
    assert calls["stopped"] >= 4
    assert calls["done"] == 1
    assert not calls["refused"]


def test_compiled_rounds_count_towards_the_allowance(calls: Counter[str]) -> None:
    engine = broken_chain(Allowance(rows=50))
    calls.clear()
    epoch = engine.snapshot.upper
    stage = engine.stage({"edges": delta(2, [((3, 4), epoch, 1)])}, epoch + 1)
    assert "reach" in stage.over_budget
    assert calls == {"stopped": 1}
    stage.abort()
    assert rows(engine, "reach") == [(0, i) for i in range(4)]
    insert(engine, "edges", (NODES, NODES + 1))
    assert rows(engine, "reach") == [(0, i) for i in range(4)]


@pytest.mark.parametrize("count", [2**45, 2**61])
def test_counts_that_are_not_small_are_pythons(count: int, calls: Counter[str]) -> None:
    """Python looks at the rows: these may be there so often, or not."""
    engine = engine_of("reach")
    insert(engine, "roots", (0,))
    calls.clear()
    epoch = engine.snapshot.upper
    stage = engine.stage({"edges": delta(2, [((0, 1), epoch, count), ((0, 2), epoch, 1)])}, epoch + 1)
    assert calls == {"refused": 1}
    assert ("reach" in stage.failed) == (count == 2**61)
    stage.publish()
    if not stage.failed:
        assert rows(engine, "reach") == [(0, 0), (0, 1), (0, 2)]


def test_rows_of_figures_count_what_compiled_rounds_made(
    monkeypatch: pytest.MonkeyPatch, calls: Counter[str]
) -> None:
    rng = random.Random(SEED)
    compiled, plain = engine_of("reach"), engine_of("reach")
    for change in changes(rng, 14):
        apply(compiled, change)
        in_python(monkeypatch, lambda change=change: apply(plain, change))  # type: ignore[misc]
    assert calls["done"] > 5
    for one, other in zip(compiled.observe("reach"), plain.observe("reach"), strict=True):
        assert (one.kind, one.figures.rows_in, one.figures.rows_out) == (
            other.kind,
            other.figures.rows_in,
            other.figures.rows_out,
        )
        assert one.figures.nanoseconds > 0 or one.figures.rows_out == 0
