"""Coercion: one type for the sides of comparisons, arithmetic, alternatives and casts.

DuckDB decides which type an operator gives. This module casts the arguments so that the engine's rules for
its operators hold (`engine.plan.expressions.Op`). Literals take the wanted type at once.
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
    BOOLEAN,
    DATE,
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
from planner.dialects.number_beginnings import NUMBER_OF_TEXT, beginning
from planner.dialects.traits import Trait, has
from planner.dialects.variants import AS_TEXT, AS_VARIANT
from planner.errors import TypeMismatch
from planner.ir import Expression
from planner.ir.failing import failure
from planner.native.reference import (
    Argument,
    castable,
    common_type,
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
_TEXTUAL = frozenset({Kind.ENUM, Kind.JSON})  # kinds whose values compare with texts as texts
_KEEPING = frozenset({"sum", "min", "max", "any_value", "first", "last", "arg_min", "arg_max"})
"""Aggregates that give 0 of no numbers."""
_MOMENTS = (DATE, TIMESTAMP, TIMESTAMPTZ)


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
        return common_type(a, b)
    except TypeMismatch:
        hint = "cast one of them to the other's type"
        raise TypeMismatch(f"{left.type} and {right.type} cannot be compared", hint) from None


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
    sides = comparable(left, right)
    if sides[0].type == INTERVAL:
        sides = (_normalized(sides[0]), _normalized(sides[1]))
    return Call(op, sides, BOOLEAN)  # type: ignore[arg-type]


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


def _check_texts(left: Expression, right: Expression, strict: bool) -> None:
    """Raise TypeMismatch for a text beside a value of another type: if it is no literal, or with `strict` if
    the other value is a number; and for a literal with a fraction beside a whole number, which DuckDB would
    round."""
    for text, other in ((left, right), (right, left)):
        _check_whole(text, other.type)
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


def _check_whole(text: Expression, type: Type) -> None:
    """Raise TypeMismatch for a literal with a fraction as a whole number, which DuckDB would round."""
    if (
        isinstance(text, Literal)
        and text.type == TEXT
        and type.is_integer
        and _FRACTION.search(str(text.value))
    ):
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


_FRACTION = re.compile(r"\d[.eE]|\.\d")
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_DECIMAL = re.compile(r"-?(0|[1-9]\d*)\.\d+")
"""Numbers with a point as everyone writes them: DuckDB's type for them is known."""
_MOST_DIGITS = 4_000
"""Most characters of a number: Python reads no whole number of more digits."""
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


def _beside_number(side: Expression, other: Expression) -> Expression:
    """A text as a number, if the other side is one."""
    is_number = other.type is not UNTYPED and other.type.is_numeric
    return number_of_text(side) if side.type == TEXT and is_number else side


def number_of_text(text: Expression) -> Expression:
    """The number that a text begins with."""
    if isinstance(text, Literal) and text.value is not None:
        return number_literal(beginning(str(text.value)))
    return Foreign(NUMBER_OF_TEXT, (text,), DOUBLE)  # type: ignore[arg-type]


def _as_operand(op: Op, side: Expression, other: Expression) -> Expression:
    if not isinstance(side, Literal) or side.type != TEXT:
        return side
    if op is Op.SUB and other.type in _MOMENTS:
        literal_as(side, other.type)
        return Cast(side, other.type)
    _check_whole(side, other.type)
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


def alternatives(
    template: str, expressions: Sequence[Expression], dialect: str = ""
) -> tuple[list[Expression], Type]:
    """The alternatives of COALESCE, GREATEST and so on, cast to DuckDB's type for the result, and that type.

    `template` holds `{}` for the list of alternatives. Raises TypeMismatch.
    """
    if _are_mixed(expressions, dialect):
        return [coerce(each, TEXT) for each in expressions], TEXT
    places = ", ".join(f"{{{i}}}" for i in range(len(expressions)))
    type = type_of(template.replace("{}", places), tuple(argument(e) for e in expressions))
    return _as_alternatives(expressions, type, dialect), type


def case_values(values: Sequence[Expression], dialect: str) -> tuple[list[Expression], Type]:
    """The values of a CASE, of which the last is that of ELSE, cast to one type, and that type. Raises
    TypeMismatch."""
    if _are_mixed(values, dialect):
        return [coerce(value, TEXT) for value in values], TEXT
    whens = " ".join(f"WHEN TRUE THEN {{{i}}}" for i in range(len(values) - 1))
    type = type_of(f"CASE {whens} ELSE {{{len(values) - 1}}} END", tuple(argument(v) for v in values))
    return _as_alternatives(values, type, dialect), type


def _are_mixed(values: Sequence[Expression], dialect: str) -> bool:
    """Whether texts stand beside exact numbers where these become texts."""
    types = {value.type for value in values if value.type is not UNTYPED}
    return (
        has(dialect, Trait.MIXED_ARE_TEXTS)
        and TEXT in types
        and all(type == TEXT or type.is_integer or type.kind is Kind.NUMERIC for type in types)
    )


def _as_alternatives(values: Sequence[Expression], type: Type, dialect: str) -> list[Expression]:
    if has(dialect, Trait.KEEPS_KINDS_APART):
        for value in values:
            _check_whole(value, type)
    return [coerce(value, type) for value in values]


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
