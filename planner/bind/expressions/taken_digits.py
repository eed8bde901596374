"""Decimals of different digits side by side: what is noted for ad-hoc queries, where DuckDB would round some.

p < 2.4, where p is a NUMERIC(38, 0)      →  CAST(p AS DECIMAL(38, 1)) < CAST(2.4 AS DECIMAL(38, 1))
p = ANY (ARRAY[2.4])                      →  the same with the array
p IN (SELECT q FROM t)                    →  the same with the column of the query
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from engine.schema import Kind, Type, array_of, numeric
from planner.bind.expressions.comparable_sides import would_be_rounded
from planner.bind.session import Bound, Session, Taken
from planner.bind.unions import take_columns
from planner.dialects.row_comparisons import row_parts
from planner.dialects.traits import Trait, has
from planner.ir import Expression
from planner.sql_types import MAX_PRECISION, UNTYPED


def take_digits(session: Session, nodes: Sequence[exp.Expression], types: Sequence[Type], type: Type) -> bool:
    """Note numbers of some types, and arrays of them, that take all digits of a type, if DuckDB would round
    them to one of fewer; whether it would."""
    known = [innermost for each in types if each is not UNTYPED and (innermost := _number(each)) is not None]
    if type.kind is not Kind.NUMERIC or not has(session.dialect, Trait.KEEPS_DIGITS):
        return False
    if not would_be_rounded(known):
        return False
    for node, each in zip(nodes, types, strict=True):
        number = _number(each)
        if each is not UNTYPED and number is not None and number != type:
            session.takes(node, Taken(_with_number(each, type)))
    return True


def take_common_digits(session: Session, nodes: Sequence[exp.Expression], types: Sequence[Type]) -> bool:
    """The same for numbers that take as many digits behind the point as one of them has."""
    return take_digits(session, nodes, types, common_digits(types))


def common_digits(types: Sequence[Type]) -> Type:
    """The widest decimal with as many digits behind the point as one of the types has."""
    numbers = [number for type in types if (number := _number(type)) is not None]
    return numeric(MAX_PRECISION, max((number.scale or 0 for number in numbers), default=0))


def with_common_digits(type: Type, types: Sequence[Type]) -> Type:
    """A type with the common digits in the place of its numbers; any other type itself."""
    return type if type is UNTYPED or _number(type) is None else _with_number(type, common_digits(types))


def take_digits_of_rows(
    session: Session, node: exp.Expression, row: Sequence[Expression], query: exp.Expression, rows: Bound
) -> None:
    """Note the numbers of a row that is compared with the rows of a query, and the columns of that query."""
    parts = row_parts(node, session.dialect) or [node]
    if not len(parts) == len(row) == len(rows.columns):
        return
    wanted = [column.type for column in rows.columns]
    for place, (part, value) in enumerate(zip(parts, row, strict=True)):
        types = [value.type, wanted[place]]
        if take_digits(session, [part, query], types, common_digits(types)):
            wanted[place] = common_digits(types)
    take_columns(session, query, rows, wanted)


def _number(type: Type) -> Type | None:
    """The number that the type is, or of which it has arrays; None for any other type."""
    while type.element is not None:
        type = type.element
    return type if type.is_numeric else None


def _with_number(type: Type, number: Type) -> Type:
    """The type with another number in it."""
    return number if type.element is None else array_of(_with_number(type.element, number))
