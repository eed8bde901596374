"""Origins: columns are followed to their sources, and joins make classes of them."""

from __future__ import annotations

from engine.costs.column_origins import ColumnOrigins, Origin
from engine.plan.expressions import Call, ColumnRef, Op
from engine.plan.multijoins import MultiJoin
from engine.plan.nodes import (
    AggregateSpec,
    Concat,
    Function,
    Join,
    LoopBinding,
    Map,
    Negate,
    Node,
    Recursive,
    Reduce,
    Variable,
    project,
)
from engine.schema import BIGINT
from tests.engine.harness import schema, source

A, B, C = source("a", 2), source("b", 2), source("c", 2)


def of(plan: Node) -> list[set[tuple[str, int]]]:
    return [set(map(tuple, column)) for column in ColumnOrigins(plan).all[plan]]


def classes(plan: Node) -> list[set[tuple[str, int]]]:
    return [set(map(tuple, group)) for group in ColumnOrigins(plan).classes()]


def test_columns_keep_their_origins() -> None:
    swapped = project(Join(A, B, (0,), (1,)), (3, 0))
    assert of(swapped) == [{("b", 1)}, {("a", 0)}]
    counts = Reduce(swapped, (1,), (AggregateSpec(Function.COUNT, None, BIGINT),))
    assert of(counts) == [{("a", 0)}, set()]
    assert of(Concat((A, Negate(B)))) == [{("a", 0), ("b", 0)}, {("a", 1), ("b", 1)}]


def test_computed_columns_have_none() -> None:
    double = Call(Op.ADD, (ColumnRef(0, BIGINT), ColumnRef(0, BIGINT)), BIGINT)
    assert of(Map(A, (double, ColumnRef(1, BIGINT)), schema(2))) == [set(), {("a", 1)}]


def test_classes_grow_together() -> None:
    chain = Join(Join(A, B, (0,), (0,)), C, (2, 1), (0, 1))
    assert classes(chain) == [{("a", 0), ("b", 0), ("c", 0)}, {("a", 1), ("c", 1)}]
    many = MultiJoin((A, B, C), (((0, 0), (1, 1)), ((1, 0), (2, 0))))
    assert classes(many) == [{("a", 0), ("b", 1)}, {("b", 0), ("c", 0)}]


def test_variables_have_none() -> None:
    step = project(Join(Variable("v", A.schema), A, (1,), (0,)), (0, 3))
    loop = Recursive((LoopBinding("v", Concat((A, step))),), "v")
    assert classes(loop) == [{("a", 0)}]
    assert ColumnOrigins(loop).all[A] == (frozenset({Origin("a", 0)}), frozenset({Origin("a", 1)}))
