"""The oracle itself, on plans small enough to be worked out by hand."""

from __future__ import annotations

from collections import Counter

import pytest

from engine.plan.expressions import Call, ColumnRef, Literal, Op
from engine.plan.nodes import (
    AggregateSpec,
    Clamp,
    Concat,
    Constant,
    Filter,
    Function,
    Join,
    LoopBinding,
    Map,
    Negate,
    Node,
    OnLimit,
    Recursive,
    Reduce,
    Source,
    Threshold,
    Variable,
)
from engine.schema import BIGINT, BOOLEAN, INTEGER, Column, Schema
from tests.oracle.interpreter import Oracle, OracleError, interpret

NUMBERS = Schema((Column("n", INTEGER),))
S = Source("s", NUMBERS)
N = ColumnRef(0, INTEGER)
ROWS = {"s": Counter({(1,): 2, (2,): 1, (None,): 1})}


def below(limit: int) -> Call:
    return Call(Op.LT, (N, Literal(limit, INTEGER)), BOOLEAN)


def plus_one(input: object) -> Map:
    return Map(input, (Call(Op.ADD, (N, Literal(1, INTEGER)), INTEGER),), NUMBERS)  # type: ignore[arg-type]


def test_linear_operators() -> None:
    assert interpret(plus_one(S), ROWS) == Counter({(2,): 2, (3,): 1, (None,): 1})
    assert interpret(Filter(S, below(2)), ROWS) == Counter({(1,): 2})
    assert interpret(Concat((S, S, Negate(S))), ROWS) == ROWS["s"]


def test_null_is_a_value_to_joins_groups_and_thresholds() -> None:
    assert interpret(Join(S, S, (0,), (0,)), ROWS) == Counter({(1, 1): 4, (2, 2): 1, (None, None): 1})
    counts = Reduce(
        S, (0,), (AggregateSpec(Function.COUNT, None, BIGINT), AggregateSpec(Function.SUM, 0, BIGINT))
    )
    assert interpret(counts, ROWS) == Counter([(1, 2, 2), (2, 1, 2), (None, 1, None)])
    assert interpret(Threshold(S, Clamp.DISTINCT), ROWS) == Counter([(1,), (2,), (None,)])
    more = Concat((S, Negate(Constant(((1,), (1,), (1,)), NUMBERS))))
    assert interpret(Threshold(more, Clamp.POSITIVE), ROWS) == Counter([(2,), (None,)])


def test_nothing_reduces_to_nothing() -> None:
    total = Reduce(Filter(S, below(0)), (), (AggregateSpec(Function.COUNT, None, BIGINT),))
    assert interpret(total, ROWS) == Counter()


def test_negative_rows_are_an_error_where_they_must_not_be() -> None:
    with pytest.raises(OracleError, match="negative rows"):
        interpret(Negate(S), ROWS)
    with pytest.raises(OracleError, match="a reduce reads a row"):
        interpret(Reduce(Negate(S), (0,), ()), ROWS)


def test_recursion_from_empty_to_the_fixed_point() -> None:
    step = Concat((Constant(((0,),), NUMBERS), Filter(plus_one(Variable("v", NUMBERS)), below(4))))
    endless = Concat((Constant(((0,),), NUMBERS), plus_one(Variable("v", NUMBERS))))
    assert interpret(Recursive((LoopBinding("v", step),), "v"), {}) == Counter([(n,) for n in range(4)])
    some = Recursive((LoopBinding("v", endless),), "v", 3, OnLimit.RETURN)
    assert interpret(some, {}) == Counter([(n,) for n in range(3)])
    with pytest.raises(OracleError, match="fixed point"):
        interpret(Recursive((LoopBinding("v", endless),), "v", 3), {})
    assert interpret(Recursive((LoopBinding("v", step),), "v", 5), {}) == Counter([(n,) for n in range(4)])
    with pytest.raises(OracleError, match="fixed point"):
        interpret(Recursive((LoopBinding("v", step),), "v", 4), {})


def test_a_recursion_that_grows_without_end_is_given_up() -> None:
    """Before it has all the memory: counts are squared in each round, or rows doubled."""
    variable = Variable("v", NUMBERS)
    squared = Map(Join(variable, variable, (0,), (0,)), (ColumnRef(0, INTEGER),), NUMBERS)
    twice = Concat((Constant(((0,), (0,)), NUMBERS), squared))
    with pytest.raises(OracleError, match="grows too large"):
        interpret(Recursive((LoopBinding("v", twice),), "v"), {})


def test_a_node_is_evaluated_once_in_a_round() -> None:
    """Each binding reads the one before it twice, as it is in the same round: 2 to the power of 30 paths."""
    value: Node = Concat((Constant(((0,),), NUMBERS), Filter(plus_one(Variable("v", NUMBERS)), below(4))))
    bindings = [LoopBinding("v", value)]
    for number in range(30):
        value = Threshold(Concat((value, value)), Clamp.DISTINCT)
        bindings.append(LoopBinding(f"w{number}", value))
    assert interpret(Recursive(tuple(bindings), "w29"), {}) == Counter([(n,) for n in range(4)])


def test_rows_that_fail_are_counted() -> None:
    tenth = Map(
        S, (Call(Op.INTDIV, (Literal(10, INTEGER), Call(Op.SUB, (N, N), INTEGER)), INTEGER),), NUMBERS
    )
    oracle = Oracle(ROWS)
    assert oracle.rows(tenth) == Counter([(None,)])
    assert oracle.errors == Counter({"division by zero": 3})
    with pytest.raises(OracleError, match="division by zero"):
        interpret(tenth, ROWS)
