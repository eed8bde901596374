"""Work follows the change: operators that it does not reach are not stepped, whatever happens to others."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest

from engine.errors import EngineError
from engine.kernels.parallel import threads
from engine.operators import linear
from engine.operators.allowance import Allowance, Spending
from engine.operators.arrangement import Arrangement
from engine.operators.linear import FilterOperator
from engine.operators.operator import PIECE, Operator, Step
from engine.plan.expressions import Call, Cast, ColumnRef, Literal, Op
from engine.plan.nodes import (
    AggregateSpec,
    Clamp,
    Concat,
    Constant,
    Filter,
    FlatMap,
    Function,
    Join,
    LoopBinding,
    Node,
    Recursive,
    Reduce,
    Source,
    Threshold,
    Variable,
    project,
)
from engine.plan.row_ids import Intern
from engine.runtime.engine import Engine
from engine.schema import BIGINT, BOOLEAN, DOUBLE
from tests.engine.harness import apply, bag, delta, insert, rows, source
from tests.seeds import each_seed

EDGES, OTHERS = source("edges", 2), source("others", 2)


def degrees(edges: Source) -> Node:
    return Reduce(edges, (0,), (AggregateSpec(Function.COUNT, None, BIGINT),))


def paths(edges: Source) -> Node:
    """The pairs of nodes with a path from one to the other."""
    variable = Variable("paths", edges.schema)
    longer = project(Join(variable, edges, (1,), (0,)), (0, 3))
    value = Threshold(Concat((edges, longer)), Clamp.DISTINCT)
    return Recursive((LoopBinding("paths", value),), "paths")


@pytest.fixture
def engine() -> Engine:
    engine = Engine()
    for node in (EDGES, OTHERS):
        engine.create_source(node.name, node.schema)
    return engine


def steps_of(engine: Engine, act: Callable[[], object]) -> int:
    """How many steps of operators of the outermost scope `act` takes."""
    before = engine._dataflow.steps
    act()
    return engine._dataflow.steps - before


def test_unrelated_views_are_not_stepped(engine: Engine) -> None:
    engine.create_view("degrees", degrees(EDGES))
    alone = steps_of(engine, lambda: insert(engine, "edges", (1, 2)))
    assert alone >= 4  # an input, its history, an arrangement, a reduce, a history
    for number in range(20):
        constant = Constant(((number, number),), OTHERS.schema)
        engine.create_view(f"v{number}", degrees(Threshold(Concat((OTHERS, constant)), Clamp.DISTINCT)))
        engine.create_view(f"w{number}", paths(Threshold(Concat((OTHERS, constant)), Clamp.DISTINCT)))
        engine.create_view(f"x{number}", Intern(project(Concat((OTHERS, constant)), (1, 0))))
    assert steps_of(engine, lambda: insert(engine, "edges", (1, 3))) == alone
    assert steps_of(engine, lambda: insert(engine, "others", (1, 3))) > 20
    assert rows(engine, "degrees") == [(1, 2)]
    assert rows(engine, "v7") == [(1, 1), (7, 1)]


def test_nothing_is_stepped_if_changes_end_on_their_way(engine: Engine) -> None:
    engine.create_view("nodes", degrees(Threshold(project(EDGES, (0,)), Clamp.DISTINCT)))
    first = steps_of(engine, lambda: insert(engine, "edges", (1, 2)))
    again = steps_of(engine, lambda: insert(engine, "edges", (1, 3)))
    assert again < first
    assert rows(engine, "nodes") == [(1, 1)]


def test_a_delta_that_views_arrange_in_different_ways_has_its_last_reader_at_once(engine: Engine) -> None:
    large = Filter(EDGES, Call(Op.GT, (ColumnRef(0, BIGINT), Literal(0, BIGINT)), BOOLEAN))
    engine.create_view("one", Join(large, OTHERS, (0,), (0,)))
    engine.create_view("other", Join(large, OTHERS, (1,), (1,)))
    operators = engine._dataflow.turns.operators
    (place,) = (i for i, operator in enumerate(operators) if isinstance(operator, FilterOperator))
    for arrangement in operators[place + 1 : place + 3]:
        assert type(arrangement) is Arrangement
        assert arrangement.inputs == [operators[place]]


def test_no_delta_is_held_between_advances(engine: Engine) -> None:
    engine.create_view("paths", paths(EDGES))
    engine.create_view("ids", Intern(EDGES))
    for edge in ((1, 2), (2, 3), (3, 1), (1, 1)):
        insert(engine, "edges", edge)
        parts = [part for op in engine._dataflow.operators.values() for part in op.parts()]
        assert not any(part.out for part in parts)


def test_an_abort_undoes_all_that_ran(engine: Engine) -> None:
    engine.create_view("paths", paths(EDGES))
    engine.create_view("degrees", degrees(OTHERS))
    insert(engine, "edges", (1, 2), (2, 3))
    engine.stage({"edges": delta(2, [((3, 4), 2, 1)]), "others": delta(2, [((5, 5), 2, 1)])}, 3).abort()
    insert(engine, "others", (7, 7))
    assert rows(engine, "paths") == [(1, 2), (1, 3), (2, 3)]
    assert rows(engine, "degrees") == [(7, 1)]
    insert(engine, "edges", (3, 1))
    assert len(rows(engine, "paths")) == 9


class Failing(Operator):
    """An operator that fails from some step on."""

    def step(self, step: Step) -> None:
        raise EngineError("this operator fails")


def test_a_failed_operator_takes_only_its_views(engine: Engine) -> None:
    engine.create_view("first", degrees(EDGES))
    engine.create_view("second", paths(EDGES))
    engine.create_view("third", Threshold(project(EDGES, (1,)), Clamp.DISTINCT))
    insert(engine, "edges", (1, 2))
    bad = engine._registry.views["second"].history.inputs[0]
    bad.step = Failing([]).step  # type: ignore[method-assign]
    stage = engine.stage({"edges": delta(2, [((2, 3), 2, 1)])}, 3)
    assert stage.failed == {"second": "this operator fails"}
    stage.publish()
    assert engine.snapshot.failure("second") == "this operator fails"
    insert(engine, "edges", (2, 4))
    assert rows(engine, "first") == [(1, 1), (2, 2)]
    assert rows(engine, "third") == [(2,), (3,), (4,)]


class Seeing(Spending):
    """A meter that shows somebody every step."""

    sees_steps = True


def test_of_a_large_delta_only_words_that_somebody_reads_pass_a_filter(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threads, "GRAIN", 1)
    monkeypatch.setattr(threads, "LARGE", 2)
    # Words that nobody writes are 0.
    monkeypatch.setattr(linear, "np", SimpleNamespace(**{**vars(np), "empty": np.zeros}))
    wide = source("wide", 4)
    engine.create_source("wide", wide.schema, keep=False)
    kept = Filter(
        wide, Call(Op.LT, (Cast(ColumnRef(1, BIGINT), DOUBLE), Literal(5.0, DOUBLE)), BOOLEAN)
    )  # Python's
    total = AggregateSpec(Function.SUM, 2, BIGINT)
    engine.create_view("sums", Reduce(kept, (0,), (total,)))
    operator = engine._dataflow.operators[kept]
    passed: list[np.ndarray] = []
    monkeypatch.setattr(operator, "clear", lambda: passed.extend(operator.out))
    lines = [((1, 2, 3, 4), 1, 1), ((1, 9, 3, 4), 1, 1), ((7, 3, 5, 6), 1, 2)]
    operator.inputs[0].out = [delta(4, lines)]
    operator.step(engine._dataflow.step(meter=Seeing(Allowance())))
    assert operator.out[0].tolist() == [[1, 7], [2, 3], [3, 5], [4, 6], [1, 1], [1, 2]]
    operator.inputs[0].clear()
    engine.stage({"wide": delta(4, lines)}, 2).publish()
    assert passed[-1].tolist() == [[1, 7], [0, 0], [3, 5], [0, 0], [1, 1], [1, 2]]
    assert rows(engine, "sums") == [(1, 3), (7, 10)]
    engine.create_view("all", Filter(kept, Call(Op.LT, (ColumnRef(3, BIGINT), Literal(5, BIGINT)), BOOLEAN)))
    engine.stage({"wide": delta(4, [(row, 2, diff) for row, _, diff in lines])}, 3).publish()
    assert passed[-1].tolist() == [[1, 7], [2, 3], [3, 5], [4, 6], [2, 2], [1, 2]]
    assert rows(engine, "all") == [(1, 2, 3, 4)]


def test_a_filter_marks_rows_for_readers_that_pass_over_the_others(engine: Engine) -> None:
    size = 2 * threads.LARGE
    kept = Filter(EDGES, Call(Op.LT, (ColumnRef(1, BIGINT), Literal(size - 9, BIGINT)), BOOLEAN))
    engine.create_view("degrees", degrees(kept))
    engine.create_view("met", Join(kept, OTHERS, (1,), (0,)))
    operator = engine._dataflow.operators[kept]
    changes = np.array([np.arange(size) % 3, np.arange(size), np.full(size, 2), np.ones(size, np.int64)])
    stage = engine.stage({"edges": changes, "others": delta(2, [((1, 1), 2, 1), ((size - 1, 1), 2, 1)])}, 3)
    assert (operator.made, operator.out, operator.has_changes) == (size - 9, [], False)
    stage.publish()
    assert rows(engine, "degrees") == [(0, size // 3 - 2), (1, size // 3 - 3), (2, size // 3 - 3)]
    assert rows(engine, "met") == [(1, 1, 1, 1)]


def test_what_one_change_makes_many_of_reaches_its_sums(engine: Engine) -> None:
    """Compiled code asks Python for what an operator makes; it gets all of it, however much that is."""
    numbers = source("numbers", 1)
    engine.create_source("numbers", numbers.schema)
    many = FlatMap(numbers, lambda count: [(number,) for number in range(count)], numbers.schema)
    large = Call(Op.LT, (Cast(ColumnRef(0, BIGINT), DOUBLE), Literal(7.0, DOUBLE)), BOOLEAN)  # Python's
    every = AggregateSpec(Function.COUNT, None, BIGINT)
    engine.create_view("small", Reduce(Filter(many, large), (), (every,)))
    insert(engine, "numbers", (PIECE + 1,))
    assert rows(engine, "small") == [(7,)]


@each_seed(3)
def test_views_that_come_and_go_between_changes_of_many_sources(seed: int) -> None:
    rng = random.Random(seed)
    sources = [source(f"s{i}", 2) for i in range(4)]
    engine = Engine()
    tables: dict[str, Counter[tuple[int, ...]]] = {node.name: Counter() for node in sources}
    views: dict[str, tuple[str, str]] = {}
    for node in sources:
        engine.create_source(node.name, node.schema)
    for number in range(60):
        if rng.random() < 0.2 and views:
            engine.drop_view(name := rng.choice(sorted(views)))
            del views[name]
        elif rng.random() < 0.4:
            left, right = rng.choice(sources), rng.choice(sources)
            engine.create_view(f"v{number}", project(Join(left, right, (1,), (0,)), (0, 3)))
            views[f"v{number}"] = (left.name, right.name)
        chosen = rng.sample(sources, rng.randrange(3))
        changes = {node.name: [((rng.randrange(4), rng.randrange(4)), 1)] for node in chosen}
        if rng.random() < 0.3:
            epoch = engine.snapshot.upper
            deltas = {n: delta(2, [(row, epoch, d) for row, d in lines]) for n, lines in changes.items()}
            engine.stage(deltas, epoch + 1).abort()
        apply(engine, changes)
        for name, lines in changes.items():
            tables[name].update(row for row, _ in lines)
        for view, (left, right) in views.items():
            expected: Counter[tuple[int, ...]] = Counter()
            for (a, b), n in tables[left].items():
                for (c, d), m in tables[right].items():
                    if b == c:
                        expected[a, d] += n * m
            assert bag(engine, view) == expected
    assert {name: bag(engine, name) for name in tables} == tables
