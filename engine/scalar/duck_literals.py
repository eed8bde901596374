"""Words as DuckDB's SQL shows and reads them."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta

from engine.codec.durations import duration
from engine.codec.numerals import number_of
from engine.codec.ordered_text import text_elements, text_interval, text_word
from engine.codec.timestamps import EPOCH, EPOCH_DAY, time_text
from engine.codec.values import decimal_text, word_float
from engine.codec.zoned_times import timetz_text
from engine.kernels.casts import INFINITE_DAY, INFINITE_INSTANT
from engine.kernels.words import NULL
from engine.scalar.written import interval_words
from engine.schema import CARRIED_AS_TEXT, NESTED, Kind, Type, is_anonymous
from engine.state.dictionary import Dictionary

_NAMES = {
    Kind.REAL: "FLOAT",
    Kind.DOUBLE: "DOUBLE",
    Kind.TEXT: "VARCHAR",
    Kind.TIMETZ: "TIME WITH TIME ZONE",
    Kind.TIMESTAMPTZ: "TIMESTAMP WITH TIME ZONE",
    Kind.BYTEA: "BLOB",
}
_MOMENTS = frozenset({Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMPTZ})
_AS_TEXT = CARRIED_AS_TEXT | {
    Kind.UUID,
    Kind.JSON,
    Kind.ENUM,
}  # kinds that Arrow, unlike DuckDB, has as texts


def type_name(type: Type) -> str:
    """DuckDB's name of the type."""
    if type.whole:
        return type.whole
    if type.kind is Kind.NUMERIC:
        return f"DECIMAL({type.precision},{type.scale})"
    match type.kind:
        case Kind.ARRAY:
            (element,) = map(type_name, type.parts)
            return f"{element}[]"
        case Kind.STRUCT if is_anonymous(type):
            return f"TUPLE({', '.join(map(type_name, type.parts))})"
        case Kind.STRUCT:
            fields = (f"{quoted_name(field.name)} {type_name(field.type)}" for field in type.fields)
            return f"STRUCT({', '.join(fields)})"
        case Kind.MAP:
            return f"MAP({', '.join(map(type_name, type.parts))})"
    return _NAMES.get(type.kind, str(type))


def differs_in_arrow(type: Type) -> bool:
    """Whether Arrow's form of the type is another type to DuckDB: text, a wider number, or a struct for a
    row."""
    differs = type.kind in _AS_TEXT or bool(type.whole) or is_anonymous(type)
    return differs or any(map(differs_in_arrow, type.parts))


def as_typed(name: str, type: Type) -> str:
    """An expression of exactly the type for a column that Arrow gave to DuckDB."""
    return f"CAST({name} AS {type_name(type)})" if differs_in_arrow(type) else name


_CARRIED = re.compile(
    r"""("(?:[^"]|"")*"|'(?:[^']|'')*')|(?:(TIMESTAMP)_NS|TIME WITH TIME ZONE|BIT)(?=[,)[]|$)"""
)


def carried_name(name: str) -> str:
    """DuckDB's type for values of its type `name` on their way through Arrow, also inside of others: texts
    for kinds that Arrow lacks, and microseconds, rounded, for nanoseconds, which an average of dates has."""
    return _CARRIED.sub(lambda found: found[1] or found[2] or _NAMES[Kind.TEXT], name)


def carried(expression: str, type: Type) -> str:
    """The expression as the type, in the form that Arrow carries."""
    name = type_name(type)
    cast = f"CAST({expression} AS {name})"
    return cast if carried_name(name) == name else f"CAST({cast} AS {carried_name(name)})"


def quoted_name(name: str) -> str:
    """A field's name in DuckDB's SQL."""
    return '"' + name.replace('"', '""') + '"'


def sql_text(word: int, type: Type, dictionary: Dictionary) -> str:
    """The value as a person would write it in SQL."""
    if word == NULL:
        return "NULL"
    if type.is_interned:
        return _shown_text(dictionary.text(word), type)
    return _shown_word(number_of(word, dictionary) if type.may_be_wide else word, type)


def _shown_text(text: str, type: Type) -> str:
    match type.kind:
        case kind if kind in NESTED:
            return _nested(text, type, _shown_text, _shown_word)
        case Kind.INTERVAL:
            return f"'{duration(text_interval(text))}'"
        case Kind.BYTEA:
            return f"'\\x{text}'"
    return quoted(text)


def _shown_word(word: int | float, type: Type) -> str:
    """For a NUMERIC, `word` is the number that the word stands for."""
    if isinstance(word, float) or type.kind is Kind.NUMERIC:
        return decimal_text(word, type.scale or 0)
    match type.kind:
        case Kind.BOOLEAN:
            return "true" if word else "false"
        case Kind.REAL | Kind.DOUBLE:
            return repr(word_float(word))
        case Kind.ENUM:
            return quoted(type.labels[word])
        case Kind.TIME:
            return f"'{time_text(word)}'"
        case Kind.TIMETZ:
            return f"'{timetz_text(word)}'"
        case Kind.DATE | Kind.TIMESTAMP | Kind.TIMESTAMPTZ:
            return f"'{_moment(word, type) or word}'"
        case _:
            return str(word)


def literal(word: int, type: Type, dictionary: Dictionary) -> str | None:
    """The value as a DuckDB expression of exactly its type; None if SQL text cannot express it."""
    if word == NULL:
        return f"CAST(NULL AS {type_name(type)})"
    try:
        if type.is_interned:
            return _literal_text(dictionary.text(word), type)
        return _literal_word(number_of(word, dictionary) if type.may_be_wide else word, type)
    except _Unsaid:
        return None


class _Unsaid(Exception):
    """SQL text cannot express a value."""


def _literal_text(text: str, type: Type) -> str:
    if type.kind in NESTED:
        said = _nested(text, type, _literal_text, _literal_word)
    elif "\0" in text:
        raise _Unsaid
    elif type.kind is Kind.INTERVAL:
        said = quoted(interval_words(text_interval(text)))
    elif type.kind is Kind.BYTEA:
        return f"unhex('{text}')"
    else:
        said = quoted(text)
    return f"CAST({said} AS {type_name(type)})"


def _literal_word(word: int | float, type: Type) -> str:
    if isinstance(word, float):
        raise _Unsaid
    if type.kind in _MOMENTS and not _moment(word, type):
        raise _Unsaid
    said = _shown_word(word, type)
    if type.is_float:
        said = f"'{said}'"  # DuckDB would read a bare number as a decimal first
    return f"CAST({said} AS {type_name(type)})"


def _nested(
    text: str, type: Type, of_text: Callable[[str, Type], str], of_word: Callable[[int | float, Type], str]
) -> str:
    """A value of a nested kind, with its parts by one of two functions."""

    def part(text: str | None, type: Type) -> str:
        if text is None:
            return "NULL"
        return of_text(text, type) if type.is_interned else of_word(text_word(text), type)

    parts = text_elements(text)
    match type.kind:
        case Kind.STRUCT:
            names = (quoted_name(field.name) for field in type.fields)
            fields = map(": ".join, zip(names, map(part, parts, type.parts), strict=True))
            return f"{{{', '.join(fields)}}}"
        case Kind.MAP:
            entries = (map(part, text_elements(entry or ""), type.parts) for entry in parts)
            return f"MAP {{{', '.join(': '.join(entry) for entry in entries)}}}"
    return f"[{', '.join(part(each, *type.parts) for each in parts)}]"


def quoted(text: str) -> str:
    """The text as an SQL string literal."""
    return "'" + text.replace("'", "''") + "'"


def _moment(word: int, type: Type) -> str:
    """A day or moment; empty for years outside 1 to 9999, which DuckDB writes in its own way."""
    infinite = INFINITE_DAY if type.kind is Kind.DATE else INFINITE_INSTANT
    if abs(word) == infinite:
        return "infinity" if word > 0 else "-infinity"
    try:
        if type.kind is Kind.DATE:
            return date.fromordinal(word + EPOCH_DAY).isoformat()
        zone = "+00" if type.kind is Kind.TIMESTAMPTZ else ""
        return (EPOCH + timedelta(microseconds=word)).isoformat(" ") + zone
    except (ValueError, OverflowError):
        return ""
