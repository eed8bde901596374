"""Rows of plain literals: VALUES that need no evaluation.

A literal is plain for a column if the codec takes its text for the column's type and SQL gives the same
value. `'5'` for an INTEGER, `1.005` for a NUMERIC(9, 2) and `1 + 1` are not plain; DuckDB casts or computes
them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from decimal import Decimal

import orjson
from sqlglot import exp

from engine.codec.numerals import special_of
from engine.schema import Kind, Type
from planner.adhoc.dml_queries import cells, is_default
from planner.dialects.systems.postgres_moments import MOMENTS, as_moment
from planner.dialects.traits import Trait, has
from planner.errors import TypeMismatch

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_HOUR = r"([01][0-9]|2[0-3])"
"""The end of a day, 24:00:00, is not plain."""
_TIMESTAMP = re.compile(
    rf"[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}[ T]{_HOUR}:[0-9]{{2}}:[0-5][0-9](\.[0-9]{{1,6}})?Z?"
)
_TIMESTAMPTZ = re.compile(_TIMESTAMP.pattern.removesuffix("Z?") + r"(Z|[+-][0-9]{2}(:[0-9]{2})?)?")
_OFFSET = re.compile(r"(Z|[+-][0-9]{2}(:[0-9]{2})?)$")
_TIME = re.compile(_HOUR + r":[0-9]{2}(:[0-5][0-9](\.[0-9]{1,6})?)?")
_TIMETZ = re.compile(_TIME.pattern + "(Z|[+-][0-9]{2}(:[0-9]{2})?)")
_BITS = re.compile("[01]+")
_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_DURATION = re.compile(r"P.*")
_HEX = re.compile(r"\\x((?:[0-9a-fA-F]{2})*)")
_FORMS = {
    Kind.DATE: _DATE,
    Kind.TIME: _TIME,
    Kind.TIMETZ: _TIMETZ,
    Kind.TIMESTAMP: _TIMESTAMP,
    Kind.TIMESTAMPTZ: _TIMESTAMPTZ,
    Kind.INTERVAL: _DURATION,
    Kind.UUID: _UUID,
    Kind.BIT: _BITS,
}
_NUMBER = re.compile(r"[0-9]{1,18}(\.([0-9]{1,18}))?")
_WIDE_NUMBER = re.compile(r"[0-9]{1,38}(\.([0-9]{1,38}))?")
"""Of a NUMERIC that may be NaN, for which DuckDB could not compute the other values of the statement."""
_TOO_LONG = 10**18
"""The first integer that has too many digits to be plain."""


class NotPlain(Exception):
    """A value needs evaluation."""


def plain_rows(
    values: exp.Values, types: Sequence[Type], in_utc: bool = True, dialect: str = ""
) -> list[list[object]] | None:
    """The rows as Python values that the codec takes for columns of `types`; None if a value is not plain.

    Unless moments are `in_utc`, one without an offset is not plain.
    """
    try:
        return [
            [plain_cell(cell, type, in_utc, dialect) for cell, type in zip(cells(row), types, strict=True)]
            for row in values.expressions
        ]
    except NotPlain:
        return None


def plain_value(value: object, type: Type, in_utc: bool, dialect: str) -> object:
    """What the codec takes for a column of `type`, for the value of a parameter that stands for itself in
    VALUES: the same as for the literal that a person would write. Raises NotPlain."""
    match value:
        case None:
            return None
        case bool() if type.kind is Kind.BOOLEAN:
            return value
        case str() if "\0" not in value:
            return _moment_or_text(value, type, in_utc, dialect)
        case bool() | str() | list() | dict():
            raise NotPlain
        case Decimal() if value.is_finite():
            return _number("-" if value < 0 else "", format(value.copy_abs(), "f"), type)
        case Decimal() | float() if not math.isfinite(value) and type.has_specials:
            return _special(str(value), dialect)
        case int() if type.is_integer and abs(value) < _TOO_LONG:
            return value
        case int() | float():
            return _number("-" if value < 0 else "", repr(abs(value)), type)
    raise NotPlain


def plain_cell(cell: exp.Expression, type: Type, in_utc: bool, dialect: str) -> object:
    """The same for an expression in VALUES."""
    match cell:
        case exp.Null():
            return None
        case _ if is_default(cell):
            return None
        case exp.Boolean() if type.kind is Kind.BOOLEAN:
            return bool(cell.this)
        case exp.Neg(this=exp.Literal(is_string=False) as literal):
            return _number("-", literal.name, type)
        case exp.Literal(is_string=False):
            return _number("", cell.name, type)
        case exp.Literal(is_string=True):
            return _moment_or_text(cell.name, type, in_utc, dialect)
        case exp.Cast(this=exp.Literal(is_string=True) as text, to=to) if (
            _is_number(to) and type.has_specials
        ):
            return _special(text.name, dialect)
    raise NotPlain


def _is_number(to: exp.DataType) -> bool:
    return to.this is exp.DType.DOUBLE or (to.this is exp.DType.DECIMAL and not to.expressions)


def _special(text: str, dialect: str) -> float:
    """NaN or an infinity that a text names in a dialect whose NUMERIC has them."""
    special = special_of(text) if has(dialect, Trait.NUMBERS_HAVE_SPECIALS) else None
    if special is None:
        raise NotPlain
    return special


def _number_or_special(text: str, type: Type, dialect: str) -> object:
    digits = text.lstrip("+-")
    if len(text) - len(digits) <= 1 and _WIDE_NUMBER.fullmatch(digits):
        return _number("-" if text.startswith("-") else "", digits, type)
    return _special(text, dialect)


def _moment_or_text(text: str, type: Type, in_utc: bool, dialect: str) -> object:
    """The value of a text. Unless moments are `in_utc`, one without an offset is not plain."""
    if type.has_specials:
        return _number_or_special(text, type, dialect)
    if type.kind in MOMENTS and not _FORMS[type.kind].fullmatch(text):
        text = _spelled(text, type, dialect)
    if type.kind is Kind.TIMESTAMPTZ and not (in_utc or _OFFSET.search(text)):
        raise NotPlain
    return _text(text, type)


def _spelled(text: str, type: Type, dialect: str) -> str:
    """A moment in the dialect's spelling, as ISO 8601 writes it."""
    try:
        return as_moment(text, type.kind, dialect)
    except TypeMismatch:
        raise NotPlain from None


def _number(sign: str, digits: str, type: Type) -> object:
    match = (_WIDE_NUMBER if type.has_specials else _NUMBER).fullmatch(digits)
    if match is None:
        raise NotPlain
    if match[1] is None and (type.is_integer or type.kind is Kind.NUMERIC):
        return int(sign + digits)
    if type.is_float:
        return float(sign + digits)
    if type.kind is Kind.NUMERIC and len(match[2] or "") <= (type.scale or 0):
        return sign + digits
    raise NotPlain


def _text(text: str, type: Type) -> object:
    form = _FORMS.get(type.kind)
    if type.kind is Kind.TEXT or text in type.labels or (form is not None and form.fullmatch(text)):
        return text
    if type.kind is Kind.BYTEA and (match := _HEX.fullmatch(text)):
        return bytes.fromhex(match[1])
    if type.kind is Kind.JSON:
        try:
            return orjson.loads(text)
        except orjson.JSONDecodeError:
            pass
    raise NotPlain
