"""Coercion: values as values of other types, and literals as DuckDB reads them.

DuckDB decides which type an operator gives. Its arguments are cast so that the engine's rules for its
operators hold (`engine.plan.expressions.Op`). Literals take the wanted type at once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Context, Decimal

from engine.plan.expressions import Call, Cast, Foreign, Literal, Op
from engine.scalar.value_sizes import shortened
from engine.scalar.written import readable
from engine.schema import (
    BIGINT,
    DOUBLE,
    INTEGER,
    INTERVAL,
    JSON,
    NESTED,
    TEXT,
    TIME,
    TIMESTAMP,
    TIMESTAMPTZ,
    Kind,
    Type,
    numeric,
)
from planner.dialects.variants import AS_TEXT, AS_VARIANT
from planner.errors import TypeMismatch
from planner.ir import Expression
from planner.ir.failing import failure
from planner.native.reference import (
    Argument,
    castable,
    constant,
    constants,
    fill_places,
    interval_constant,
    literal_text,
    quoted,
    type_of,
)
from planner.sql_types import MAX_PRECISION, UNTYPED, duckdb_type, storable
from planner.sql_types.defaults import default_of

_EXACT = Context(prec=2 * MAX_PRECISION)
_KEEPING = frozenset({"sum", "min", "max", "any_value", "first", "last", "arg_min", "arg_max"})
"""Aggregates that give 0 of no numbers."""


def argument(expression: Expression) -> Argument:
    """The argument that DuckDB types: a literal's text, else the type; a nested value as it was made, because
    a literal in it takes its type from its context too."""
    if isinstance(expression, Literal):
        return literal_text(expression)
    if isinstance(expression, Foreign) and expression.type.kind in NESTED:
        return _written(expression)
    return expression.type


def _written(expression: Expression) -> str:
    """A nested value in DuckDB's SQL, with NULLs of their types for what is not constant."""
    match expression:
        case Literal():
            return literal_text(expression)
        case Foreign() if expression.type.kind in NESTED:
            return f"({fill_places(expression.template, [_written(arg) for arg in expression.args])})"  # type: ignore[arg-type]
    return f"CAST(NULL AS {duckdb_type(expression.type)})"


def as_part(expression: Expression) -> Expression:
    """A value as a part of a nested one: an untyped NULL is a text, which can become anything."""
    return Literal(None, TEXT) if expression.type is UNTYPED else expression


def coerce(expression: Expression, type: Type) -> Expression:
    """The expression as `type`. Raises TypeMismatch for a literal that has no value of that type."""
    if expression.type == type:
        return expression
    if isinstance(expression, Literal):
        return literal_as(expression, type)
    if expression.type is UNTYPED:
        return Literal(None, type)
    return explicit_cast(expression, type)


def explicit_cast(expression: Expression, type: Type, lenient: bool = False) -> Expression:
    """An explicit cast. Raises TypeMismatch if there is none between the types."""
    if (expression.type, type) == (TIMESTAMPTZ, TIME):
        return Cast(Cast(expression, TIMESTAMP, lenient), TIME, lenient)  # type: ignore[arg-type]
    if not castable(expression.type, type):
        raise TypeMismatch(f"there is no cast of {expression.type} to {type}")
    return Cast(expression, type, lenient)  # type: ignore[arg-type]


def cast_of_variant(value: Expression, type: Type, lenient: bool = False) -> Expression:
    """A cast of a variant, or to one. A text in it is the text without its quotes."""
    if type.kind is Kind.JSON:
        return Foreign(AS_VARIANT, (value,), JSON)  # type: ignore[arg-type]
    text = Foreign(AS_TEXT, (value,), TEXT)  # type: ignore[arg-type]
    if type == TEXT or not castable(TEXT, type):
        return text if type == TEXT else explicit_cast(value, type, lenient)
    return Cast(text, type, lenient)  # type: ignore[arg-type]


def literal_as(literal: Literal, type: Type) -> Expression:
    value = literal.value
    if value is None:
        return Literal(None, type)
    if isinstance(value, int) and not isinstance(value, bool):
        if type.is_integer and storable(value, type):
            return Literal(value, type)
        if type.kind is Kind.DOUBLE:
            return Literal(float(value), type)
    if isinstance(value, bool) or not isinstance(value, int | Decimal | float | str):
        return Cast(literal, type)
    if isinstance(value, str):
        value = readable(value, type)
    exact = _rescaled(value, type)
    if exact is not None:
        return Literal(exact, type)
    text = f"CAST({literal_text(Literal(value, literal.type))} AS {duckdb_type(type)})"
    return _converted(literal, type, text, *constant(text))


def literals_as(literals: Sequence[Literal], type: Type) -> list[Expression]:
    """The literals as `type`, as `coerce` gives them; DuckDB reads many texts at once."""
    if not literals or literals[0].type == type or type == TEXT or not isinstance(literals[0].value, str):
        return [coerce(literal, type) for literal in literals]
    written = [quoted(readable(str(literal.value), type)) for literal in literals]
    texts = [f"CAST({each} AS {duckdb_type(type)})" for each in written]
    found = zip(literals, texts, constants(texts), strict=True)
    return [_converted(literal, type, text, *known) for literal, text, known in found]


def _rescaled(value: object, type: Type) -> Decimal | None:
    """An exact number as a NUMERIC that has all of its digits; None for anything else."""
    if type.kind is not Kind.NUMERIC or isinstance(value, bool) or not isinstance(value, int | Decimal):
        return None
    number = Decimal(value)
    fits = -int(number.as_tuple().exponent) <= (type.scale or 0) and storable(number, type)
    return number.quantize(Decimal(1).scaleb(-(type.scale or 0)), context=_EXACT) if fits else None


def _converted(literal: Literal, type: Type, text: str, known: bool, converted: object) -> Expression:
    """The literal as `type`, given DuckDB's value for the cast `text`, if there is one."""
    if not known:
        if failure(Cast(literal, type)) is None:
            return Cast(literal, type)
        raise TypeMismatch(f"{literal_text(literal)} is not a value of type {type}")
    if type == INTERVAL:
        converted = interval_constant(text)
        return Cast(literal, type) if converted is None else Literal(converted, type)
    return Literal(converted, type) if storable(converted, type) else Cast(literal, type)


def typed(expression: Expression) -> Expression:
    """The expression, or an INTEGER NULL for an untyped NULL, as in DuckDB."""
    if expression.type is UNTYPED:
        return Literal(None, INTEGER)
    return expression


def default_value(type: Type) -> Expression | None:
    """The default of a type, for dialects that have it instead of NULL; None if it has none."""
    text = default_of(type)
    return None if text is None else coerce(text_literal(text), type)


def defaulting(value: Expression) -> Expression:
    """The value, or the default of its type instead of NULL."""
    default = default_value(value.type)
    return value if default is None else Call(Op.COALESCE, (value, default), value.type)  # type: ignore[arg-type]


def default_of_none(function: str, value: Expression) -> Expression:
    """The value of an aggregate, or what it gives for no rows: NaN, if it is a quotient."""
    is_quotient = value.type == DOUBLE and function not in _KEEPING
    if not is_quotient:
        return defaulting(value)
    return Call(Op.COALESCE, (value, coerce(text_literal("NaN"), DOUBLE)), DOUBLE)  # type: ignore[arg-type]


_DECIMAL = re.compile(r"-?(0|[1-9]\d*)\.\d+")
"""Numbers with a point as everyone writes them: DuckDB's type for them is known."""
_MOST_DIGITS = 4_000
"""Most characters of a number: Python reads no whole number of more digits."""


def number_literal(text: str) -> Literal:
    """A number as DuckDB reads it: INTEGER or BIGINT if it is whole, NUMERIC if it has a point, else
    DOUBLE."""
    if len(text) > _MOST_DIGITS:
        raise TypeMismatch(f"{shortened(text)} is too large")
    if re.fullmatch(r"-?\d+", text):
        whole = int(text)
        if storable(whole, INTEGER):
            return Literal(whole, INTEGER)
        return Literal(whole, BIGINT) if storable(whole, BIGINT) else _wide(text)
    if _DECIMAL.fullmatch(text) and len(text) <= MAX_PRECISION:
        number, scale = Decimal(text), len(text.partition(".")[2])
        return Literal(number, numeric(max(len(number.as_tuple().digits), scale + 1), scale))
    known, value = constant(text)
    type = type_of(text, ())
    if not known or not storable(value, type):
        raise TypeMismatch(f"{text} is too large")
    return Literal(value, type)


def _wide(text: str) -> Literal:
    """A whole number beyond BIGINT, typed as in PostgreSQL."""
    digits = len(text.lstrip("-").lstrip("0"))
    if digits > MAX_PRECISION:
        raise TypeMismatch(f"{text} is too large")
    return Literal(Decimal(text), numeric(digits, 0))


def interval_literal(interval: Expression) -> Expression:
    """An interval literal as its value; any other expression unchanged."""
    if isinstance(interval, Foreign) and not interval.args:
        value = interval_constant(interval.template)
        return interval if value is None else Literal(value, INTERVAL)
    return interval


def text_literal(text: str) -> Literal:
    return Literal(text, TEXT)
