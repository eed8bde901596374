"""Symbolic rows: a lambda over rows is called with one, once, and so compiled.

`lambda edge: (edge.target, edge.length + 1)` gets a `Row` whose columns are `Value`s. Its result becomes
expressions that kernels evaluate. Numbers follow Python: `//` rounds down, `%` has the sign of its divisor,
an integer meets a float as a float. An operator of None is None; a division by zero or an overflow fails its
row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from engine.api.python_types import literal_type, type_of
from engine.errors import PlanError
from engine.plan.expressions import Call, Case, Cast, ColumnRef, Expression, Foreign, Literal, Op
from engine.schema import BIGINT, BOOLEAN, DOUBLE, Column, Schema, Type


class Value:
    """A value of a symbolic row. `name` is the column's, if it is one."""

    def __init__(self, expression: Expression, nullable: bool, name: str = "") -> None:
        self.expression = expression
        self.nullable = nullable
        self.name = name

    @property
    def type(self) -> Type:
        """The engine's type of the value."""
        return self.expression.type

    def __bool__(self) -> bool:
        raise PlanError(
            "a symbolic value is neither true nor false", "use & | ~ and when() for and, or, not, if"
        )

    __hash__ = None  # type: ignore[assignment]

    def __add__(self, other: object) -> Value:
        return _arithmetic(Op.ADD, self, other)

    def __radd__(self, other: object) -> Value:
        return _arithmetic(Op.ADD, other, self)

    def __sub__(self, other: object) -> Value:
        return _arithmetic(Op.SUB, self, other)

    def __rsub__(self, other: object) -> Value:
        return _arithmetic(Op.SUB, other, self)

    def __mul__(self, other: object) -> Value:
        return _arithmetic(Op.MUL, self, other)

    def __rmul__(self, other: object) -> Value:
        return _arithmetic(Op.MUL, other, self)

    def __truediv__(self, other: object) -> Value:
        return _called(Op.DIV, DOUBLE, as_type(self, DOUBLE), as_type(value(other), DOUBLE))

    def __rtruediv__(self, other: object) -> Value:
        return value(other) / self

    def __floordiv__(self, other: object) -> Value:
        left, right = _alike(self, other)
        quotient = _called(Op.INTDIV, left.type, left, right)
        return when(_rounds_up(left, right), quotient - 1, quotient)

    def __rfloordiv__(self, other: object) -> Value:
        return value(other) // self

    def __mod__(self, other: object) -> Value:
        left, right = _alike(self, other)
        rest = _called(Op.MOD, left.type, left, right)
        return when(_rounds_up(left, right), rest + right, rest)

    def __rmod__(self, other: object) -> Value:
        return value(other) % self

    def __neg__(self) -> Value:
        return _called(Op.NEG, self.type, self)

    def __abs__(self) -> Value:
        return _called(Op.ABS, self.type, self)

    def __eq__(self, other: object) -> Value:  # type: ignore[override]
        return _compared(Op.EQ, self, other)

    def __ne__(self, other: object) -> Value:  # type: ignore[override]
        return _compared(Op.NE, self, other)

    def __lt__(self, other: object) -> Value:
        return _compared(Op.LT, self, other)

    def __le__(self, other: object) -> Value:
        return _compared(Op.LE, self, other)

    def __gt__(self, other: object) -> Value:
        return _compared(Op.GT, self, other)

    def __ge__(self, other: object) -> Value:
        return _compared(Op.GE, self, other)

    def __and__(self, other: object) -> Value:
        return _called(Op.AND, BOOLEAN, self, value(other))

    def __or__(self, other: object) -> Value:
        return _called(Op.OR, BOOLEAN, self, value(other))

    def __invert__(self) -> Value:
        return _called(Op.NOT, BOOLEAN, self)

    def is_none(self) -> Value:
        """Whether the value is None."""
        return Value(Call(Op.IS_NULL, (self.expression,), BOOLEAN), False)


class Row:
    """A symbolic row: its columns by name, as attributes or items, or by position."""

    def __init__(self, schema: Schema, offset: int = 0) -> None:
        """The columns of `schema` are those from `offset` on in the expressions' input."""
        self._schema = schema
        self._offset = offset

    def __getattr__(self, name: str) -> Value:
        if name not in self._schema.names:
            raise AttributeError(f"there is no column {name} among {', '.join(self._schema.names)}")
        return self._at(self._schema.names.index(name))

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return list(self)[key]
        return getattr(self, key) if isinstance(key, str) else self._at(range(len(self))[key])

    def __len__(self) -> int:
        return len(self._schema)

    def __iter__(self) -> Iterator[Value]:
        return (self._at(index) for index in range(len(self)))

    def _at(self, index: int) -> Value:
        column = self._schema.columns[index]
        return Value(ColumnRef(self._offset + index, column.type), column.nullable, column.name)


def value(given: object, like: Type | None = None) -> Value:
    """A Python value as a symbolic one; None takes the type `like`."""
    if isinstance(given, Value):
        return given
    if given is None:
        return Value(Literal(None, like or BIGINT), True)
    return Value(Literal(given, literal_type(given)), False)


def when(condition: object, then: object, otherwise: object) -> Value:
    """`then` where the condition is true, `otherwise` where it is false or None."""
    yes, no = _alike(then, otherwise)
    case = Case(((value(condition).expression, yes.expression),), no.expression, yes.type)
    return Value(case, yes.nullable or no.nullable)


def sql(template: str, *arguments: object, type: object) -> Value:
    """A deterministic scalar expression of DuckDB, e.g. `sql("upper({0})", row.name, type=str)`."""
    result, _ = type_of(type)
    return Value(Foreign(template, tuple(value(a).expression for a in arguments), result), True)


def as_type(given: Value, type: Type) -> Value:
    """The value, cast if it does not have the type already."""
    return given if given.type == type else Value(Cast(given.expression, type), given.nullable)


def traced(function: Callable[..., object], *rows: Row) -> list[Value]:
    """The columns, with names, of the row that a function makes of symbolic rows."""
    return columns(function(*rows))


def columns(made: object) -> list[Value]:
    """One row as columns. A dict names them; in a tuple columns keep their names, and others are c0, c1 and
    so on."""
    if isinstance(made, dict):
        return [_named(value(given), name) for name, given in made.items()]
    if isinstance(made, Row):
        return list(made)
    parts = [value(part) for part in (made if isinstance(made, (tuple, list)) else (made,))]
    names = [part.name for part in parts]
    return [
        part if part.name and names.count(part.name) == 1 else _named(part, f"c{place}")
        for place, part in enumerate(parts)
    ]


def schema_of(made: list[Value]) -> Schema:
    """The schema of columns that `columns` returned."""
    return Schema(tuple(Column(part.name, part.type, part.nullable) for part in made))


def _named(given: Value, name: str) -> Value:
    return Value(given.expression, given.nullable, name)


def _called(op: Op, type: Type, *arguments: Value) -> Value:
    return Value(Call(op, tuple(a.expression for a in arguments), type), any(a.nullable for a in arguments))


def _alike(left: object, right: object) -> tuple[Value, Value]:
    """Both values in one type: None takes the other's type, and of two numbers the float's type wins."""
    first = value(left, right.type if isinstance(right, Value) else None)
    second = value(right, first.type)
    if first.type == second.type:
        return first, second
    if first.type.is_numeric and second.type.is_numeric:
        target = first.type if first.type.is_float or second.type.is_integer else second.type
        return as_type(first, target), as_type(second, target)
    raise PlanError(f"{first.type} and {second.type} have no common type")


def _arithmetic(op: Op, left: object, right: object) -> Value:
    first, second = _alike(left, right)
    if not first.type.is_numeric:
        raise PlanError(f"{op.value} takes numbers, not {first.type}")
    return _called(op, first.type, first, second)


def _compared(op: Op, left: object, right: object) -> Value:
    return _called(op, BOOLEAN, *_alike(left, right))


def _rounds_up(left: Value, right: Value) -> Value:
    """Whether the quotient, cut towards zero, is above the exact one."""
    zero = Value(Literal(0, right.type), False)
    rest = _called(Op.MOD, left.type, left, right)
    return _compared(Op.NE, rest, zero) & (_compared(Op.LT, rest, zero) != _compared(Op.LT, right, zero))
