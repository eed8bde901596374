"""Comparisons of one value with many constants become one test for membership.

    a = 1 OR a = 2 OR a IN (3, 4)   →   a IN (1, 2, 3, 4)
    a <> 1 AND a <> 2 AND a <> 3    →   NOT a IN (1, 2, 3)

The values have one order, so that equal sets are equal expressions. Fewer than `FEWEST` stay comparisons, of
which other passes know more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engine.plan.expressions import Call, Literal, OneOf, Op
from planner.ir.constants import PLAIN
from planner.ir.core import Expression, Now, children
from planner.ir.scalars import call, disjoin, negate

FEWEST = 3


def one_of(arg: Expression, values: Iterable[object]) -> Expression:
    """Whether `arg` is one of `values`, none of which is NULL."""
    distinct = dict.fromkeys(values)
    if len(distinct) < FEWEST or _tells_time(arg):
        return disjoin(call(Op.EQ, arg, Literal(value, arg.type)) for value in distinct)
    ordered = sorted(distinct) if arg.type.kind in PLAIN else sorted(distinct, key=repr)  # type: ignore[type-var]
    return OneOf(arg, tuple(ordered))  # type: ignore[arg-type]


def gathered(op: Op, operands: Sequence[Expression]) -> list[Expression]:
    """The operands of OR with equalities of one value with constants made one; of AND, with inequalities."""
    if len(operands) < 2:
        return list(operands)
    tests = [_test(op, operand) for operand in operands]
    values: dict[Expression, dict[object, None]] = {}
    for test in tests:
        if test is not None:
            values.setdefault(test.arg, {}).update(dict.fromkeys(test.values))
    many = {arg for arg, found in values.items() if len(found) >= FEWEST and not _tells_time(arg)}
    result: list[Expression] = []
    for operand, test in zip(operands, tests, strict=True):
        if test is None or test.arg not in many:
            result.append(operand)
        elif test.arg in values:
            whole = one_of(test.arg, values.pop(test.arg))
            result.append(whole if op is Op.OR else negate(whole))
    return result


def _test(op: Op, operand: Expression) -> OneOf | None:
    """The operand of OR as a test for membership; of AND, its negation; None if it is no such test."""
    compared = Op.EQ if op is Op.OR else Op.NE
    match operand:
        case Call(op=found, args=(arg, Literal(value=value, type=type))) if found is compared:
            known = value is not None and type == arg.type and not isinstance(arg, Literal)
            return OneOf(arg, (value,)) if known else None
        case OneOf() if op is Op.OR:
            return operand
        case Call(op=Op.NOT, args=(OneOf() as test,)) if op is Op.AND:
            return test
    return None


def _tells_time(expression: Expression) -> bool:
    """Whether the time is part of it: comparisons with the time are solved one by one."""
    return isinstance(expression, Now) or any(map(_tells_time, children(expression)))
