"""Texts of values as PostgreSQL and ISO 8601 write them, rewritten so that DuckDB can read them."""

from __future__ import annotations

import re

import orjson

from engine.codec.durations import interval_of
from engine.codec.ordered_text import Interval
from engine.codec.spelled_intervals import interval_of_words
from engine.errors import InvalidValue
from engine.schema import NESTED, Kind, Type, is_anonymous

_HEX = re.compile(r"\\x((?:[0-9a-fA-F]{2})*)")
_TOKEN = re.compile(
    r'\s*(?:([{},])|"((?:[^"\\]|\\.)*)"|((?:[^{},"\\\s]|\\.|\s+(?=[^{},\s]))+))\s*', re.DOTALL
)
_RECORD = re.compile(r'("(?:[^"\\]|""|\\.)*"|[^"(),\\]|\\.)*', re.DOTALL)
_OFFSET = re.compile(r"(.*:\d\d(?:\.\d+)?) ?(?:([+-])(\d\d?)((?::?\d\d)?)|[zZ])")
_ZONED_TIME = re.compile(r"(\d\d?:\d\d)(:\d\d(?:\.\d+)?)? ?(?:([+-])(\d\d?)((?::?\d\d){0,2})|[zZ]|UTC)?")
_SIGNED = re.compile(r"[+@]|\bago\b|\d-\d|\d\s+\d")
"""Marks of an interval that DuckDB reads otherwise, or not at all."""
_WRITTEN = NESTED | {Kind.INTERVAL, Kind.BYTEA, Kind.BIT, Kind.TIMETZ, Kind.TIMESTAMPTZ}


def is_rewritten(type: Type) -> bool:
    """Whether some texts of the type's values must be rewritten."""
    return type.kind in _WRITTEN


def readable(text: str, type: Type) -> str:
    """The text in a form that DuckDB casts to the type.

    It rewrites `\\x6162`, `P1DT2H`, `-1 days +02:03`, `{1,NULL}`, the record `(1,)`, JSON for a map, the
    offsets ` +04`, `+4` and `z`, and a time with a zone that has no seconds.
    """
    match type.kind:
        case Kind.INTERVAL:
            return _interval(text)
        case Kind.BYTEA if match := _HEX.fullmatch(text):
            return re.sub("(..)", r"\\x\1", match[1])
        case Kind.BIT if not text:
            return "no bits"  # DuckDB would read it as 0
        case Kind.TIMETZ if match := _ZONED_TIME.fullmatch(text.strip()):
            return _zoned_time(*match.groups())
        case Kind.TIMESTAMPTZ if match := _OFFSET.fullmatch(text):
            return f"{match[1]}{match[2]}{match[3]:0>2}{match[4]}" if match[2] else f"{match[1]}Z"
        case Kind.ARRAY if text.lstrip().startswith("{"):
            return _list(text, innermost(type))
        case Kind.STRUCT if text.lstrip().startswith("("):
            return _struct(text, type)
        case Kind.MAP if text.lstrip().startswith(("{", "[")):
            return _map(text, type)
    return text


def _interval(text: str) -> str:
    """A duration of ISO 8601, or an interval in PostgreSQL's words with signs that DuckDB does not read."""
    try:
        if text.lstrip("+-").startswith("P"):
            return interval_words(interval_of(text))
        found = interval_of_words(text) if _SIGNED.search(text.lower()) else None
    except InvalidValue:
        return text
    return text if found is None else interval_words(found)


def _zoned_time(clock: str, seconds: str | None, sign: str | None, hours: str, rest: str) -> str:
    minutes = re.sub("(?<!:)([0-9][0-9])", r":\1", rest or "")
    return f"{clock:0>5}{seconds or ':00'}{f'{sign}{hours:0>2}{minutes}' if sign else '+00'}"


def interval_words(interval: Interval) -> str:
    """The interval in words that DuckDB reads."""
    return f"{interval.months} months {interval.days} days {interval.microseconds} microseconds"


def innermost(type: Type) -> Type:
    """The type of the innermost elements of an array."""
    while type.element is not None:
        type = type.element
    return type


def record_fields(text: str) -> list[str | None] | None:
    """The fields of a record as PostgreSQL writes it, `(1,"a b",)`; None if the text is not one."""
    inside = text.strip()
    if len(inside) < 2 or inside[0] != "(" or inside[-1] != ")":
        return None
    fields: list[str | None] = []
    place = 0
    while True:
        end = _RECORD.match(inside, place + 1).end()  # type: ignore[union-attr]  # it matches nothing too
        written = inside[place + 1 : end]
        fields.append(_field(written) if written else None)
        place = end
        if place >= len(inside) or inside[place] not in ",)":
            return None
        if inside[place] == ")":
            return fields if place == len(inside) - 1 else None


def _field(written: str) -> str:
    """A field without its quotes and escapes."""
    parts = re.findall(r'"((?:[^"\\]|""|\\.)*)"|\\(.)|([^"\\]+)', written, re.DOTALL)
    plain = (
        re.sub(r'""|\\(.)', lambda mark: mark[1] or '"', quoted, flags=re.DOTALL) or escaped or bare
        for quoted, escaped, bare in parts
    )
    return "".join(plain)


def _struct(text: str, type: Type) -> str:
    """A record, rewritten with names; unchanged if it is not one of the type."""
    fields = record_fields(text)
    if fields is None or len(fields) != len(type.fields):
        return text
    values = [
        "NULL" if part is None else _quoted(readable(part, field.type))
        for part, field in zip(fields, type.fields, strict=True)
    ]
    if is_anonymous(type):
        return f"({', '.join(values)})"
    names = (_quoted(field.name) for field in type.fields)
    return f"{{{', '.join(map(': '.join, zip(names, values, strict=True)))}}}"


def _map(text: str, type: Type) -> str:
    """A JSON object, or an array of pairs, rewritten as DuckDB writes maps; unchanged if it is neither."""
    try:
        found = orjson.loads(text)
        pairs = [(key, value) for key, value in (found.items() if isinstance(found, dict) else found)]
    except (ValueError, TypeError):
        return text
    entries = (map(_said, pair, type.parts) for pair in pairs)
    return f"{{{', '.join(map('='.join, entries))}}}"


def _said(value: object, type: Type) -> str:
    """A JSON value inside of a map."""
    if value is None:
        return "NULL"
    return _quoted(readable(value if isinstance(value, str) else orjson.dumps(value).decode(), type))


def _list(text: str, element: Type) -> str:
    """An array in braces, rewritten with brackets and quoted elements; unchanged if it is not an array."""
    parts: list[str] = []
    place = 0
    while place < len(text):
        token = _TOKEN.match(text, place)
        if token is None:
            return text
        place = token.end()
        mark, quoted, bare = token.groups()
        if mark is not None:
            parts.append({"{": "[", "}": "]"}.get(mark, mark))
        elif bare is not None and bare.upper() == "NULL":
            parts.append("NULL")
        else:
            plain = re.sub(r"\\(.)", r"\1", quoted if quoted is not None else bare, flags=re.DOTALL)
            parts.append(_quoted(readable(plain, element)))
    return "".join(parts)


def _quoted(text: str) -> str:
    """A part as DuckDB reads it."""
    return '"' + re.sub(r'(["\\])', r"\\\1", text) + '"'
