"""Whether a value of ours is what a manual prints.

What a system prints says nothing of its types: `2.50` and `2.5` are one number, `2024-02-29T00:00:00Z` and
`2024-02-29 00:00:00+00` one moment. Digits beyond those that the manual prints, at least six, are not
compared. A cell in quotes asks for a text.
"""

from __future__ import annotations

import base64
import codecs
import json
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, time, timedelta
from decimal import Decimal, InvalidOperation
from functools import cache

import duckdb

from engine.schema import Kind, Type

_QUOTED = re.compile(r"(e?)'(.*)'", re.DOTALL)
_ENOUGH = 6  # digits of a number that was printed rounded
_EXACT = 15  # digits that a DOUBLE has
Truth = tuple[str, str]


def says(cell: str, value: object, type: Type, truth: Truth) -> bool:
    """Whether a cell prints our value of this type; `truth` prints true and false."""
    if quoted := _QUOTED.fullmatch(cell):
        return value is not None and _is_textual(type) and _unquoted(*quoted.groups()) == value
    if value is None or cell == "NULL":
        return value is None and cell == "NULL"
    if type.kind is Kind.BOOLEAN:
        return cell.lower() == truth[0 if value else 1].lower()
    compare = _COMPARISONS.get(type.kind)
    try:
        if type.kind is Kind.ARRAY:
            return _is_list(json.loads(cell), value, type, truth)
        if type.kind is Kind.JSON:
            return json.loads(cell) == value
        if type.is_numeric:
            return _is_number(cell, str(value), type)
        return compare(cell, str(value)) if compare else cell == str(value)
    except (ValueError, InvalidOperation, duckdb.Error):
        return False


def written(value: object, type: Type, truth: Truth) -> str:
    """A cell that says the value."""
    if value is None:
        return "NULL"
    if type.kind is Kind.BOOLEAN:
        return truth[0 if value else 1]
    if type.kind in (Kind.ARRAY, Kind.JSON):
        return json.dumps(value, ensure_ascii=False)
    text = str(value)
    if type.kind is Kind.BYTEA:
        return rf"\x{base64.b64decode(text).hex()}"
    if type.kind is not Kind.TEXT:
        return text
    if "\n" in text or "\t" in text:
        return "e'" + codecs.encode(text, "unicode_escape").decode().replace("'", "''") + "'"
    is_plain = text and text.strip() == text and " | " not in text and "'" not in text[:1]
    return text if is_plain and text not in ("NULL", "error") else "'" + text.replace("'", "''") + "'"


def _is_textual(type: Type) -> bool:
    return type.kind in (Kind.TEXT, Kind.ENUM)


def _unquoted(escaped: str, text: str) -> str:
    text = text.replace("''", "'")
    if not escaped:
        return text
    return re.sub(r"\\(?:x..|u....|.)", lambda sign: codecs.decode(sign[0], "unicode_escape"), text)


def _is_list(cells: object, value: object, type: Type, truth: Truth) -> bool:
    """Whether a list of JSON has the values of an array."""
    element = type.element
    if not isinstance(cells, list) or not isinstance(value, list) or element is None:
        return False
    if element.kind is Kind.ARRAY:
        return len(cells) == len(value) and all(
            own is None if cell is None else _is_list(cell, own, element, truth)
            for cell, own in zip(cells, value, strict=True)
        )
    return len(cells) == len(value) and all(
        says(_element_cell(cell, element, truth), own, element, truth)
        for cell, own in zip(cells, value, strict=True)
    )


def _element_cell(value: object, type: Type, truth: Truth) -> str:
    """An element of a list of JSON as a cell of its own."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return truth[0 if value else 1]
    if type.kind is Kind.JSON or not isinstance(value, str):
        return json.dumps(value)
    return "'" + value.replace("'", "''") + "'" if _is_textual(type) else value


def _is_number(cell: str, value: str, type: Type) -> bool:
    """Whether the number is the printed one, as far as that was printed."""
    expected, found = Decimal(cell), Decimal(value)
    if expected == found or not (expected.is_finite() and found.is_finite()):
        return expected == found or (expected.is_nan() and found.is_nan())
    if type.is_integer:
        return False
    printed, ours = _digits(cell), _digits(value)
    places = min(printed, ours, _EXACT if type.is_float else 38)
    if places < _ENOUGH:
        return False
    step = Decimal(1).scaleb(max(expected.adjusted(), found.adjusted()) - places + 1)
    return abs(expected - found) <= step / 2


def _digits(number: str) -> int:
    """The significant digits of a printed number."""
    mantissa = re.split("[eE]", number)[0]
    return len(re.sub(r"\D", "", mantissa).lstrip("0"))


def _moment(text: str) -> datetime:
    """The moment in UTC; text without an offset is UTC's."""
    text = re.sub(r"\s*(?:UTC|GMT|Z)$", "+00:00", text.strip())
    text = re.sub(r"([ :.\d])\s*([+-]\d\d)$", r"\1\2:00", text) if ":" in text else text
    text = re.sub(r"\.(\d+)", lambda fraction: f".{fraction[1][:6]:0<6}", text)
    if len(text) < len("2024-01-01 00"):
        raise ValueError("a day is no moment")
    found = datetime.fromisoformat(text)
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


def _same_moment(cell: str, value: str) -> bool:
    return _moment(cell) == _moment(value) if value[:1].isdigit() and len(value) < 34 else cell == value


def _same_time(cell: str, value: str) -> bool:
    cell, value = (re.sub(r"\.(\d+)", lambda f: f".{f[1][:6]:0<6}", text) for text in (cell, value))
    return time.fromisoformat(cell) == time.fromisoformat(value)


@cache
def _duration(text: str) -> tuple[int, timedelta]:
    """The months, and the days and microseconds, of an interval."""
    ((months, days, rest),) = duckdb.execute(
        "SELECT date_part('year', v) * 12 + date_part('month', v), date_part('day', v),"
        " epoch_us(v - to_months(CAST(date_part('year', v) * 12 + date_part('month', v) AS INTEGER))"
        " - to_days(CAST(date_part('day', v) AS INTEGER))) FROM (SELECT CAST(? AS INTERVAL) AS v)",
        [_spelled(text)],
    ).fetchall()
    return months, timedelta(days=days, microseconds=rest)


def _spelled(text: str) -> str:
    """An ISO 8601 duration as DuckDB reads intervals."""
    date, _, clock = text.lstrip("-").removeprefix("P").partition("T")
    if not text.lstrip("-").startswith("P"):
        return text.removeprefix("@ ")
    units = {"Y": "years", "M": "months", "W": "weeks", "D": "days"}
    parts = [f"{number} {units[unit]}" for number, unit in re.findall(r"([-+\d.]+)([A-Z])", date)]
    units = {"H": "hours", "M": "minutes", "S": "seconds"}
    parts += [f"{number} {units[unit]}" for number, unit in re.findall(r"([-+\d.]+)([A-Z])", clock)]
    return " ".join(parts)


def _same_bytes(cell: str, value: str) -> bool:
    digits = re.sub(r"^(\\x|0x|[xX]'|b')|'$", "", cell)
    return bytes.fromhex(digits) == base64.b64decode(value)


_COMPARISONS: Mapping[Kind, Callable[[str, str], bool]] = {
    Kind.TIMESTAMP: _same_moment,
    Kind.TIMESTAMPTZ: _same_moment,
    Kind.TIME: _same_time,
    Kind.INTERVAL: lambda cell, value: _duration(cell) == _duration(value),
    Kind.BYTEA: _same_bytes,
}
