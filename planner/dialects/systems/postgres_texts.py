"""Texts that PostgreSQL casts, and DuckDB does not read: the constants of casts in other spellings.

    'tr'::boolean              →  true
    '04:05 PM'::time           →  '16:05:00'::time
    '{{1,5},{99,100}}'::int[]  →  '[[1,5],[99,100]]'::int[][]

Examples are those of https://www.postgresql.org/docs/15/datatype.html.
"""

from __future__ import annotations

import re

import orjson
from sqlglot import exp

from engine.scalar.written import readable
from engine.schema import INTERVAL, TEXT, TIMESTAMPTZ, TIMETZ, Kind, array_of
from planner.dialects.systems.postgres_moments import clock, moment
from planner.errors import PlannerError, TypeMismatch
from planner.positions import fail
from planner.sql_types import data_type

_ZONED = re.compile(r"(.*?) ?([+-][\d:]+|[zZ]|UTC)?")
_NAMED = re.compile(r"\s*[-+]?(?:inf(?:inity)?|nan)\s*", re.IGNORECASE)
_NULL_OR_TEXT = re.compile(r'("(?:[^"\\]|\\.)*")|NULL')
_LARGEST = {exp.DType.DOUBLE: 1.7976931348623157e308, exp.DType.FLOAT: 3.4028235677973366e38}
_MOMENTS = {
    exp.DType.DATE: Kind.DATE,
    exp.DType.TIME: Kind.TIME,
    exp.DType.TIMESTAMP: Kind.TIMESTAMP,
    exp.DType.TIMESTAMPNTZ: Kind.TIMESTAMP,
    exp.DType.TIMESTAMPTZ: Kind.TIMESTAMPTZ,
}


def cast_of_text(cast: exp.Cast, text: str) -> exp.Expression:
    """The cast of a constant text in a spelling that DuckDB reads; the cast itself if it is in one."""
    kind = cast.to.this
    if kind is exp.DType.BOOLEAN:
        return _truth(cast, text) if _may_be_cut(text) else cast
    if kind in _LARGEST:
        _check_size(cast, text, _LARGEST[kind])
    if kind in _MOMENTS:
        text = _moment(cast, text)
    if kind is exp.DType.TIMESTAMPTZ:
        text = readable(text, TIMESTAMPTZ)
    if kind is exp.DType.INTERVAL:
        text = readable(text, INTERVAL)
    if kind in (exp.DType.JSON, exp.DType.JSONB):
        text = _document(text)
    if kind is exp.DType.TIMETZ and (parts := _ZONED.fullmatch(text.strip())):
        text = readable(clock(parts[1], parts[1]) + (parts[2] or ""), TIMETZ)
    if kind is exp.DType.ARRAY and (depth := _depth(text)) > 1:
        return _deeper(cast, depth)
    if kind is exp.DType.ARRAY and text.lstrip().startswith("{"):
        text = _array(cast, text)
    return _respelled(cast, text)


def _document(text: str) -> str:
    """A document as it is kept: minified, and of members with one name the last; other texts themselves."""
    try:
        return orjson.dumps(orjson.loads(text)).decode()
    except ValueError:
        return text


def _may_be_cut(word: str) -> bool:
    """Whether a word for a truth value stands in spaces, or may be only the beginning of one."""
    return word != word.strip() or word.lower() not in ("true", "false", "t", "f", "1", "0")


def _truth(cast: exp.Cast, word: str) -> exp.Expression:
    """'tr'::boolean is true, and 'off'::boolean false. Another text's cast fails as any."""
    truth = truth_of(word)
    return cast if truth is None else exp.Boolean(this=truth)


def truth_of(text: str) -> bool | None:
    """The truth value that a text names, also by the beginning of its name; None for any other text."""
    word = text.strip().lower()
    for value, words in ((True, ("true", "yes", "on", "1")), (False, ("false", "no", "off", "0"))):
        if word and word != "o" and any(each.startswith(word) for each in words):
            return value
    return None


def _check_size(cast: exp.Cast, text: str, largest: float) -> None:
    """'1e400'::float8 is out of range, and not infinite."""
    try:
        is_large = abs(float(text)) > largest and not _NAMED.fullmatch(text)
    except ValueError:
        return
    if is_large:
        fail(TypeMismatch(f"{text} is out of range for {cast.to.sql('postgres').lower()}"), cast)


def _moment(cast: exp.Cast, text: str) -> str:
    try:
        return moment(text, _MOMENTS[cast.to.this])
    except TypeMismatch as error:
        fail(error, cast)


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
