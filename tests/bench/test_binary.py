"""A multijoin taken apart gives the same rows, and has no multijoin left."""

from __future__ import annotations

from collections import Counter

import numpy as np

from bench.binary import binary
from bench.data import SEED
from engine.plan.multijoins import MultiJoin, multi_join
from engine.plan.nodes import AggregateSpec, Function, Node, Reduce, project
from engine.schema import BIGINT
from tests.engine.harness import source
from tests.oracle.interpreter import interpret

EDGES = source("edges", 2)


def has_multijoin(plan: Node) -> bool:
    return isinstance(plan, MultiJoin) or any(map(has_multijoin, plan.inputs))


def test_cycles_as_binary_joins() -> None:
    edges = np.random.default_rng(SEED).integers(0, 6, (20, 2))
    rows = {"edges": Counter(map(tuple, edges.tolist()))}
    for length in (3, 4):
        cycle = multi_join([EDGES] * length, [((i, 1), ((i + 1) % length, 0)) for i in range(length)])
        plan = Reduce(project(cycle, (0, 3)), (0,), (AggregateSpec(Function.COUNT, None, BIGINT),))
        taken_apart = binary(plan)
        assert not has_multijoin(taken_apart)
        assert interpret(taken_apart, rows) == interpret(plan, rows)
        assert binary(taken_apart) == taken_apart


def test_other_plans_stay_as_they_are() -> None:
    assert binary(EDGES) is EDGES
    assert not has_multijoin(binary(multi_join([EDGES, EDGES], [])))
