"""Small facts about expressions: when they are NULL, when they can fail, how they are rewritten."""

from __future__ import annotations

import pytest

from engine.plan.expressions import Call, Case, Cast, ColumnRef, Expression, Foreign, Literal, Op
from engine.schema import BOOLEAN, INTEGER, TEXT
from planner.ir import Attribute
from planner.ir.scalars import (
    FALSE,
    TRUE,
    call,
    can_fail,
    conjoin,
    conjuncts,
    disjoin,
    inline,
    may_be_null,
    negate,
    not_null_ids,
    rejects_null,
)

A, B = ColumnRef(1, INTEGER), ColumnRef(2, INTEGER)
ONE = Literal(1, INTEGER)
KNOWN = {1: Attribute(1, "a", INTEGER, False), 2: Attribute(2, "b", INTEGER, True)}


def test_conjunctions_stay_shallow() -> None:
    parts = [call(Op.EQ, A, Literal(i, INTEGER)) for i in range(1000)]
    whole = conjoin(parts)
    assert conjuncts(whole) == parts

    def depth(e: Expression) -> int:
        return 1 + max(map(depth, e.args)) if isinstance(e, Call) and e.op is Op.AND else 0

    assert depth(whole) == 10
    assert conjoin([]) == TRUE and disjoin([]) == FALSE


def test_negation() -> None:
    equal = call(Op.EQ, A, B)
    assert negate(negate(equal)) == equal
    assert negate(TRUE) == FALSE


@pytest.mark.parametrize(
    ("expression", "nullable"),
    [
        (A, False),
        (B, True),
        (call(Op.ADD, A, ONE, type=INTEGER), False),
        (call(Op.ADD, A, B, type=INTEGER), True),
        (call(Op.COALESCE, B, ONE, type=INTEGER), False),
        (call(Op.IS_NULL, B), False),
        (call(Op.NOT_DISTINCT, A, B), False),
        (Cast(A, TEXT), False),
        (Cast(A, TEXT, lenient=True), True),
        (Case(((TRUE, A),), Literal(None, INTEGER), INTEGER), True),
        (Foreign("upper({0})", (A,), TEXT), True),
    ],
)
def test_may_be_null(expression: Expression, nullable: bool) -> None:
    assert may_be_null(expression, KNOWN) is nullable


@pytest.mark.parametrize(
    ("predicate", "rejects"),
    [
        (call(Op.EQ, A, B), True),
        (call(Op.GT, call(Op.ADD, A, ONE, type=INTEGER), ONE), True),
        (call(Op.OR, call(Op.EQ, A, ONE), call(Op.EQ, B, ONE)), False),
        (call(Op.AND, call(Op.EQ, A, ONE), call(Op.IS_NULL, B)), True),
        (call(Op.IS_NULL, A), False),
        (negate(call(Op.IS_NULL, A)), True),
        (call(Op.EQ, call(Op.COALESCE, A, ONE, type=INTEGER), ONE), False),
        (call(Op.NOT_DISTINCT, A, B), False),
        (negate(call(Op.EQ, A, B)), True),
        (Literal(None, BOOLEAN), True),
    ],
)
def test_rejects_null(predicate: Expression, rejects: bool) -> None:
    assert rejects_null(predicate, frozenset({1})) is rejects


def test_not_null_where_true() -> None:
    assert not_null_ids(call(Op.AND, call(Op.LT, A, B), call(Op.IS_NULL, ColumnRef(3, INTEGER)))) == {1, 2}


def test_what_can_fail() -> None:
    assert not can_fail(call(Op.EQ, A, B))
    assert can_fail(call(Op.EQ, call(Op.ADD, A, B, type=INTEGER), ONE))
    assert can_fail(Cast(A, TEXT)) and not can_fail(Cast(A, TEXT, lenient=True))
    assert can_fail(Foreign("upper({0})", (A,), TEXT))


def test_inline() -> None:
    assert inline(call(Op.EQ, A, B), {1: call(Op.NEG, B, type=INTEGER)}) == call(
        Op.EQ, call(Op.NEG, B, type=INTEGER), B
    )
