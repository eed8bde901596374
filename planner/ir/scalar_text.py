"""Scalar expressions as text that reads like SQL."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from datetime import date, datetime

from engine.plan.expressions import Call, Case, Cast, ColumnRef, Foreign, Literal, OneOf, Op, Parameter
from engine.schema import Kind, Type
from planner.ir import (
    AggregateItem,
    Exists,
    Expression,
    First,
    GeneralAggregate,
    Now,
    Reached,
    Relational,
    ScalarSubquery,
    Some,
)
from planner.native.reference import fill_places, quoted
from planner.sql_types import UNTYPED

_PRECEDENCE: dict[Op, int] = {
    Op.OR: 1,
    Op.AND: 2,
    Op.NOT: 3,
    Op.EQ: 4,
    Op.NE: 4,
    Op.LT: 4,
    Op.LE: 4,
    Op.GT: 4,
    Op.GE: 4,
    Op.DISTINCT: 4,
    Op.NOT_DISTINCT: 4,
    Op.IS_NULL: 4,
    Op.ADD: 5,
    Op.SUB: 5,
    Op.MUL: 6,
    Op.DIV: 6,
    Op.INTDIV: 6,
    Op.MOD: 6,
    Op.NEG: 7,
}
_ATOM = 9
SHOWN = 20
"""Most constants of a list that are written out."""


def aggregate_text(item: AggregateItem, columns: Sequence[str]) -> str:
    """An aggregate's text; `columns` are the names of its arguments."""
    match item.function:
        case GeneralAggregate():
            return item.function.text(columns)
        case First(name=name, order=order):
            value, *others = columns
            placed = zip((*others, value), order, strict=True)
            by = ", ".join(c + " DESC" * down + " NULLS FIRST" * nulls for c, (down, nulls) in placed)
            return f"{name}({value} ORDER BY {by})"
        case function:
            return f"{function.value}({'DISTINCT ' * item.distinct}{', '.join(columns) or '*'})"


class ScalarText:
    """Writes expressions; `column` gives the name of a column's number, `query` the step of a subquery."""

    def __init__(
        self, column: Callable[[int], str], query: Callable[[Relational], str] | None = None
    ) -> None:
        self.column = column
        self.query = query or (lambda operator: type(operator).__name__)

    def __call__(self, expression: Expression) -> str:
        return self._text(expression)[0]

    def _text(self, expression: Expression) -> tuple[str, int]:
        """The text, and how tightly it binds."""
        match expression:
            case ColumnRef(index=index):
                return self.column(index), _ATOM
            case Literal():
                return shown_literal(expression), _ATOM
            case Parameter(number=number):
                return f"${number}", _ATOM
            case Call():
                return self._call(expression)
            case Cast(arg=arg, type=type, lenient=lenient):
                return f"{'TRY_CAST' if lenient else 'CAST'}({self(arg)} AS {type})", _ATOM
            case Case(branches=branches, otherwise=otherwise):
                whens = " ".join(f"WHEN {self(test)} THEN {self(value)}" for test, value in branches)
                return f"CASE {whens} ELSE {self(otherwise)} END", _ATOM
            case Foreign(template=template, args=args):
                alone = template == "{0}" or template.endswith(")")
                return fill_places(template, [self._within(a, 5) for a in args]), _ATOM if alone else 4
            case OneOf(arg=arg, values=values):
                return f"{self._within(arg, 4)} IN ({_listed(values, arg.type)})", 4
            case Now():
                return "now()", _ATOM
            case Reached(moment=moment):
                return f"now() >= {self._within(moment, _PRECEDENCE[Op.GE])}", _PRECEDENCE[Op.GE]
            case Exists(query=query):
                return f"EXISTS {self.query(query)}", 4
            case Some(predicate=predicate, query=query):
                return f"SOME {self.query(query)} WHERE ({self(predicate)})", 3
            case ScalarSubquery(query=query):
                return f"VALUE {self.query(query)}", 4
        raise TypeError(f"{expression!r} is not an expression")

    def _within(self, expression: Expression, precedence: int) -> str:
        text, own = self._text(expression)
        return text if own > precedence else f"({text})"

    def _call(self, call: Call) -> tuple[str, int]:
        precedence = _PRECEDENCE.get(call.op)
        if precedence is None:
            return f"{call.op.value}({', '.join(self(arg) for arg in call.args)})", _ATOM
        match call.op:
            case Op.NOT:
                inner = call.args[0]
                if isinstance(inner, Call) and inner.op is Op.IS_NULL:
                    return f"{self._within(inner.args[0], 4)} IS NOT NULL", 4
                return f"NOT {self._within(inner, precedence)}", precedence
            case Op.NEG:
                return f"-{self._within(call.args[0], precedence)}", precedence
            case Op.IS_NULL:
                return f"{self._within(call.args[0], precedence)} IS NULL", precedence
        chain = call.op in (Op.AND, Op.OR, Op.ADD)
        left = self._within(call.args[0], precedence - (1 if chain else 0))
        right = self._within(call.args[1], precedence - (1 if call.op in (Op.AND, Op.OR) else 0))
        return f"{left} {call.op.value.upper()} {right}", precedence


def _listed(values: tuple[object, ...], type: Type) -> str:
    """The constants of a list; of a long one the first, how many there are, and a digest of them all."""
    shown = ", ".join(shown_literal(Literal(value, type)) for value in values[:SHOWN])
    if len(values) <= SHOWN:
        return shown
    digest = hashlib.sha256(repr(values).encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{shown}, ... {len(values)} values, {digest}"


def shown_literal(literal: Literal) -> str:
    value, type = literal.value, literal.type
    if value is None:
        return "NULL" if type is UNTYPED else f"NULL::{type}"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if type.kind in (Kind.INTERVAL, Kind.ENUM, Kind.TIME, Kind.TIMETZ, Kind.TIMESTAMPTZ):
        name = "" if type.kind is Kind.ENUM else f"{type} "
        return f"{name}{quoted(str(value))}"
    if isinstance(value, datetime):
        return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
    if isinstance(value, date):
        return f"DATE '{value.isoformat()}'"
    if isinstance(value, str):
        return quoted(value)
    return str(value)
