"""Scalar expressions over rows of Python values, written from the specification alone.

NULL is None; a NaN is always the one object `NAN`, so that rows with it are equal. Casts and
foreign functions are asked of DuckDB, one value at a time, and remembered.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import cache, lru_cache

import duckdb

from engine.plan.expressions import Call, Case, Cast, ColumnRef, Expression, Foreign, Literal, OneOf, Op
from engine.schema import INTEGER_RANGES, Kind, Schema, Type

Row = tuple[object, ...]
NAN = float("nan")

_NAMES = {Kind.REAL: "FLOAT", Kind.DOUBLE: "DOUBLE", Kind.TEXT: "VARCHAR"}
_DURATION = re.compile(r"P(?:(-?\d+)M)?(?:(-?\d+)D)?(?:T(?:(-?\d+)H)?(?:(-?\d+)M)?(?:(-?[\d.]+)S)?)?")


class RowFailure(Exception):
    """An expression has no value for a row."""


def evaluate(expression: Expression, row: Row) -> object:
    """The value of the expression for one row; RowFailure if it has none."""
    match expression:
        case ColumnRef(index=index):
            return row[index]
        case Literal(value=value, type=type):
            return normal(value, type)
        case Call(op=op, args=args, type=type):
            return _call(op, args, type, row)
        case Cast(arg=arg, type=type, lenient=lenient):
            value = evaluate(arg, row)
            function = "TRY_CAST" if lenient else "CAST"
            return normal(_duckdb(f"{function}({sql_value(value, arg.type)} AS {sql_type(type)})"), type)
        case Case(branches=branches, otherwise=otherwise):
            taken = next((value for test, value in branches if evaluate(test, row) is True), otherwise)
            return evaluate(taken, row)
        case Foreign(template=template, args=args, type=type):
            texts = [sql_value(evaluate(arg, row), arg.type) for arg in args]
            text = re.sub(r"\{(\d+)\}", lambda place: texts[int(place[1])], template)
            return normal(_duckdb(f"CAST({text} AS {sql_type(type)})"), type)
        case OneOf(arg=arg, values=values):
            value = evaluate(arg, row)
            members = [normal(member, arg.type) for member in values]
            return None if value is None else any(_same(value, member) for member in members)
    raise TypeError(f"{expression!r} is no expression")


def normal(value: object, type: Type) -> object:
    """The one Python value that stands for a value of the type."""
    if value is None:
        return None
    match type.kind:
        case Kind.NUMERIC:
            return Decimal(str(value)).quantize(Decimal(1).scaleb(-(type.scale or 0)))
        case Kind.REAL | Kind.DOUBLE:
            number = float(value)  # type: ignore[arg-type]
            return NAN if math.isnan(number) else number + 0.0
        case Kind.BOOLEAN:
            return bool(value)
        case Kind.SMALLINT | Kind.INTEGER | Kind.BIGINT:
            low, high = INTEGER_RANGES[type.kind]
            if not low <= int(value) <= high:  # type: ignore[call-overload]
                raise RowFailure(f"{value} is out of range for {type}")
            return int(value)  # type: ignore[call-overload]
        case Kind.INTERVAL if isinstance(value, str):
            return duration(value)
        case Kind.ARRAY if type.element is not None:
            return tuple(normal(element, type.element) for element in value)  # type: ignore[attr-defined]
        case Kind.JSON:
            return json.dumps(json.loads(str(value)), separators=(",", ":"), ensure_ascii=False)
        case _:
            return value


def duration(text: str) -> timedelta:
    """The time that an ISO 8601 duration without years takes, a month being 30 days."""
    match = _DURATION.fullmatch(text)
    if match is None:
        raise ValueError(text)
    months, days, hours, minutes, seconds = (float(part or 0) for part in match.groups())
    return timedelta(days=30 * months + days, hours=hours, minutes=minutes, seconds=seconds)


def order_key(value: object) -> tuple[int, object]:
    """A key that orders the values of one type: NaN is greater than all."""
    return (1, 0) if value is NAN else (0, value)


def _call(op: Op, args: Sequence[Expression], type: Type, row: Row) -> object:
    if op in (Op.AND, Op.OR):
        return _logic(op, [evaluate(arg, row) for arg in args])
    if op is Op.COALESCE:
        return next((v for v in (evaluate(arg, row) for arg in args) if v is not None), None)
    values = [evaluate(arg, row) for arg in args]
    match op:
        case Op.IS_NULL:
            return values[0] is None
        case Op.DISTINCT:
            return not _same(*values)
        case Op.NOT_DISTINCT:
            return _same(*values)
        case Op.GREATEST | Op.LEAST:
            known = [v for v in values if v is not None]
            pick = max if op is Op.GREATEST else min
            return pick(known, key=order_key) if known else None  # type: ignore[type-var]
    if any(v is None for v in values):
        return None
    if op is Op.NOT:
        return not values[0]
    if op in _COMPARISONS:
        return _COMPARISONS[op](*(order_key(v) for v in values))
    return normal(_arithmetic(op, values, type), type)


_COMPARISONS = {
    Op.EQ: lambda a, b: a == b,
    Op.NE: lambda a, b: a != b,
    Op.LT: lambda a, b: a < b,
    Op.LE: lambda a, b: a <= b,
    Op.GT: lambda a, b: a > b,
    Op.GE: lambda a, b: a >= b,
}


def _same(a: object, b: object) -> bool:
    return a is b or (a is not None and b is not None and order_key(a) == order_key(b))


def _logic(op: Op, values: list[object]) -> object:
    decisive = op is Op.OR
    if any(v is decisive for v in values):
        return decisive
    return None if any(v is None for v in values) else not decisive


def _arithmetic(op: Op, values: list, type: Type) -> object:
    match op:
        case Op.NEG:
            return -values[0]
        case Op.ABS:
            return abs(values[0])
        case Op.SQRT:
            return math.sqrt(values[0]) if values[0] >= 0 else NAN
        case Op.ADD:
            return values[0] + values[1]
        case Op.SUB:
            return values[0] - values[1]
        case Op.MUL:
            return values[0] * values[1]
    left, right = values
    if right == 0:
        raise RowFailure("division by zero")
    if op is Op.DIV:
        return left / right
    if type.is_float:
        return math.fmod(left, right)
    if isinstance(left, Decimal):
        return left % right
    quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
    return quotient if op is Op.INTDIV else left - quotient * right


@cache
def _connection() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(":memory:")
    connection.execute("SET TimeZone = 'UTC'")
    return connection


@lru_cache(maxsize=10_000)
def queried(query: str, name: str, schema: Schema, rows: tuple[Row, ...]) -> list[Row]:
    """What DuckDB answers to a query over the one table that there is; RowFailure if it refuses."""
    values = ", ".join(
        f"({', '.join(sql_value(v, t) for v, t in zip(row, schema.types, strict=True))})" for row in rows
    )
    table = f"{name}({', '.join(schema.names)}) AS (VALUES {values})"
    try:
        return _connection().execute(f"WITH {table} {query}").fetchall()
    except duckdb.Error as error:
        raise RowFailure(str(error)) from None


@lru_cache(maxsize=100_000)
def _duckdb(text: str) -> object:
    try:
        row = _connection().execute(f"SELECT {text}").fetchone()
    except duckdb.Error as error:
        raise RowFailure(str(error)) from None
    return row[0] if row else None


def sql_type(type: Type) -> str:
    if type.kind is Kind.NUMERIC:
        return f"DECIMAL({type.precision}, {type.scale})"
    if type.element is not None:
        return f"{sql_type(type.element)}[]"
    if type.labels:
        return str(type)
    return _NAMES.get(type.kind, type.kind.value)


def sql_value(value: object, type: Type) -> str:
    """A value as a constant of DuckDB's SQL."""
    if value is None:
        return f"CAST(NULL AS {sql_type(type)})"
    if isinstance(value, tuple):
        elements = (sql_value(element, type.element or type) for element in value)
        return f"CAST([{', '.join(elements)}] AS {sql_type(type)})"
    if isinstance(value, bytes):
        return f"unhex('{value.hex()}')"
    if isinstance(value, timedelta):
        text = f"{value.days} days {value.seconds} seconds {value.microseconds} microseconds"
    elif isinstance(value, datetime):
        text = value.isoformat(sep=" ")
    elif isinstance(value, date):
        text = value.isoformat()
    else:
        text = str(value)
    quoted = text.replace("'", "''")
    return f"CAST('{quoted}' AS {sql_type(type)})"
