"""Joins of many relations against nested loops, at every epoch, however history is chopped.

Cyclic and acyclic, of two to five inputs, among them the same one twice, empty ones, constants and
projections; NULL is a word like any other. The oracle is `tests.oracle`, which shares no code with the
engine. FRESHET_DATAFLOWS sets the number of cases, as for random dataflows.
"""

from __future__ import annotations

import os
import random

import pytest

from engine.errors import PlanError
from engine.operators import multijoin as operator
from engine.operators.arrangement import Arrangement
from engine.plan.join_paths import Bind, Meet, orders, paths
from engine.plan.multijoins import MultiJoin, multi_join
from engine.plan.nodes import Clamp, Constant, Join, Node, Source, Threshold, project
from engine.runtime.engine import Engine
from engine.schema import BIGINT, TEXT, Column, Schema
from tests.engine.harness import apply, delete, insert, rows, source
from tests.engine.histories import check
from tests.seeds import seeds, steps

CASES = int(os.environ.get("FRESHET_DATAFLOWS", "250")) // 5
GROUP = 50

SOURCES = tuple(
    Source(f"s{width}", Schema(tuple(Column(f"c{i}", BIGINT) for i in range(width)))) for width in (1, 2, 3)
)
EMPTY = Source("empty", SOURCES[1].schema)
EDGES = source("edges", 2)


def random_part(rng: random.Random) -> Node:
    kind = rng.randrange(10)
    if kind == 0:
        return EMPTY
    if kind == 1:
        rows = tuple((rng.choice((None, 0, 1)), rng.randrange(3)) for _ in range(3))
        return Constant(rows, EMPTY.schema)
    part: Node = rng.choices(SOURCES, (1, 4, 2))[0]
    if kind == 2:
        part = project(part, tuple(rng.randrange(len(part.schema)) for _ in range(rng.randint(1, 3))))
    return Threshold(part, Clamp.DISTINCT) if kind == 3 else part


def random_multijoin(rng: random.Random) -> Node:
    """Any number of equalities, so that there are cross products and cycles; then some of the columns."""
    parts = [random_part(rng) for _ in range(rng.choice((2, 3, 3, 4, 4, 5)))]
    places = [(i, c) for i, part in enumerate(parts) for c in range(len(part.schema))]
    most = min(len(places), len(parts) + 1)
    node = multi_join(parts, [rng.sample(places, 2) for _ in range(rng.randint(len(parts) - 2, most))])
    if rng.random() < 0.3:
        return node
    return project(node, tuple(rng.randrange(len(node.schema)) for _ in range(rng.randint(1, 4))))


def cycle(length: int, edges: Node = EDGES) -> MultiJoin:
    """Closed walks of so many edges."""
    equalities = [((i, 1), ((i + 1) % length, 0)) for i in range(length)]
    node = multi_join([edges] * length, equalities)
    assert isinstance(node, MultiJoin)
    return node


@pytest.mark.parametrize("first", range(0, CASES, GROUP))
def test_random_multijoins(first: int) -> None:
    for seed in seeds(GROUP, first):
        rng = random.Random(seed)
        assert check(random_multijoin(rng), (*SOURCES, EMPTY), rng, seed, most=4)


def test_lines_are_divided(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same in many small pieces as in one."""
    monkeypatch.setattr(operator, "CHUNK", 3)
    for seed in seeds(steps(40)):
        rng = random.Random(seed)
        assert check(random_multijoin(rng), (*SOURCES, EMPTY), rng, seed, most=6)


def test_cycles_of_five_and_complete_graphs() -> None:
    clique = multi_join(
        [EDGES] * 6,
        [
            ((0, 0), (1, 0), (2, 0)),
            ((0, 1), (3, 0), (4, 0)),
            ((1, 1), (3, 1), (5, 0)),
            ((2, 1), (4, 1), (5, 1)),
        ],
    )
    for seed in seeds(steps(20)):
        for node in (cycle(5), clique):
            assert check(project(node, (0, 1)), (EDGES,), random.Random(seed), seed, most=9)


def test_a_change_of_all_inputs_at_once_counts_once() -> None:
    engine = Engine()
    engine.create_source("edges", EDGES.schema)
    engine.create_view("loops", project(cycle(3), (0,)))
    insert(engine, "edges", (7, 7), (7, 7))
    assert rows(engine, "loops") == [(7,)] * 8
    delete(engine, "edges", (7, 7))
    assert rows(engine, "loops") == [(7,)]


def test_nothing_but_arrangements_of_the_inputs_is_kept() -> None:
    """A star and a ring: binary joins would store the square of the star's edges."""
    engine = Engine()
    engine.create_source("edges", EDGES.schema)
    engine.create_view("triangles", cycle(3))
    spokes = [row for i in range(1, 300) for row in ((0, i), (i, 0))]
    insert(engine, "edges", *spokes, (1, 2), (2, 3), (3, 1))
    found = rows(engine, "triangles")
    assert len(found) == 12
    kept = [o for o in engine._dataflow.operators.values() if isinstance(o, Arrangement)]
    assert sum(it.trace.rows for it in kept if it.width == 2) == 2 * 601 + 601  # two orders, and the source
    apply(engine, {"edges": [((1, 2), -1)]})
    assert len(rows(engine, "triangles")) == 6


def test_arrangements_are_shared_with_joins() -> None:
    engine = Engine()
    engine.create_source("edges", EDGES.schema)
    engine.create_view("paths", Join(EDGES, EDGES, (1,), (0,)))
    before = len(engine._dataflow.operators)
    engine.create_view("triangles", cycle(3))
    assert len(engine._dataflow.operators) == before + 2  # the join and its history


def test_cycles_bind_an_attribute_at_a_time_and_chains_meet_whole_relations() -> None:
    assert cycle(3).is_cyclic and cycle(4).is_cyclic
    assert all(isinstance(step, Bind) for path in paths(cycle(3)) for step in path.steps)
    chain = multi_join([EDGES] * 4, [((i, 1), (i + 1, 0)) for i in range(3)])
    assert isinstance(chain, MultiJoin) and not chain.is_cyclic
    assert all(isinstance(step, Meet) for path in paths(chain) for step in path.steps)
    assert [step.access.input for step in paths(chain)[1].steps if isinstance(step, Meet)] == [0, 2, 3]


def test_a_relation_that_covers_a_cycle_makes_it_acyclic() -> None:
    wide = source("wide", 3)
    covered = [((0, 1), (1, 0), (3, 1)), ((1, 1), (2, 0), (3, 2)), ((2, 1), (0, 0), (3, 0))]
    node = multi_join([EDGES, EDGES, EDGES, wide], covered)
    assert isinstance(node, MultiJoin) and not node.is_cyclic


def test_orders_are_as_few_as_chains_allow() -> None:
    assert orders(cycle(3)) == {EDGES: ((0, 1), (1, 0))}
    assert orders(cycle(4)) == {EDGES: ((0, 1), (1, 0))}
    star = multi_join([EDGES, source("a", 2), source("b", 2)], [((0, 0), (1, 0), (2, 0))])
    assert isinstance(star, MultiJoin)
    assert list(orders(star).values()) == [((0, 1),)] * 3


def test_equalities_of_any_form() -> None:
    node = multi_join([EDGES, EDGES], [((0, 0), (0, 1)), ((0, 1), (1, 0)), ((1, 0), (1, 1))])
    assert isinstance(node, MultiJoin)
    assert node.equalities == (((0, 0), (1, 0)),)
    engine = Engine()
    engine.create_source("edges", EDGES.schema)
    engine.create_view("loops", node)
    insert(engine, "edges", (1, 1), (1, 2), (3, 3))
    assert rows(engine, "loops") == [(1, 1, 1, 1), (3, 3, 3, 3)]
    assert multi_join([EDGES], []) is EDGES


TEXTS = Source("texts", Schema((Column("t", TEXT),)))


@pytest.mark.parametrize(
    ("parts", "equalities", "message"),
    [
        ((EDGES,), (), "fewer than two inputs"),
        ((EDGES, EDGES), (((0, 0), (1, 0)), ((1, 0), (0, 1))), "in two classes"),
        ((EDGES, EDGES), (((0, 0), (2, 0)),), "column 0 of input 2"),
        ((EDGES, EDGES), (((0, 2), (1, 0)),), "column 2 of input 0"),
        ((EDGES, EDGES), (((0, 0), (0, 1)),), "at least two columns, from different inputs"),
        ((EDGES, TEXTS), (((0, 0), (1, 0)),), "different types: BIGINT, TEXT"),
    ],
)
def test_wrong_nodes_are_refused(parts: tuple, equalities: tuple, message: str) -> None:
    with pytest.raises(PlanError, match=message):
        MultiJoin(parts, equalities)


@pytest.mark.parametrize(
    ("equality", "message"),
    [
        (((0, 0), (5, 0)), "refers to input 5"),
        (((0, 0), (0, 7)), "columns 0 and 7 of 2"),
        (((2, 0), (2, 1)), "different types: BIGINT, TEXT"),
    ],
)
def test_wrong_equalities_are_refused(equality: tuple, message: str) -> None:
    mixed = Source("mixed", Schema((Column("n", BIGINT), Column("t", TEXT))))
    with pytest.raises(PlanError, match=message):
        multi_join([EDGES, EDGES, mixed], [equality])
