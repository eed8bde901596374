"""Nodes say once what their fields hold: walking, copying, checking and caching follow from that."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, fields

import pytest

from engine.errors import PlanError
from engine.plan import expressions as scalar
from engine.plan.expressions import Call, Case, Cast, ColumnRef, Expression, Foreign, Literal, OneOf, Op
from engine.plan.nodes import Ordering
from engine.schema import BOOLEAN, INTEGER
from planner import ir
from planner.ir import Attribute, Relational, ScalarSubquery, Some, Values, children, references
from planner.ir.column_numbers import Numbers
from planner.ir.core import Widening
from planner.ir.declared import ColumnNumber, Holds, Record, fact, parts
from planner.ir.renumber import renumbered
from planner.ir.rewrite import map_expressions, with_inputs
from planner.ir.scalars import TRUE, call, with_children

A, B, C = (Attribute(number, name, INTEGER) for number, name in ((1, "a"), (2, "b"), (3, "c")))
ONE = Literal(1, INTEGER)
INPUT = Values((A, B), ((1, 2),))


@dataclass(frozen=True)
class Reading(Record):
    attribute: Attribute
    arguments: tuple[ColumnNumber | Literal, ...]


@dataclass(frozen=True)
class Sampled(Widening):
    """A node that no tool has heard of."""

    input: Relational
    chance: ir.Expression
    keys: tuple[ColumnNumber, ...]
    order: tuple[Ordering, ...]
    readings: tuple[Reading, ...]
    place: Attribute | None = None
    seed: int = 7


def sampled(input: Relational = INPUT) -> Sampled:
    return Sampled(input, A.ref, (1,), (Ordering(2, True),), (Reading(C, (2, ONE)),))


def test_a_new_node_is_walked() -> None:
    node = sampled()
    assert node.inputs == (INPUT,)
    assert node.expressions == (A.ref,)
    assert (node.made, node.columns) == ((C,), (A, B, C))
    assert parts(node, Holds.READ) == (1, 2, 2)
    assert (node.used, node.free) == ({1, 2}, frozenset())
    assert Sampled(INPUT, ColumnRef(9, INTEGER), (), (), ()).free == {9}


def test_a_new_node_is_rewritten() -> None:
    node, other = sampled(), Values((A, B), ())
    assert with_inputs(node, (INPUT,)) is node
    assert with_inputs(node, (other,)) == sampled(other)
    changed = map_expressions(node, lambda e: B.ref if e == A.ref else None)
    assert changed == Sampled(INPUT, B.ref, node.keys, node.order, node.readings)


def test_a_new_node_is_copied_under_new_numbers() -> None:
    numbers = Numbers()
    for _ in range(10):
        numbers.number()
    copy, names = renumbered(sampled(), numbers)
    assert names == {1: 11, 2: 12, 3: 13}
    assert isinstance(copy, Sampled)
    assert [column.id for column in copy.columns] == [11, 12, 13]
    assert (copy.chance, copy.keys, copy.order) == (ColumnRef(11, INTEGER), (11,), (Ordering(12, True),))
    assert copy.readings[0].arguments == (12, ONE)


def test_a_column_that_no_input_has_is_refused() -> None:
    with pytest.raises(PlanError, match=r"Sampled reads columns \[8\], which its input lacks"):
        Sampled(INPUT, TRUE, (8,), (), ())
    with pytest.raises(PlanError, match="Top reads columns"):
        ir.Top(INPUT, (), (Ordering(8),), 1)


def test_a_pickled_node_leaves_what_follows_from_its_fields() -> None:
    node = sampled()
    assert node.columns and node.free == frozenset()
    assert set(node.__dict__) > {field.name for field in fields(node)}
    copy = pickle.loads(pickle.dumps(node))
    assert copy == node and set(copy.__dict__) == {field.name for field in fields(node)}


def test_what_a_record_holds_in_two_places_is_refused() -> None:
    @dataclass(frozen=True)
    class Unclear(Relational):
        pairs: tuple[tuple[ColumnNumber, str, ColumnNumber], ...]

    # The types of a local class are not found by name, so they are given here.
    Unclear.__annotations__["pairs"] = tuple[tuple[ColumnNumber, str, ColumnNumber], ...]
    with pytest.raises(TypeError, match="several places"):
        parts(Unclear(()), Holds.READ)


def test_a_fact_is_computed_once_for_a_node() -> None:
    asked = []

    @fact
    def width(node: Relational) -> int:
        asked.append(node)
        return len(node.columns)

    node = sampled()
    assert [width(node), width(node), width(sampled())] == [3, 3, 3]
    assert len(asked) == 2


@pytest.mark.parametrize(
    "expression",
    [
        ONE,
        ColumnRef(1, INTEGER),
        Call(Op.ADD, (A.ref, ONE), INTEGER),
        Cast(A.ref, INTEGER, True),
        Case(((TRUE, A.ref), (TRUE, ONE)), B.ref, INTEGER),
        Foreign("f({0}, {1})", (A.ref, ONE), INTEGER),
        OneOf(A.ref, (1, 2, 3)),
    ],
)
def test_expressions_of_the_engine_are_declared_too(expression: Expression) -> None:

    assert children(expression) == scalar.children(expression)
    assert with_children(expression, children(expression)) == expression
    new = tuple(Literal(number, INTEGER) for number in range(len(children(expression))))
    assert children(with_children(expression, new)) == new


def test_a_subquery_hides_the_columns_of_its_query() -> None:
    outer = ColumnRef(9, INTEGER)
    some = Some(call(Op.EQ, outer, A.ref), INPUT)
    assert children(some) == (some.predicate,)
    assert references(some) == {9}
    assert references(call(Op.NOT, some)) == {9}
    scalar_query = ScalarSubquery(ir.Selection(INPUT, call(Op.EQ, outer, B.ref)), 1, INTEGER)
    assert (children(scalar_query), references(scalar_query)) == ((), {9})
    copy, names = renumbered(ir.Selection(INPUT, call(Op.EQ, scalar_query, ONE)), numbers_from(20))
    inner = copy.expressions[0].args[0]
    assert inner.column in inner.query.ids and inner.column not in copy.ids
    assert some.type == BOOLEAN and 9 not in names


def numbers_from(first: int) -> Numbers:
    numbers = Numbers()
    while numbers.number() < first:
        pass
    return numbers
