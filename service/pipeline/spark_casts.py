"""Casts from files to columns: Spark SQL that turns a reader's values into a column's.

A value is accepted if it is exactly one of the column's type, as everywhere in this service: no decimal,
fraction of a second or time of day is rounded or dropped; only floats are rounded, to floats. Text is read
as any type, and any type as text; a structure, an array or a map becomes its JSON. A moment is in UTC:
Spark's timestamps with a time zone become their wall clock in UTC (the session's time zone), and text may
name another offset only for a TIMESTAMPTZ. Types that Spark does not have (times of day, intervals, UUIDs,
JSON, enums) are text in the form of the REST contract.

Everything is SQL text, so classic and Connect sessions share it, and PySpark is not imported. Casts are
`try_cast`, which returns NULL where a session with ANSI rules raises.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from engine.schema import INTEGER_RANGES, Kind, Type

_WIDEST = 38  # digits of a decimal
_INTEGERS = ("tinyint", "smallint", "int", "bigint")
_FLOATS = ("float", "double")
_MOMENTS = ("timestamp", "timestamp_ntz")
_NESTED = ("struct<", "array<", "map<", "variant")
_DECIMAL = re.compile(r"decimal\([0-9]+,[0-9]+\)")
_NUMBER = "^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$"
_SPECIAL_FLOAT = "^([+-]?inf(inity)?|nan)$"
_FEW_DIGITS = "^[+-]?[0-9]?[.]?[0-9]{0,14}[eE]"
_DATE = "[0-9]{4,6}-[0-9]{2}-[0-9]{2}"
_TIME = "[0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6}0*)?)?"
_CLOCK = "([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,6}0*)?)?"
_WHOLE = "[+-]?[0-9]{1,9}"
_DURATION = (
    f"[+-]?P(?=.)({_WHOLE}Y)?({_WHOLE}M)?({_WHOLE}W)?({_WHOLE}D)?"
    f"(T(?=.)({_WHOLE}H)?({_WHOLE}M)?({_WHOLE}([.][0-9]{{1,6}}0*)?S)?)?"
)
_UUID = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_EACH = "each"
_UTC = "(Z|[+-]00(:?00)?)"


@dataclass(frozen=True)
class Coerced:
    """SQL of the `value`, and of whether a non-NULL source `fits`; NULL means no. None: every value fits."""

    value: str
    fits: str | None = None


def spark_type(type: Type) -> str:
    """The name of a type in Spark SQL."""
    if type.kind is Kind.NUMERIC:
        return f"decimal({type.precision},{type.scale})"
    if type.element is not None:
        return f"array<{spark_type(type.element)}>"
    return _NAMES.get(type.kind, type.kind.value.lower())


def spark_cast(column: str, source: str, type: Type) -> Coerced | None:
    """SQL of `column`, whose Spark type is `source`, as a value of `type`; None if it never fits."""
    if source == "void":
        return Coerced(f"CAST(NULL AS {spark_type(type)})")
    if source == spark_type(type) and type.kind in _AS_THEY_ARE:
        return Coerced(column)
    return _COERCIONS[type.kind](column, source, type)


def _try_cast(column: str, type: str) -> str:
    return f"try_cast({column} AS {type})"


def _boolean(column: str, source: str, type: Type) -> Coerced | None:
    value = _try_cast(column, "boolean")
    return Coerced(value, f"{value} IS NOT NULL") if source == "string" else None


def _integer(column: str, source: str, type: Type) -> Coerced | None:
    text = f"regexp_replace(trim({column}), '[.]0*$', '')"  # 517.0 is an integer
    value = _try_cast(text if source == "string" else column, spark_type(type))
    # The least BIGINT is out of range: its word stands for NULL.
    fits = f"{value} >= {INTEGER_RANGES[type.kind][0]}L"
    if source in _INTEGERS or source == "string":
        return Coerced(value, fits)
    if source in _FLOATS:
        # Spark casts 2**63 to the largest BIGINT.
        return Coerced(value, f"{fits} AND {_same(value, source, column)} AND {column} < {float(2**63)!r}D")
    if _DECIMAL.fullmatch(source):
        return Coerced(value, f"{fits} AND {_same(value, source, column)}")
    return None


def _numeric(column: str, source: str, type: Type) -> Coerced | None:
    value = _try_cast(column, spark_type(type))
    digits = (type.precision or 0) - (type.scale or 0)
    # A value that exceeds Spark's widest decimal is already NULL.
    room = f"abs({value}) < 1E{digits}BD" if digits < _WIDEST else f"{value} IS NOT NULL"
    if source in _INTEGERS:
        return Coerced(value, room)
    if source in _FLOATS or _DECIMAL.fullmatch(source):
        return Coerced(value, f"{room} AND {_same(value, source, column)}")
    if source != "string":
        return None
    text = f"trim({column})"
    plain = f"{text} RLIKE '^[+-]?[0-9]*[.]?[0-9]{{0,{type.scale}}}0*$'"
    # A double distinguishes numbers of up to 15 digits.
    same = f"{_try_cast(value, 'double')} = {_try_cast(text, 'double')}"
    return Coerced(value, f"{room} AND ({plain} OR ({text} RLIKE '{_FEW_DIGITS}' AND {same}))")


def _float(column: str, source: str, type: Type) -> Coerced | None:
    value = _try_cast(column, spark_type(type))
    if source in _INTEGERS or _DECIMAL.fullmatch(source):
        return Coerced(value)
    finite = f"abs({value}) < CAST('Infinity' AS double)"
    if source in _FLOATS:
        return Coerced(value, f"{finite} OR isnan({column}) OR abs({column}) = CAST('Infinity' AS double)")
    if source != "string":
        return None
    text = f"trim({column})"
    special = f"{value} IS NOT NULL AND lower({text}) RLIKE '{_SPECIAL_FLOAT}'"
    return Coerced(value, f"({text} RLIKE '{_NUMBER}' AND {finite}) OR ({special})")


def _text(column: str, source: str, type: Type) -> Coerced | None:
    if source == "string":
        return Coerced(column, f"is_valid_utf8({column})")
    if source == "binary":
        value = f"CAST({column} AS string)"
        return Coerced(value, f"is_valid_utf8({value})")
    return Coerced(spark_text(column, source))


def _date(column: str, source: str, type: Type) -> Coerced | None:
    value = _try_cast(column, "date")
    if source in _MOMENTS:
        return Coerced(value, _same(value, source, column))
    if source != "string":
        return None
    return Coerced(value, f"{value} IS NOT NULL AND trim({column}) RLIKE '^{_DATE}$'")


def _timestamp(column: str, source: str, type: Type) -> Coerced | None:
    value = _try_cast(column, "timestamp_ntz")
    if source in (*_MOMENTS, "date"):
        return Coerced(value)
    if source != "string":
        return None
    form = f"^{_DATE}([T ]{_TIME}{_UTC}?)?$"
    return Coerced(value, f"{value} IS NOT NULL AND trim({column}) RLIKE '{form}'")


def _time(column: str, source: str, type: Type) -> Coerced | None:
    text = f"trim({column})"
    return Coerced(text, f"{text} RLIKE '^{_CLOCK}$'") if source == "string" else None


def _timestamptz(column: str, source: str, type: Type) -> Coerced | None:
    """Text may name any offset; without one it is UTC."""
    value = _try_cast(column, "timestamp")
    if source in (*_MOMENTS, "date"):
        return Coerced(value)
    if source != "string":
        return None
    form = f"^{_DATE}([T ]{_TIME}(Z|[+-][0-9]{{2}}(:?[0-9]{{2}})?)?)?$"
    return Coerced(value, f"{value} IS NOT NULL AND trim({column}) RLIKE '{form}'")


def _interval(column: str, source: str, type: Type) -> Coerced | None:
    text = f"trim({column})"
    return Coerced(text, f"{text} RLIKE '^{_DURATION}$'") if source == "string" else None


def _bytea(column: str, source: str, type: Type) -> Coerced | None:
    value = f"try_to_binary({column}, 'base64')"
    if source == "binary":
        return Coerced(column)
    return Coerced(value, f"{value} IS NOT NULL") if source == "string" else None


def _uuid(column: str, source: str, type: Type) -> Coerced | None:
    text = f"lower(trim({column}))"
    return Coerced(text, f"{text} RLIKE '^{_UUID}$'") if source == "string" else None


def _json(column: str, source: str, type: Type) -> Coerced | None:
    if source == "string":
        return Coerced(column, f"try_parse_json({column}) IS NOT NULL")
    if source in (*_INTEGERS, "boolean"):
        return Coerced(f"CAST({column} AS string)")
    return Coerced(spark_text(column, source)) if source.startswith(_NESTED) else None


def _enumeration(column: str, source: str, type: Type) -> Coerced | None:
    labels = ", ".join(map(spark_literal, type.labels))
    return Coerced(column, f"{column} IN ({labels})") if source == "string" else None


def _array(column: str, source: str, type: Type) -> Coerced | None:
    """An array whose elements are coerced, or an array's JSON, which the codec reads."""
    if source == "string":
        return Coerced(column, f"try_parse_json({column}) IS NOT NULL AND trim({column}) LIKE '[%'")
    if not source.startswith("array<") or type.element is None:
        return None
    each = f"{_EACH}{str(type).count('[]')}"
    element = spark_cast(each, source.removeprefix("array<").removesuffix(">"), type.element)
    if element is None:
        return None
    value = f"transform({column}, {each} -> {element.value})"
    if element.fits is None:
        return Coerced(value)
    return Coerced(value, f"forall({column}, {each} -> {each} IS NULL OR coalesce({element.fits}, false))")


def _same(value: str, source: str, column: str) -> str:
    """SQL of whether the cast lost nothing: cast back, the value equals the source."""
    return f"{_try_cast(value, source)} = {column}"


def spark_text(column: str, source: str) -> str:
    """A value as text."""
    if source.startswith(_NESTED):
        return f"to_json({column})"
    return f"hex({column})" if source == "binary" else f"CAST({column} AS string)"


def spark_identifier(name: str) -> str:
    """A column's name in Spark SQL."""
    return "`" + name.replace("`", "``") + "`"


def spark_literal(text: str) -> str:
    """A text literal in Spark SQL."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


_NAMES = {
    Kind.TEXT: "string",
    Kind.REAL: "float",
    Kind.DOUBLE: "double",
    Kind.INTEGER: "int",
    Kind.TIME: "string",
    Kind.TIMESTAMP: "timestamp_ntz",
    Kind.TIMESTAMPTZ: "timestamp",
    Kind.INTERVAL: "string",
    Kind.BYTEA: "binary",
    Kind.UUID: "string",
    Kind.JSON: "string",
    Kind.ENUM: "string",
}
_AS_THEY_ARE = (Kind.BOOLEAN, Kind.SMALLINT, Kind.INTEGER, Kind.REAL, Kind.DOUBLE, Kind.DATE, Kind.TIMESTAMP)
_COERCIONS: dict[Kind, Callable[[str, str, Type], Coerced | None]] = {
    Kind.BOOLEAN: _boolean,
    Kind.SMALLINT: _integer,
    Kind.INTEGER: _integer,
    Kind.BIGINT: _integer,
    Kind.NUMERIC: _numeric,
    Kind.REAL: _float,
    Kind.DOUBLE: _float,
    Kind.TEXT: _text,
    Kind.DATE: _date,
    Kind.TIME: _time,
    Kind.TIMESTAMP: _timestamp,
    Kind.TIMESTAMPTZ: _timestamptz,
    Kind.INTERVAL: _interval,
    Kind.BYTEA: _bytea,
    Kind.UUID: _uuid,
    Kind.JSON: _json,
    Kind.ENUM: _enumeration,
    Kind.ARRAY: _array,
}
