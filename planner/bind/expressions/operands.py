"""Arithmetic: the types of its operands, and of its result.

In some dialects a text beside a number is the number that is written there, or with which it begins.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from engine.plan.expressions import Call, Cast, Literal, Op
from engine.schema import BOOLEAN, DATE, TEXT, TIMESTAMP, TIMESTAMPTZ, Kind, Type, numeric
from planner.bind.coercion import argument, coerce, literal_as, number_literal
from planner.bind.expressions.comparable_sides import check_whole, number_of_text
from planner.dialects.traits import Trait, has
from planner.ir import Expression
from planner.native.reference import type_of
from planner.sql_types import UNTYPED

_MOMENTS = (DATE, TIMESTAMP, TIMESTAMPTZ)
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_SYMBOLS = {Op.ADD: "+", Op.SUB: "-", Op.MUL: "*", Op.DIV: "/", Op.INTDIV: "//", Op.MOD: "%"}


def as_operands(op: Op, left: Expression, right: Expression, dialect: str) -> tuple[Expression, Expression]:
    """The sides of an operator: in dialects without operators between texts and other values, a text that is
    written beside a number is a number, and one that is subtracted from a moment a moment. Raises
    TypeMismatch."""
    if not (has(dialect, Trait.KEEPS_KINDS_APART) or has(dialect, Trait.READS_NUMERALS)):
        return left, right
    if has(dialect, Trait.READS_NO_NUMERALS) and (left.type.is_numeric or right.type.is_numeric):
        return left, right
    if has(dialect, Trait.TEXTS_BEGIN_NUMBERS):
        left, right = (_number_beside(a, b, dialect) for a, b in ((left, right), (right, left)))
    return _as_operand(op, left, right), _as_operand(op, right, left)


def _number_beside(side: Expression, other: Expression, dialect: str) -> Expression:
    """A text as the number that it begins with, unless the other side is no number either; a column of texts
    only where it may be compared with numbers too."""
    is_number = other.type in (TEXT, BOOLEAN, UNTYPED) or other.type.is_numeric
    is_known = isinstance(side, Literal) or has(dialect, Trait.COMPARES_TEXTS_AS_NUMBERS)
    return number_of_text(side) if side.type == TEXT and is_number and is_known else side


def _as_operand(op: Op, side: Expression, other: Expression) -> Expression:
    if not isinstance(side, Literal) or side.type != TEXT:
        return side
    if op is Op.SUB and other.type in _MOMENTS:
        literal_as(side, other.type)
        return Cast(side, other.type)
    check_whole(side, other.type)
    if other.type.is_integer or other.type.is_float:
        return literal_as(side, other.type)
    is_number = other.type.kind is Kind.NUMERIC and _NUMBER.fullmatch(str(side.value))
    return number_literal(str(side.value)) if is_number else side


def bind_arithmetic(op: Op, left: Expression, right: Expression) -> Expression | None:
    """The operator over numbers, with its arguments cast; None if an argument is not a number."""
    type = type_of(f"({{0}} {_SYMBOLS[op]} {{1}})", (argument(left), argument(right)))
    if type is UNTYPED:
        return Literal(None, UNTYPED)
    sides = [side for side in (left, right) if side.type is not UNTYPED]
    if not type.is_numeric or not all(side.type.is_numeric for side in sides):
        return None
    if op is Op.INTDIV and not type.is_integer:
        return None
    args = tuple(_operand(op, side, type) for side in (left, right))
    return Call(op, args, _result(op, args, type))  # type: ignore[arg-type]


def _operand(op: Op, side: Expression, result: Type) -> Expression:
    """A number as the operator takes it: a NUMERIC of the result's scale (of its own scale for a product),
    else of the result's type."""
    if result.kind is not Kind.NUMERIC:
        return coerce(side, result)
    if side.type.kind is Kind.NUMERIC and (op is Op.MUL or side.type.scale == result.scale):
        return side
    if op is Op.MUL:
        digits = (
            len(str(abs(side.value))) if isinstance(side, Literal) and isinstance(side.value, int) else 18
        )
        return coerce(side, numeric(min(digits, 18), 0))
    return coerce(side, result)


def _result(op: Op, args: Sequence[Expression], type: Type) -> Type:
    if op is Op.MUL and type.kind is Kind.NUMERIC and not type.whole:
        return numeric(type.precision or 0, sum(arg.type.scale or 0 for arg in args))
    return type
