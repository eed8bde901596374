"""Texts of values as PostgreSQL and ISO 8601 write them, rewritten so that DuckDB can read them."""

from __future__ import annotations

import re

from engine.codec.durations import interval_of
from engine.codec.ordered_text import Interval
from engine.errors import InvalidValue
from engine.schema import Kind, Type

_HEX = re.compile(r"\\x((?:[0-9a-fA-F]{2})*)")
_TOKEN = re.compile(
    r'\s*(?:([{},])|"((?:[^"\\]|\\.)*)"|((?:[^{},"\\\s]|\\.|\s+(?=[^{},\s]))+))\s*', re.DOTALL
)
_SPACED_OFFSET = re.compile(r"(.*:\d\d(?:\.\d+)?) ([+-]\d\d(?::?\d\d)?)")
_WRITTEN = frozenset({Kind.INTERVAL, Kind.BYTEA, Kind.ARRAY, Kind.TIMESTAMPTZ})


def is_rewritten(type: Type) -> bool:
    """Whether some texts of the type's values must be rewritten."""
    return type.kind in _WRITTEN


def readable(text: str, type: Type) -> str:
    """The text in a form that DuckDB casts to the type; it rewrites `\\x6162`, `P1DT2H`, `{1,NULL}`
    and the space before an offset."""
    match type.kind:
        case Kind.INTERVAL if text.lstrip("+-").startswith("P"):
            try:
                return interval_words(interval_of(text))
            except InvalidValue:
                return text
        case Kind.BYTEA if match := _HEX.fullmatch(text):
            return re.sub("(..)", r"\\x\1", match[1])
        case Kind.TIMESTAMPTZ if match := _SPACED_OFFSET.fullmatch(text):
            return match[1] + match[2]
        case Kind.ARRAY if text.lstrip().startswith("{"):
            return _list(text)
    return text


def interval_words(interval: Interval) -> str:
    """The interval in words that DuckDB reads."""
    return f"{interval.months} months {interval.days} days {interval.microseconds} microseconds"


def _list(text: str) -> str:
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
            parts.append(_quoted(quoted if quoted is not None else bare))
    return "".join(parts)


def _quoted(text: str) -> str:
    """An element, in which backslashes escape characters."""
    plain = re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)
    return '"' + re.sub(r'(["\\])', r"\\\1", plain) + '"'
