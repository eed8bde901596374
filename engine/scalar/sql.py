"""Words as DuckDB's SQL shows and reads them."""

from __future__ import annotations

from datetime import date, timedelta

from engine.codec.temporal import EPOCH, EPOCH_DAY
from engine.codec.values import decimal_text, word_float
from engine.dictionary import Dictionary
from engine.kernels.casts import INFINITE_DAY, INFINITE_INSTANT
from engine.schema import NULL, Kind, Type

_NAMES = {Kind.REAL: "FLOAT", Kind.DOUBLE: "DOUBLE", Kind.TEXT: "VARCHAR", Kind.NUMERIC: "DECIMAL"}


def type_name(type: Type) -> str:
    """The type in DuckDB's SQL."""
    name = _NAMES.get(type.kind, type.kind.value)
    return f"{name}({type.precision}, {type.scale})" if type.kind is Kind.NUMERIC else name


def shown(word: int, type: Type, dictionary: Dictionary) -> str:
    """The value as a person would write it in SQL."""
    if word == NULL:
        return "NULL"
    match type.kind:
        case Kind.BOOLEAN:
            return "true" if word else "false"
        case Kind.NUMERIC:
            return decimal_text(word, type.scale or 0)
        case Kind.REAL | Kind.DOUBLE:
            return repr(word_float(word))
        case Kind.TEXT:
            return "'" + dictionary.text(word).replace("'", "''") + "'"
        case Kind.DATE | Kind.TIMESTAMP:
            return f"'{_moment(word, type) or word}'"
        case _:
            return str(word)


def literal(word: int, type: Type, dictionary: Dictionary) -> str | None:
    """The value as a DuckDB expression of exactly its type; None where SQL text cannot say it."""
    text = shown(word, type, dictionary)
    if type.kind in (Kind.DATE, Kind.TIMESTAMP) and word != NULL and not _moment(word, type):
        return None
    if "\0" in text:
        return None
    if type.is_float and word != NULL:
        text = f"'{text}'"  # a bare number would be read as a decimal first
    return f"CAST({text} AS {type_name(type)})"


def _moment(word: int, type: Type) -> str:
    """A date or timestamp; empty for years that are not 1 to 9999, which DuckDB writes in its own way."""
    infinite = INFINITE_DAY if type.kind is Kind.DATE else INFINITE_INSTANT
    if abs(word) == infinite:
        return "infinity" if word > 0 else "-infinity"
    try:
        if type.kind is Kind.DATE:
            return date.fromordinal(word + EPOCH_DAY).isoformat()
        return (EPOCH + timedelta(microseconds=word)).isoformat(" ")
    except (ValueError, OverflowError):
        return ""
