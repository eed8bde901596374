"""Comparands: what a condition equates a column with. A constant, or the value of a parameter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from sqlglot import exp

from engine.schema import Type
from planner.errors import PlannerError
from planner.sql_types import data_type, minus

NAMES = (exp.Parameter, exp.Placeholder)
_DIGITS = 38
_DT = exp.DType
_OF_PARTS = frozenset(
    {
        *(_DT.ARRAY, _DT.LIST, _DT.STRUCT, _DT.OBJECT, _DT.MAP, _DT.ENUM),
        *(_DT.DECIMAL, _DT.UDECIMAL, _DT.LOWCARDINALITY),
    }
)
"""Names of types in whose parentheses stands what belongs to the type here too."""


@dataclass(frozen=True)
class Argument:
    """The value of the parameter called `name`."""

    name: str


@dataclass(frozen=True)
class Comparand:
    """A value, or an Argument, cast to a type if there is one.

    A value is None, a bool, int, Decimal or str; a float is a DOUBLE.
    """

    value: object
    cast: Type | None = None

    @property
    def is_plain(self) -> bool:
        """Whether it is a whole number or an argument as it is given."""
        return self.cast is None and type(self.value) in (int, Argument)


@dataclass(frozen=True)
class ColumnEquation:
    """The column at `column` is one of the `terms`; with `is_list`, one of a list's elements, which are the
    terms, or those of the argument that is the only term. Its cast is that of the elements."""

    column: int
    terms: tuple[Comparand, ...]
    is_list: bool = False

    @property
    def arguments(self) -> Iterator[str]:
        """The parameters that the column is compared with as they are."""
        for term in self.terms:
            if isinstance(term.value, Argument) and term.cast is None and not self.is_list:
                yield term.value.name


@dataclass(frozen=True)
class ColumnBound:
    """The column at `column` is not above the term if it `is_upper`, else not below it."""

    column: int
    term: Comparand
    is_upper: bool


Names = Mapping[int, str]
"""The names of parameters by the `id` of their nodes."""


def equation_of(
    condition: exp.Expression, names: Names
) -> tuple[exp.Column, tuple[Comparand, ...], bool] | None:
    """The column that a condition equates, the terms, and whether they are one list; or None."""
    match condition:
        case exp.EQ(this=exp.Column() as column, expression=exp.Any(this=list)):
            return _of_list(column, list.unnest(), names)
        case exp.EQ(this=exp.Column() as column, expression=value):
            values: Sequence[exp.Expr] = [value]
        case exp.EQ(this=value, expression=exp.Column() as column):
            values = [value]
        case exp.In(this=exp.Column() as column, expressions=values) if values and not _has_more(condition):
            pass
        case _:
            return None
    terms = [comparand_of(value, names) for value in values]
    known = tuple(term for term in terms if term is not None)
    return (column, known, False) if len(known) == len(terms) else None


def bounds_of(condition: exp.Expression, names: Names) -> Iterator[tuple[exp.Column, Comparand, bool]]:
    """The columns that a condition bounds, each with the term and whether this is an upper bound.

    The bound itself may be wrong for the column: `<` gives the bound of `<=`.
    """
    match condition:
        case exp.Between(this=exp.Column() as column) if not condition.args.get("symmetric"):
            sides = [(condition.args["low"], False), (condition.args["high"], True)]
        case (
            exp.LT(this=exp.Column() as column, expression=value)
            | exp.LTE(this=exp.Column() as column, expression=value)
        ):
            sides = [(value, True)]
        case (
            exp.GT(this=exp.Column() as column, expression=value)
            | exp.GTE(this=exp.Column() as column, expression=value)
        ):
            sides = [(value, False)]
        case (
            exp.LT(this=value, expression=exp.Column() as column)
            | exp.LTE(this=value, expression=exp.Column() as column)
        ):
            sides = [(value, False)]
        case (
            exp.GT(this=value, expression=exp.Column() as column)
            | exp.GTE(this=value, expression=exp.Column() as column)
        ):
            sides = [(value, True)]
        case _:
            return
    for value, is_upper in sides:
        term = comparand_of(value, names)
        if term is not None and term.value is not None:
            yield column, term, is_upper


def comparand_of(node: exp.Expr, names: Names) -> Comparand | None:
    """The term that an expression is, if it is one."""
    match node:
        case exp.Paren(this=inner):
            return comparand_of(inner, names)
        case exp.Parameter() | exp.Placeholder():
            kind = node.args.get("kind")
            cast = _type(kind) if isinstance(kind, exp.DataType) else None
            return None if kind is not None and cast is None else Comparand(Argument(names[id(node)]), cast)
        case exp.Cast(this=inner, to=to) if type(node) is exp.Cast and not node.args.get("format"):
            term, cast = comparand_of(inner, names), _type(to)
            return (
                None if term is None or term.cast is not None or cast is None else Comparand(term.value, cast)
            )
        case exp.Neg(this=inner):
            term = comparand_of(inner, names)
            is_number = term is not None and type(term.value) in (int, Decimal, float) and term.cast is None
            return Comparand(minus(term.value)) if term is not None and is_number else None
        case exp.Null():
            return Comparand(None)
        case exp.Boolean(this=value):
            return Comparand(bool(value))
        case exp.Literal():
            return Comparand(node.this) if node.is_string else _number(node.this)
    return None


def _number(text: str) -> Comparand | None:
    """A number as SQL reads it: whole, with a point, or with an exponent."""
    if text.isdecimal():
        return Comparand(int(text)) if len(text) <= _DIGITS else None
    try:
        return Comparand(float(text) if "e" in text.lower() else Decimal(text))
    except (ValueError, ArithmeticError):
        return None


def _of_list(
    column: exp.Column, node: exp.Expr, names: Names
) -> tuple[exp.Column, tuple[Comparand, ...], bool] | None:
    """A column that is an element of a list: of one that is written out, or of a parameter's."""
    if isinstance(node, exp.Array):
        terms = [comparand_of(element, names) for element in node.expressions]
        known = tuple(term for term in terms if term is not None)
        return (column, known, True) if known and len(known) == len(terms) else None
    cast = None
    kind = node.args.get("to") if isinstance(node, exp.Cast) else node.args.get("kind")
    if isinstance(kind, exp.DataType):
        type = _type(kind)
        if type is None or type.element is None:
            return None
        cast = type.element
    node = node.this.unnest() if isinstance(node, exp.Cast) else node
    if isinstance(node, NAMES):
        return column, (Comparand(Argument(names[id(node)]), cast),), True
    return None


def _has_more(condition: exp.In) -> bool:
    """Whether an IN has more than a list of values."""
    return any(value and part not in ("this", "expressions") for part, value in condition.args.items())


def _type(node: exp.DataType) -> Type | None:
    """The type of a cast; None if there is none, or if the cast cuts, rounds or fills values to a size."""
    if any(_has_size(part) for part in node.find_all(exp.DataType)):
        return None
    try:
        return data_type(node)
    except PlannerError:
        return None


def _has_size(type: exp.DataType) -> bool:
    """Whether a name of a type has a length or a precision that the type here has not."""
    if type.this is _DT.USERDEFINED:
        return "(" in type.text("kind")
    return bool(type.expressions) and type.this not in _OF_PARTS
