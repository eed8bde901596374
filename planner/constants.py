"""Constants computed when the query is planned: casts and signs of literals."""

from __future__ import annotations

from decimal import Decimal

from engine.expressions import Call, Cast, Literal, Op
from engine.scalar.written import readable
from engine.schema import INTERVAL, TEXT
from planner.ir import Expression, children
from planner.reference import constant, interval_constant, literal_text, quoted
from planner.scalars import with_children
from planner.types import duckdb_type, storable


def folded(expression: Expression) -> Expression:
    """The expression with what it computes of constants computed, as far as it fails for none."""
    parts = children(expression)
    new = tuple(folded(part) for part in parts)
    if any(a is not b for a, b in zip(new, parts, strict=True)):
        expression = with_children(expression, new)
    return fold(expression)


def fold(expression: Expression) -> Expression:
    """The same for the expression itself, its parts being folded."""
    match expression:
        case Cast(arg=Literal() as literal):
            return _cast(expression, literal)
        case Call(op=Op.NEG, args=(Literal(value=int() | float() | Decimal() as value, type=type),)):
            return Literal(-value, type) if storable(-value, type) else expression
        case _:
            return expression


def _cast(cast: Cast, literal: Literal) -> Expression:
    if literal.value is None:
        return Literal(None, cast.type)
    if not isinstance(literal.value, bool | int | float | str) and literal.type != cast.type:
        written = f"CAST('{literal.value}' AS {duckdb_type(literal.type)})"
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
