"""Comparisons and conditions: the type in which two values compare, and what is refused to be compared."""

from __future__ import annotations

from collections.abc import Sequence

from engine.plan.expressions import Call, Foreign, Literal, Op
from engine.schema import BOOLEAN, DOUBLE, INTEGER, INTERVAL, JSON, TEXT, Kind, Type, array_of, numeric
from planner.bind.coercion import argument, cast_of_variant, coerce, number_literal, typed
from planner.bind.expressions.untyped_texts import beside
from planner.dialects.number_beginnings import NUMBER_OF_TEXT, beginning
from planner.dialects.traits import Trait, has
from planner.dialects.whole_numbers import has_fraction
from planner.errors import TypeMismatch
from planner.ir import Expression
from planner.native.reference import Argument, common_type, literal_text
from planner.sql_types import MAX_PRECISION, UNTYPED, storable

_DIGITS = {Kind.SMALLINT: 5, Kind.INTEGER: 10, Kind.BIGINT: 19}
"""The most digits of a whole number."""
_TEXTUAL = frozenset({Kind.ENUM, Kind.JSON})  # kinds whose values compare with texts as texts


def comparable(left: Expression, right: Expression) -> tuple[Expression, Expression]:
    """Both sides as the type in which they compare."""
    type = _comparison_type(left, right)
    return coerce(left, type), coerce(right, type)


def _comparison_type(left: Expression, right: Expression) -> Type:
    if left.type == right.type and left.type is not UNTYPED:
        return left.type
    if left.type is UNTYPED or right.type is UNTYPED:
        return typed(left).type if right.type is UNTYPED else typed(right).type
    if TEXT in (left.type, right.type):
        text, other = (left, right) if left.type == TEXT else (right, left)
        return TEXT if other.type.kind in _TEXTUAL and not isinstance(text, Literal) else other.type
    if isinstance(left, Literal) != isinstance(right, Literal):
        for literal, other in ((left, right), (right, left)):
            fits = isinstance(literal, Literal) and storable(literal.value, other.type)
            if fits and literal.type.is_integer and other.type.is_integer:
                return other.type
        return _common(left, right, argument(left), argument(right))
    return _common(left, right, argument(left), argument(right))


def _common(left: Expression, right: Expression, a: Argument, b: Argument) -> Type:
    try:
        type = common_type(a, b)
    except TypeMismatch:
        hint = "cast one of them to the other's type"
        raise TypeMismatch(f"{left.type} and {right.type} cannot be compared", hint) from None
    return with_all_digits(type, (left.type, right.type))


def with_all_digits(type: Type, types: Sequence[Type]) -> Type:
    """DuckDB's common type of some types; as a NUMERIC with all of their digits behind the point, of which
    DuckDB leaves out some where they would be more than 38 with those before it. A value for which these are
    too many is an error of its row."""
    if type.element is not None and all(each.element is not None for each in types):
        return array_of(with_all_digits(type.element, [each.element for each in types if each.element]))
    scale = max((each.scale or 0 for each in types if each.kind is Kind.NUMERIC), default=0)
    is_rounded = type.kind is Kind.NUMERIC and not type.whole and scale > (type.scale or 0)
    return numeric(MAX_PRECISION, scale) if is_rounded else type


def bind_comparison(op: Op, left: Expression, right: Expression, dialect: str = "") -> Expression:
    """The comparison; intervals compare by length, with months of 30 days. Raises TypeMismatch if the
    `dialect` cannot compare the types."""
    if has(dialect, Trait.COMPARES_TEXTS_AS_NUMBERS):
        left, right = _beside_number(left, right), _beside_number(right, left)
    if has(dialect, Trait.KEEPS_KINDS_APART):
        _check_texts(left, right, has(dialect, Trait.READS_NO_NUMERALS))
        _check_booleans(left, right)
    if has(dialect, Trait.JSON_IS_VARIANT) and {left.type.kind, right.type.kind} == {Kind.JSON, Kind.TEXT}:
        left, right = (cast_of_variant(side, JSON) if side.type == TEXT else side for side in (left, right))
    left, right = beside(left, right.type, dialect), beside(right, left.type, dialect)
    sides = comparable(left, right)
    if sides[0].type == INTERVAL:
        sides = (_normalized(sides[0]), _normalized(sides[1]))
    return Call(op, sides, BOOLEAN)  # type: ignore[arg-type]


def would_be_rounded(types: Sequence[Type]) -> bool:
    """Whether DuckDB's common type of some types has fewer digits behind the point than one of them."""
    decimals = [type for type in types if type.kind is Kind.NUMERIC]
    after = max((type.scale or 0 for type in decimals), default=0)
    before = [(type.precision or 0) - (type.scale or 0) for type in decimals]
    before += [_DIGITS[type.kind] for type in types if type.kind in _DIGITS]
    return after > 0 and max(before) + after > MAX_PRECISION


def _check_texts(left: Expression, right: Expression, strict: bool) -> None:
    """Raise TypeMismatch for a text beside a value of another type: if it is no literal, or with `strict` if
    the other value is a number; and for a literal with a fraction beside a whole number, which DuckDB would
    round."""
    for text, other in ((left, right), (right, left)):
        check_whole(text, other.type)
        is_other = other.type is not UNTYPED and other.type != TEXT and other.type.kind not in _TEXTUAL
        is_free = not isinstance(text, Literal) or (strict and other.type.is_numeric)
        if text.type == TEXT and is_free and is_other:
            raise TypeMismatch(
                f"{left.type} and {right.type} cannot be compared",
                f"cast the text to {other.type.kind.value}, or the other value to TEXT",
            )


def _check_booleans(left: Expression, right: Expression) -> None:
    """Raise TypeMismatch for a boolean beside a number."""
    for boolean, other in ((left, right), (right, left)):
        if boolean.type == BOOLEAN and other.type.is_numeric:
            raise TypeMismatch(
                f"{left.type} and {right.type} cannot be compared", "cast the boolean to INTEGER"
            )


def check_whole(text: Expression, type: Type) -> None:
    """Raise TypeMismatch for a literal with a fraction as a whole number, which DuckDB would round."""
    if isinstance(text, Literal) and text.type == TEXT and type.is_integer and has_fraction(str(text.value)):
        raise TypeMismatch(f"{literal_text(text)} is not a value of type {type}")


def _normalized(interval: Expression) -> Expression:
    """The normal form of an interval: equal for all intervals of one length."""
    return Foreign("normalized_interval({0})", (interval,), INTERVAL)  # type: ignore[arg-type]


def condition(expression: Expression, where: str, dialect: str = "") -> Expression:
    """The expression as a BOOLEAN. Raises TypeMismatch with `where`, the place of the expression; also for a
    whole number, if it is no truth value in the `dialect`."""
    is_number = expression.type.is_integer and expression.type is not UNTYPED
    if is_number and has(dialect, Trait.KEEPS_KINDS_APART):
        raise TypeMismatch(f"{where} is {expression.type}, not BOOLEAN", "compare it with 0")
    if has(dialect, Trait.TEXTS_BEGIN_NUMBERS) and expression.type is not UNTYPED:
        expression = number_of_text(expression) if expression.type == TEXT else expression
        if expression.type.is_numeric and not expression.type.is_integer:
            return bind_comparison(Op.NE, expression, Literal(0, INTEGER))
    if expression.type in (BOOLEAN, UNTYPED) or expression.type.is_integer:
        return coerce(expression, BOOLEAN)
    raise TypeMismatch(f"{where} is {expression.type}, not BOOLEAN")


def _beside_number(side: Expression, other: Expression) -> Expression:
    """A text as a number, if the other side is one."""
    is_number = other.type is not UNTYPED and other.type.is_numeric
    return number_of_text(side) if side.type == TEXT and is_number else side


def number_of_text(text: Expression) -> Expression:
    """The number that a text begins with."""
    if isinstance(text, Literal) and text.value is not None:
        return number_literal(beginning(str(text.value)))
    return Foreign(NUMBER_OF_TEXT, (text,), DOUBLE)  # type: ignore[arg-type]
