"""Plans with parameters are given values again and again; parts that hold none stay the same."""

from __future__ import annotations

import pytest

from engine.errors import PlanError
from engine.plan.expressions import Call, ColumnRef, Literal, Op, Parameter
from engine.plan.nodes import Concat, Filter, Map, Source
from engine.plan.plan_templates import PlanTemplate, bound
from engine.runtime.engine import Engine
from engine.schema import BIGINT, BOOLEAN, TEXT, Column, Schema

SCHEMA = Schema((Column("a", BIGINT), Column("b", TEXT)))
SOURCE = Source("t", SCHEMA)


def wanting(number: int) -> Filter:
    return Filter(SOURCE, Call(Op.EQ, (ColumnRef(0, BIGINT), Parameter(number, BIGINT)), BOOLEAN))


def test_each_binding_has_its_own_values() -> None:
    other = Map(SOURCE, (ColumnRef(0, BIGINT), Literal("x", TEXT)), SCHEMA)
    template = PlanTemplate(Concat((wanting(7), other, wanting(9))))
    for first, second in ((1, 2), (3, 3)):
        plan = template.bound({7: first, 9: second})
        assert isinstance(plan, Concat)
        values = [part.predicate.args[1] for part in plan.parts if isinstance(part, Filter)]  # type: ignore[union-attr]
        assert values == [Literal(first, BIGINT), Literal(second, BIGINT)]
        assert plan.parts[1] is other
    assert template.bound({7: 1, 9: 2}) == template.bound({7: 1, 9: 2})
    with pytest.raises(KeyError):
        template.bound({7: 1})


def test_a_plan_without_parameters_is_itself() -> None:
    assert PlanTemplate(SOURCE).bound({1: 1}) is SOURCE
    condition = Call(Op.EQ, (ColumnRef(0, BIGINT), Literal(1, BIGINT)), BOOLEAN)
    assert bound(condition, {}) is condition


def test_a_parameter_without_a_value_does_not_run() -> None:
    engine = Engine()
    engine.create_source("t", SCHEMA)
    with pytest.raises(PlanError, match="has no value"):
        engine.create_view("v", wanting(1))
    engine.create_view("v", PlanTemplate(wanting(1)).bound({1: 5}))
