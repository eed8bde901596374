"""Constant texts without a type of their own, which take the type of what they stand beside.

    at > 'January 8, 1999'       at > '1999-01-08'
    price = '2.254'              price = 2.254, also where the column has fewer digits
    coalesce(is_paid, 'yes')     coalesce(is_paid, true)
    SELECT 1 UNION SELECT '2'    SELECT 1 UNION SELECT 2

A text with a cast has a type of its own, and is no constant text here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal, InvalidOperation

from sqlglot import exp

from engine.plan.expressions import Literal
from engine.schema import BOOLEAN, TEXT, Kind, Type
from planner.bind.coercion import number_literal
from planner.bind.expressions.special_numbers import special_beside
from planner.bind.session import Session, Taken
from planner.dialects.systems.postgres_moments import as_moment
from planner.dialects.systems.postgres_texts import truth_of
from planner.dialects.traits import Trait, has
from planner.ir import Expression
from planner.sql_types import MAX_PRECISION, UNTYPED


def is_untyped(value: Expression) -> bool:
    """Whether the value is a constant text without a type of its own."""
    return isinstance(value, Literal) and isinstance(value.value, str) and value.type == TEXT


def beside(side: Expression, type: Type, dialect: str) -> Expression:
    """A constant text as a value beside one of `type`, in a form that DuckDB reads for the type; any other
    value itself. Raises TypeMismatch for a text that is no moment."""
    if (
        not isinstance(side, Literal)
        or not isinstance(side.value, str)
        or side.type != TEXT
        or type is UNTYPED
    ):
        return side
    if has(dialect, Trait.NUMBERS_HAVE_SPECIALS) and (special := special_beside(side, type)) is not side:
        return special
    if has(dialect, Trait.TEXTS_ARE_UNTYPED) and type.kind is Kind.NUMERIC and not type.whole:
        return _number(side.value) or side
    if has(dialect, Trait.TEXTS_ARE_UNTYPED) and type == BOOLEAN:
        truth = truth_of(side.value)
        return side if truth is None else Literal(truth, BOOLEAN)
    text = as_moment(side.value, type.kind, dialect)
    return side if text == side.value else Literal(text, side.type)


def take_beside(session: Session, node: exp.Expression, side: Expression, type: Type) -> None:
    """Note what a constant text is beside a value of `type`, if DuckDB would read it in another way."""
    if is_untyped(side) and (value := beside(side, type, session.dialect)) is not side:
        session.takes(node, Taken(type, value))


def among(
    values: Sequence[Expression], dialect: str, common: Callable[[Sequence[Expression]], Type]
) -> list[Expression]:
    """Alternatives, of which constant texts take the type that is common to the others."""
    known = [value for value in values if not is_untyped(value) and value.type is not UNTYPED]
    if not has(dialect, Trait.TEXTS_ARE_UNTYPED) or not known or any(value.type == TEXT for value in known):
        return list(values)
    type = common(known)
    return [beside(value, type, dialect) for value in values]


def _number(text: str) -> Literal | None:
    """The number that a text spells, with all of its digits; None for a text that spells none."""
    try:
        number = Decimal(text.strip())
    except InvalidOperation:
        return None
    if "_" in text or not number.is_finite() or abs(number.adjusted()) > MAX_PRECISION:
        return None
    written = format(number, "f")
    return number_literal(written) if len(written) <= MAX_PRECISION else None
