"""Texts that PostgreSQL casts, and DuckDB does not read: the constants of casts in other spellings.

    'tr'::boolean              →  true
    'January 8, 1999'::date    →  '1999-01-08'::date
    '04:05 PM'::time           →  '16:05:00'::time
    '0044-03-15 BC'::date      →  '0044-03-15 (BC)'::date
    '{{1,5},{99,100}}'::int[]  →  '[[1,5],[99,100]]'::int[][]

Examples are those of https://www.postgresql.org/docs/15/datatype.html. Numbers of months come first, as in
the setting MDY of DateStyle.
"""

from __future__ import annotations

import re

import orjson
from sqlglot import exp

from engine.scalar.written import readable
from engine.schema import INTERVAL, TEXT, TIMESTAMPTZ, TIMETZ, array_of
from planner.errors import PlannerError, TypeMismatch
from planner.native.templates import sql
from planner.positions import fail
from planner.sql_types import data_type

_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
)
_MONTH += r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
_YEAR, _DAY, _NUMBER = r"(?P<year>\d{4})", r"(?P<day>\d\d?)", r"(?P<month>\d\d?)"
_DATES = [
    re.compile(rf"{form}(?P<rest>(?:[ tT]\d\d?:.*)?)", re.IGNORECASE)
    for form in (
        rf"{_MONTH}\.? {_DAY},? {_YEAR}",
        rf"{_DAY}[ -]{_MONTH}[ -]{_YEAR}",
        rf"{_MONTH}-{_DAY}-{_YEAR}",
        rf"{_YEAR}[ -]{_MONTH}[ -]{_DAY}",
        rf"{_NUMBER}/{_DAY}/{_YEAR}",
        r"(?P<year>\d{4})(?P<month>\d\d)(?P<day>\d\d)",
    )
]
_CLOCK = re.compile(
    r"(?P<hour>\d\d?):(?P<minute>\d\d)(?P<rest>(?::\d\d(?:\.\d+)?)?) ?(?P<half>[ap]m)", re.IGNORECASE
)
_ERA = re.compile(r"(\d{4,}-\d\d?-\d\d?)((?:[ tT].*?)?)\s*\b(BC|AD)", re.IGNORECASE)
_WORD = re.compile(r".*\d\s+(?P<zone>[a-z][^\d\s]*)", re.IGNORECASE | re.DOTALL)
_ZONE = re.compile(r"z|[a-z]{3,5}|\w+(?:/[-\w]+)+", re.IGNORECASE)
_FRACTION = re.compile(r"(.*:\d\d\.(\d{6}))(\d+)(.*)", re.DOTALL)
_ZONED = re.compile(r"(.*?) ?([+-][\d:]+|[zZ]|UTC)?")
_DIGITS = re.compile(r"(\d\d)(\d\d)(\d\d(?:\.\d+)?)?")
_NAMED = re.compile(r"\s*[-+]?(?:inf(?:inity)?|nan)\s*", re.IGNORECASE)
_NULL_OR_TEXT = re.compile(r'("(?:[^"\\]|\\.)*")|NULL')
_LARGEST = {exp.DType.DOUBLE: 1.7976931348623157e308, exp.DType.FLOAT: 3.4028235677973366e38}
_MOMENTS = (exp.DType.DATE, exp.DType.TIMESTAMP, exp.DType.TIMESTAMPTZ)


def cast_of_text(cast: exp.Cast, text: str) -> exp.Expression:
    """The cast of a constant text in a spelling that DuckDB reads; the cast itself if it is in one."""
    kind = cast.to.this
    if kind is exp.DType.BOOLEAN:
        return _truth(cast, text.strip().lower()) if _may_be_cut(text) else cast
    if kind in _LARGEST:
        _check_size(cast, text, _LARGEST[kind])
    if kind in _MOMENTS:
        text = _in_its_half(_in_its_era(_moment(text.strip(), text)))
    if kind is exp.DType.TIMESTAMP:
        _check_zone(cast, text)
    if kind is exp.DType.TIMESTAMPTZ:
        text = readable(text, TIMESTAMPTZ)
    if kind is exp.DType.INTERVAL:
        text = readable(text, INTERVAL)
    if kind is exp.DType.TIME:
        text = _clock(text.strip(), text)
    if kind is exp.DType.TIMETZ and (parts := _ZONED.fullmatch(text.strip())):
        text = readable(_clock(parts[1], parts[1]) + (parts[2] or ""), TIMETZ)
    if kind is exp.DType.ARRAY and (depth := _depth(text)) > 1:
        return _deeper(cast, depth)
    if kind is exp.DType.ARRAY and text.lstrip().startswith("{"):
        text = _array(cast, text)
    return _rounded(cast, text) if kind in _MOMENTS else _respelled(cast, text)


def _may_be_cut(word: str) -> bool:
    """Whether a word for a truth value stands in spaces, or may be only the beginning of one."""
    return word != word.strip() or word.lower() not in ("true", "false", "t", "f", "1", "0")


def _truth(cast: exp.Cast, word: str) -> exp.Expression:
    """'tr'::boolean is true, and 'off'::boolean false. Another text's cast fails as any."""
    for value, words in ((True, ("true", "yes", "on", "1")), (False, ("false", "no", "off", "0"))):
        if word and word != "o" and any(each.startswith(word) for each in words):
            return exp.Boolean(this=value)
    return cast


def _check_size(cast: exp.Cast, text: str, largest: float) -> None:
    """'1e400'::float8 is out of range, and not infinite."""
    try:
        is_large = abs(float(text)) > largest and not _NAMED.fullmatch(text)
    except ValueError:
        return
    if is_large:
        fail(TypeMismatch(f"{text} is out of range for {cast.to.sql('postgres').lower()}"), cast)


def _moment(text: str, other: str) -> str:
    """A day as ISO 8601 writes it, with the time behind it; `other` for a text that is no day."""
    for form in _DATES:
        if found := form.fullmatch(text):
            month = found["month"].lower()
            number = int(month) if month.isdigit() else _MONTHS.index(month[:3]) + 1
            return f"{found['year']}-{number:02}-{int(found['day']):02}{found['rest']}"
    return other


def _in_its_era(text: str) -> str:
    """'0044-03-15 12:00 BC'::timestamp is one before Christ, which DuckDB writes behind the day."""
    found = _ERA.fullmatch(text.strip())
    if found is None:
        return text
    return f"{found[1]}{' (BC)' if found[3].upper() == 'BC' else ''}{found[2].rstrip()}"


def _in_its_half(text: str) -> str:
    """'2024-01-31 04:05 PM'::timestamp is in the afternoon, of which DuckDB reads nothing."""
    day, _, clock = text.strip().partition(" ")
    return f"{day} {_clock(clock.strip(), clock)}" if _CLOCK.fullmatch(clock.strip()) else text


def _rounded(cast: exp.Cast, text: str) -> exp.Expression:
    """The moment, rounded to microseconds as PostgreSQL does it, in floating point."""
    found = _FRACTION.fullmatch(text)
    if found is None:
        return _respelled(cast, text)
    cut = _respelled(cast, found[1] + found[4])
    is_more = round(float(f"0.{found[2]}{found[3]}") * 1e6) > int(found[2])
    return (
        sql("{0} + INTERVAL 1 MICROSECOND", [cut]) if is_more and cast.to.this is not exp.DType.DATE else cut
    )


def _check_zone(cast: exp.Cast, text: str) -> None:
    """A timestamp passes over the name of a zone, as PostgreSQL does; DuckDB would over any word."""
    found = _WORD.fullmatch(text.strip())
    if found and not _ZONE.fullmatch(found["zone"]):
        fail(TypeMismatch(f"{found['zone']} in {cast.name} is no time zone"), cast)


def _clock(text: str, other: str) -> str:
    """'04:05 PM'::time is 16:05:00, and '040506'::time 04:05:06; `other` for a text of neither form."""
    if digits := _DIGITS.fullmatch(text):
        return f"{digits[1]}:{digits[2]}:{digits[3] or '00'}"
    found = _CLOCK.fullmatch(text)
    if found is None or not 0 <= (hour := int(found["hour"])) <= 12:
        return other
    hour = hour % 12 + (12 if found["half"].lower() == "pm" else 0)
    return f"{hour:02}:{found['minute']}{found['rest'] or ':00'}"


def _array(cast: exp.Cast, text: str) -> str:
    """An array as DuckDB spells it; the text itself for types that only catalogs have."""
    try:
        return readable(text, data_type(cast.to, "postgres"))
    except PlannerError:
        return text


def _depth(text: str) -> int:
    """The number of braces in which the elements of an array stand."""
    braces = re.match(r"[\s{]*", text)
    return braces[0].count("{") if braces else 0


def _deeper(cast: exp.Cast, depth: int) -> exp.Expression:
    """The cast to arrays within arrays, which are of one type in PostgreSQL."""
    element = cast.to
    while element.this is exp.DType.ARRAY and element.expressions:
        depth, element = depth - 1, element.expressions[0]
    if depth < 1:
        return cast
    spelled = readable(cast.name, array_of(TEXT))
    if not _is_even(spelled):
        fail(TypeMismatch(f"{cast.name} is no array of arrays of one length"), cast)
    found = cast.copy()
    for _ in range(depth):
        found.set("to", exp.DataType(this=exp.DType.ARRAY, expressions=[found.to.copy()], nested=True))
    found.set("this", exp.Literal.string(spelled))
    return found


def _is_even(spelled: str) -> bool:
    """Whether all arrays beside each other are of one length."""
    try:
        value = orjson.loads(_NULL_OR_TEXT.sub(lambda part: part[1] or "null", spelled))
    except ValueError:
        return False
    level = [value]
    while level and all(isinstance(each, list) for each in level):
        if len({len(each) for each in level}) > 1:
            return False
        level = [part for each in level for part in each]
    return not any(isinstance(each, list) for each in level)


def _respelled(cast: exp.Cast, text: str) -> exp.Expression:
    if text == cast.name:
        return cast
    found = cast.copy()
    literal = exp.Literal.string(text)
    literal.meta.update(cast.this.meta)
    found.set("this", literal)
    return found
