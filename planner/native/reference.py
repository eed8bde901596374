"""DuckDB as the reference for functions, types of expressions and values of constants.

Only constants of open functions are executed, with a time limit, and only if their values cannot be large:
others are refused. One whose size nobody knows is left to the engine, which fails rows with large values.
Types are asked of typed, empty columns. A literal is asked as it is written, because DuckDB types literals by
their context. Answers are cached. One connection serves the process, one question at a time.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from functools import cache, lru_cache

import duckdb

from engine.codec.durations import duration, interval_of
from engine.errors import InvalidValue
from engine.plan.expressions import Literal
from engine.scalar.duck_faults import FAULTS
from engine.scalar.interrupting import interrupted_after
from engine.scalar.sealed import sealed
from engine.scalar.written import readable
from engine.schema import BOOLEAN, DATE, Kind, Type, is_anonymous
from planner.allowed.check import check, is_small
from planner.allowed.open_functions import IN_VIEWS
from planner.allowed.parse_tree import Closed
from planner.limits import check_time
from planner.native.duck_refusals import refusal
from planner.sql_types import UNTYPED, duckdb_type, from_duckdb

DAY = 24 * 60 * 60 * 10**6
"""In microseconds."""

_LOCK = threading.Lock()
_CAST = re.compile(r"(TRY_)?CAST\((-?\d+(\.\d+)?|'[^']*') AS [A-Z ]+(\(\d+,\d+\))?\)")
"""Casts of literals: frequent in long lists, and harmless."""
_SECONDS = 2
_TOGETHER = 1_000
_MEMORY = "256MB"
_OPEN = IN_VIEWS | {"error"}
"""The functions that views may call, and those that the planner's own templates call too."""


@cache
def _connection() -> duckdb.DuckDBPyConnection:
    return sealed({"threads": 1, "errors_as_json": True, "memory_limit": _MEMORY})


def quoted(text: str) -> str:
    """`text` as an SQL string."""
    return "'" + text.replace("'", "''") + "'"


_TYPED = frozenset({Kind.INTERVAL, Kind.ENUM, Kind.TIME, Kind.TIMETZ, Kind.TIMESTAMPTZ})


def literal_text(literal: Literal) -> str:
    """A literal as SQL writes it."""
    value = literal.value
    if value is None:
        return "NULL"
    if literal.type.kind in _TYPED:
        return f"CAST({quoted(readable(str(value), literal.type))} AS {duckdb_type(literal.type)})"
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float):
        return f"{value!r}::DOUBLE"
    if isinstance(value, Decimal):
        written = format(value, "f")  # with an exponent it would be a DOUBLE
        return f"{written}::{duckdb_type(literal.type)}" if abs(value) >= 2**63 else written
    return str(value)


PLACE = re.compile(r"\{(\d+)\}")
"""The place of an argument in a template."""
Argument = Type | str
"""The argument of a question: a column's type, or a literal's text."""


@lru_cache(maxsize=4096)
def type_of(template: str, arguments: tuple[Argument, ...]) -> Type:
    """The type of an expression with places `{0}`, `{1}`, .... Raises a PlannerError with DuckDB's reason."""
    columns = {i: a for i, a in enumerate(arguments) if isinstance(a, Type)}
    source = ", ".join(f"CAST(NULL AS {_castable(t)}) AS c{i}" for i, t in columns.items()) or "NULL"
    text = fill_places(template, [a if isinstance(a, str) else f"c{i}" for i, a in enumerate(arguments)])
    _check(f"SELECT {re.sub(PLACE, 'x', template)}")
    try:
        rows = _ask(f"DESCRIBE SELECT {text} FROM (SELECT {source})")
    except FAULTS as error:
        raise refusal(error).error from None
    return from_duckdb(rows[0][1])


def _check(query: str) -> None:
    """Raise a PlannerError if the query calls a function that is not open."""
    try:
        check(query, _OPEN)
    except Closed as found:
        raise found.error from None


def _ask(query: str) -> list[tuple]:
    with _LOCK, interrupted_after(_connection(), _SECONDS):
        return _connection().execute(query).fetchall()


def _castable(type: Type) -> str:
    return "INTEGER" if type is UNTYPED else duckdb_type(type)


def fill_places(template: str, arguments: Sequence[str]) -> str:
    """The template with its places filled by `arguments`."""
    return re.sub(PLACE, lambda place: arguments[int(place[1])], template)


def common_type(left: Argument, right: Argument) -> Type:
    """The type that CASE and COALESCE give to two alternatives."""
    return type_of("CASE WHEN TRUE THEN {0} ELSE {1} END", (left, right))


@lru_cache(maxsize=1024)
def union_type(left: Type, right: Type) -> Type:
    """The type that UNION gives to two columns."""
    if left is UNTYPED or right is UNTYPED:
        return left if right is UNTYPED else right
    columns = (f"CAST(NULL AS {duckdb_type(side)})" for side in (left, right))
    try:
        rows = _ask(f"DESCRIBE SELECT {' UNION ALL SELECT '.join(columns)}")
    except FAULTS as error:
        raise refusal(error).error from None
    return from_duckdb(rows[0][1])


@lru_cache(maxsize=4096)
def constant(text: str) -> tuple[bool, object]:
    """Whether the constant expression can be computed, and its value, if Python has one for it.

    Raises a PlannerError if it calls a closed function, or makes too large a value.
    """
    if not _is_small(text):
        return False, None
    try:
        ((value,),) = _ask(f"SELECT {text}")
    except FAULTS:
        return False, None
    if isinstance(value, date) and "infinity" in text.lower():
        return False, None
    return True, value


def constants(texts: Sequence[str]) -> list[tuple[bool, object]]:
    """The same as `constant` for each of many casts to one type, which are asked together."""
    found: list[tuple[bool, object]] = []
    for start in range(0, len(texts), _TOGETHER):
        some = texts[start : start + _TOGETHER]
        found += _together(some) or map(constant, some)
        check_time()
    return found


def _together(texts: Sequence[str]) -> list[tuple[bool, object]] | None:
    """The values of casts, all at once; None if one of them is no plain cast or fails."""
    if not all(_CAST.fullmatch(text) and "infinity" not in text.lower() for text in texts):
        return None
    try:
        ((values,),) = _ask(f"SELECT [{', '.join(texts)}]")
    except FAULTS:
        return None
    return [(True, value) for value in values]


def _is_small(text: str) -> bool:
    """Whether a checked constant is certain to need little time and memory."""
    if _CAST.fullmatch(text):
        return True
    try:
        return is_small(f"SELECT {text}", _OPEN)
    except Closed as found:
        raise found.error from None


@lru_cache(maxsize=1024)
def interval_constant(text: str) -> str | None:
    """The constant interval as an ISO 8601 duration; None if it is NULL or cannot be computed."""
    if not _is_small(text):
        return None
    with _LOCK, interrupted_after(_connection(), _SECONDS):
        try:
            (value,) = _connection().sql(f"SELECT {text}").to_arrow_table().column(0)
            return None if not value.is_valid else duration(interval_of(value.as_py()))
        except (*FAULTS, InvalidValue):
            return None


@lru_cache(maxsize=1024)
def fault_of_pattern(pattern: str) -> str | None:
    """What is wrong with a regular expression, a text as SQL writes it; None if it can be read."""
    with _LOCK, interrupted_after(_connection(), _SECONDS):
        try:
            _connection().sql(f"SELECT regexp_matches('', {pattern})").fetchall()
        except duckdb.InvalidInputException as error:
            return refusal(error).error.message
    return None


def fixed_length(text: str) -> int | None:
    """The microseconds of a constant interval; None if it has months, is NULL or cannot be computed."""
    constant = interval_constant(text)
    if constant is None:
        return None
    months, days, microseconds = interval_of(constant)
    return None if months else days * DAY + microseconds


_SAMPLES = {
    Kind.BOOLEAN: "true",
    Kind.DATE: "2000-01-01",
    Kind.TIME: "00:00:00",
    Kind.TIMETZ: "00:00:00+00",
    Kind.TIMESTAMP: "2000-01-01 00:00:00",
    Kind.TIMESTAMPTZ: "2000-01-01 00:00:00+00",
    Kind.INTERVAL: "1 day",
    Kind.UUID: "00000000-0000-0000-0000-000000000000",
}


_NEVER = [(BOOLEAN, DATE)]


@cache
def castable(source: Type, target: Type) -> bool:
    """Whether values of `source` can be cast to `target` at all (a single value may still fail)."""
    if source is UNTYPED or source.kind in (Kind.TEXT, Kind.JSON) or target.kind is Kind.TEXT:
        return True
    if source.kind is target.kind and source.parts:
        return all(castable(a, b) for a, b in _paired(source, target))
    return constant(f"CAST({_sample(source)} AS {duckdb_type(target)})")[0]


def _paired(source: Type, target: Type) -> list[tuple[Type, Type]]:
    """The parts of a nested value that become parts of another in a cast. A pair that none can become, if
    there are none."""
    if source.kind is not Kind.STRUCT or is_anonymous(source) or is_anonymous(target):
        pairs = list(zip(source.parts, target.parts, strict=False))
        return pairs if len(source.parts) == len(target.parts) else _NEVER
    fields = {field.name.lower(): field.type for field in source.fields}
    return [(fields[f.name.lower()], f.type) for f in target.fields if f.name.lower() in fields] or _NEVER


def _sample(type: Type) -> str:
    """A value of the type in DuckDB's SQL."""
    match type.kind:
        case Kind.ARRAY:
            said = "[]"
        case Kind.STRUCT:
            said = f"row({', '.join(map(_sample, type.parts))})"
        case Kind.MAP:
            said = f"MAP {{ {': '.join(map(_sample, type.parts))} }}"
        case _:
            said = quoted(type.labels[0] if type.labels else _SAMPLES.get(type.kind, "1"))
    return f"CAST({said} AS {duckdb_type(type)})"
