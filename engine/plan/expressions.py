"""Scalar expressions over the columns of a row: frozen specifications, without evaluation.

`engine/scalar/` evaluates them a batch at a time. Semantics are SQL's: an operator of NULL is NULL; AND, OR
and NOT are three-valued. An expression that fails for a row (a cast, an overflow, a division by zero) fails
that row alone.

`Foreign` covers everything without a node of its own: a DuckDB scalar expression, with `{0}`, `{1}`, ... for
its arguments. It must be deterministic.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import time

from engine.schema import BOOLEAN, Kind, Type


class Op(enum.Enum):
    """Operators, with the argument and result types that the front end must arrange.

    Arithmetic takes arguments of one type, which is its result's, with one exception: for NUMERIC, ADD, SUB
    and MOD take arguments of one scale, and MUL adds the scales. DIV is float division. INTDIV and MOD
    truncate towards zero. SQRT takes floats, and is NaN below zero. Comparisons take two arguments of one
    type. LEAST and GREATEST skip NULLs. NUMBER is a cast of a text or a float to a NUMERIC that
    `has_specials`, which, unlike CAST, takes NaN and the infinities; FINITE fails for an infinite NUMERIC.
    """

    ADD = "+"
    SUB = "-"
    MUL = "*"
    DIV = "/"
    INTDIV = "//"
    MOD = "%"
    NEG = "neg"
    ABS = "abs"
    SQRT = "sqrt"
    EQ = "="
    NE = "<>"
    LT = "<"
    LE = "<="
    GT = ">"
    GE = ">="
    DISTINCT = "is distinct from"
    NOT_DISTINCT = "is not distinct from"
    AND = "and"
    OR = "or"
    NOT = "not"
    IS_NULL = "is null"
    COALESCE = "coalesce"
    GREATEST = "greatest"
    LEAST = "least"
    NUMBER = "number"
    FINITE = "finite"


@dataclass(frozen=True)
class ColumnRef:
    """Column `index` of the input row."""

    index: int
    type: Type


@dataclass(frozen=True)
class Literal:
    """A constant: None, bool, int, float, Decimal, str, date or datetime, as `type` requires. A time with a
    zone is kept as its text: to Python, two of one moment are equal."""

    value: object
    type: Type

    def __post_init__(self) -> None:
        if isinstance(self.value, time) and self.type.kind is Kind.TIMETZ:
            object.__setattr__(self, "value", self.value.isoformat())


@dataclass(frozen=True)
class Parameter:
    """A value, not NULL, that is given before the plan runs (`engine/plan/plan_templates.py`)."""

    number: int
    type: Type


@dataclass(frozen=True)
class Call:
    """An operator applied to arguments."""

    op: Op
    args: tuple[Expression, ...]
    type: Type


@dataclass(frozen=True)
class Cast:
    """`CAST(arg AS type)`; with `lenient`, TRY_CAST: NULL if the cast fails."""

    arg: Expression
    type: Type
    lenient: bool = False


@dataclass(frozen=True)
class Case:
    """`CASE WHEN condition THEN value ... ELSE otherwise END`; a value fails only rows that take it."""

    branches: tuple[tuple[Expression, Expression], ...]
    otherwise: Expression
    type: Type


@dataclass(frozen=True)
class Foreign:
    """A DuckDB scalar expression over the arguments, e.g. `upper({0})`."""

    template: str
    args: tuple[Expression, ...]
    type: Type


@dataclass(frozen=True)
class OneOf:
    """Whether `arg` is one of `values`, of which none is NULL; NULL if `arg` is.

    The values are those of `Literal`s of the argument's type. The node is one, however many they are.
    """

    arg: Expression
    values: tuple[object, ...]
    type: Type = BOOLEAN


Expression = ColumnRef | Literal | Parameter | Call | Cast | Case | Foreign | OneOf


def children(expression: Expression) -> tuple[Expression, ...]:
    """The direct parts of an expression."""
    match expression:
        case Call(args=args) | Foreign(args=args):
            return args
        case Cast(arg=arg) | OneOf(arg=arg):
            return (arg,)
        case Case(branches=branches, otherwise=otherwise):
            return (*(e for branch in branches for e in branch), otherwise)
        case _:
            return ()


def columns_of(expression: Expression) -> frozenset[int]:
    """The indices of the columns that the expression reads."""
    return frozenset(e.index for e in walk(expression) if isinstance(e, ColumnRef))


def walk(expression: Expression) -> Iterator[Expression]:
    """The expression and all of its parts, top down."""
    yield expression
    for child in children(expression):
        yield from walk(child)


def renumbered(expression: Expression, columns: dict[int, int]) -> Expression:
    """The expression with column `i` renamed to column `columns[i]`."""

    def visit(e: Expression) -> Expression:
        return renumbered(e, columns)

    match expression:
        case ColumnRef(index=index):
            return replace(expression, index=columns[index])
        case Call() | Foreign():
            return replace(expression, args=tuple(map(visit, expression.args)))
        case Cast(arg=arg) | OneOf(arg=arg):
            return replace(expression, arg=visit(arg))
        case Case(branches=branches, otherwise=otherwise):
            taken = tuple((visit(condition), visit(value)) for condition, value in branches)
            return replace(expression, branches=taken, otherwise=visit(otherwise))
        case _:
            return expression
