"""Constants computed when the query is planned: casts, signs, comparisons and functions of literals."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from engine.plan.expressions import Call, Cast, Foreign, Literal, OneOf, Op
from engine.scalar.written import readable
from engine.schema import BOOLEAN, INTERVAL, TEXT, Kind
from planner.ir import Expression, children
from planner.ir.scalars import with_children
from planner.native.reference import constant, fill_places, interval_constant, literal_text, quoted
from planner.sql_types import duckdb_type, minus, storable

PLAIN = frozenset(
    {
        Kind.SMALLINT,
        Kind.INTEGER,
        Kind.BIGINT,
        Kind.NUMERIC,
        Kind.BOOLEAN,
        Kind.TEXT,
        Kind.DATE,
        Kind.TIMESTAMP,
    }
)
"""Kinds whose values have the same meaning and order in Python as in SQL."""
_COMPARISONS: Mapping[Op, Callable[[Any, Any], bool]] = {
    Op.EQ: operator.eq,
    Op.NE: operator.ne,
    Op.LT: operator.lt,
    Op.LE: operator.le,
    Op.GT: operator.gt,
    Op.GE: operator.ge,
}
_ARITHMETIC = {Op.ADD: operator.add, Op.SUB: operator.sub, Op.MUL: operator.mul}


def folded(expression: Expression) -> Expression:
    """The expression with its constant parts computed, except those that fail."""
    parts = children(expression)
    new = tuple(folded(part) for part in parts)
    if any(a is not b for a, b in zip(new, parts, strict=True)):
        expression = with_children(expression, new)
    return fold_constant(expression)


def fold_constant(expression: Expression) -> Expression:
    """The same for the expression itself, whose parts are already folded."""
    match expression:
        case Cast(arg=Literal() as literal):
            return _cast(expression, literal)
        case Call(op=Op.NEG, args=(Literal(value=int() | float() | Decimal() as value, type=type),)):
            return Literal(minus(value), type) if storable(minus(value), type) else expression
        case Call(op=op, args=(Literal() as left, Literal() as right)) if op in _COMPARISONS:
            return _compared(expression, op, left, right)
        case Call(op=op, args=(Literal(value=int() as a), Literal(value=int() as b)), type=type) if (
            op in _ARITHMETIC and type.is_integer
        ):
            whole = _ARITHMETIC[op](a, b)
            return Literal(whole, type) if storable(whole, type) else expression
        case OneOf(arg=Literal(value=value, type=type), values=values) if type.kind in PLAIN:
            return Literal(None if value is None else value in values, BOOLEAN)
        case Foreign(template=template, args=args, type=type) if all(map(_is_plain, args)):
            written = fill_places(template, [_written(arg) for arg in args if isinstance(arg, Literal)])
            known, found = constant(f"CAST({written} AS {duckdb_type(type)})")
            is_plain = known and type.kind in PLAIN and storable(found, type)
            return Literal(found, type) if is_plain else expression
        case _:
            return expression


def _is_plain(expression: Expression) -> bool:
    return isinstance(expression, Literal) and expression.type.kind in PLAIN | {Kind.INTERVAL}


def _written(literal: Literal) -> str:
    """The literal's text with exactly its type."""
    if isinstance(literal.value, bool | int | float | str | None):
        return literal_text(literal)
    return f"CAST('{literal.value}' AS {duckdb_type(literal.type)})"


def _compared(expression: Expression, op: Op, left: Literal, right: Literal) -> Expression:
    """A comparison of constants; NULL if one is NULL."""
    if left.value is None or right.value is None:
        return Literal(None, BOOLEAN)
    if left.type != right.type or left.type.kind not in PLAIN:
        return expression
    return Literal(_COMPARISONS[op](left.value, right.value), BOOLEAN)


def _cast(cast: Cast, literal: Literal) -> Expression:
    if literal.value is None:
        return Literal(None, cast.type)
    if not isinstance(literal.value, bool | int | float | str) and literal.type != cast.type:
        written = _written(literal)
    else:
        written = literal_text(literal)
        if isinstance(literal.value, str) and literal.type == TEXT:
            written = quoted(readable(literal.value, cast.type))
    if cast.type == INTERVAL:
        interval = interval_constant(f"CAST({written} AS INTERVAL)")
        return cast if interval is None else Literal(interval, INTERVAL)
    function = "TRY_CAST" if cast.lenient else "CAST"
    known, value = constant(f"{function}({written} AS {duckdb_type(cast.type)})")
    if known and value is None:
        return Literal(None, cast.type)
    return Literal(value, cast.type) if known and storable(value, cast.type) else cast
