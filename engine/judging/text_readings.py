"""Texts that people and programs write for a value, one at a time: which of them a column takes.

Spaces around a value do not count, except in texts, JSON and labels. An integer may have a fraction of zeros,
a boolean is any of SQL's words, and a moment may name a zone. Nothing is rounded or guessed: no decimal,
fraction of a second or time of day is dropped; only floats are rounded, to floats.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from engine.codec.interned import field_value
from engine.codec.numerals import special_of
from engine.codec.refusals import invalid
from engine.codec.values import encoder
from engine.schema import NESTED, Kind, Type
from engine.state.dictionary import Dictionary

TextReader = Callable[[str, Dictionary], int]
"""A function from a text to a word. Raises InvalidValue."""

_WHOLE = re.compile(r"([+-]?[0-9]+)(?:[.]0*)?")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+[.]?[0-9]*|[.][0-9]+)(?:[eE][+-]?[0-9]+)?")
_SPECIAL = re.compile(r"[+-]?inf(?:inity)?|nan", re.IGNORECASE)
_TRUE, _FALSE = ("t", "true", "y", "yes", "1"), ("f", "false", "n", "no", "0")
_DAY = "[0-9]{4,6}-[0-9]{2}-[0-9]{2}"
_CLOCK = "[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.][0-9]{1,6}0*)?)?"
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_LONG_FRACTION = re.compile(r"([.][0-9]{6})0+")
_UTC = re.compile(r"(?:Z|[+-]00(?::?00)?)$")
_FORMS = {
    Kind.DATE: re.compile(_DAY),
    Kind.TIME: re.compile(_CLOCK),
    Kind.TIMESTAMP: re.compile(f"{_DAY}(?:[T ]{_CLOCK}(?:Z|[+-]00(?::?00)?)?)?"),
    Kind.TIMESTAMPTZ: re.compile(f"{_DAY}(?:[T ]{_CLOCK}(?:Z|[+-][0-9]{{2}}(?::?[0-9]{{2}})?)?)?"),
}


def text_reader(type: Type) -> TextReader:
    """The function that reads a text as a value of the type."""
    return _READERS.get(type.kind, _plain)(type)


def _plain(type: Type) -> TextReader:
    encode = encoder(type)
    return lambda text, dictionary: encode(text, dictionary)


def _trimmed(type: Type) -> TextReader:
    encode = encoder(type)
    return lambda text, dictionary: encode(text.strip(" "), dictionary)


def _number(type: Type) -> TextReader:
    encode = encoder(type)
    if not type.has_specials:
        return _trimmed(type)

    def read(text: str, dictionary: Dictionary) -> int:
        special = special_of(text)
        return encode(text.strip(" ") if special is None else special, dictionary)

    return read


def _integer(type: Type) -> TextReader:
    encode = encoder(type)

    def read(text: str, dictionary: Dictionary) -> int:
        found = _WHOLE.fullmatch(text.strip(" "))
        if found is None or len(found[1]) > 100:
            raise invalid(text, type)
        return encode(int(found[1]), dictionary)

    return read


def _float(type: Type) -> TextReader:
    encode = encoder(type)

    def read(text: str, dictionary: Dictionary) -> int:
        trimmed = text.strip(" ")
        is_number = _NUMBER.fullmatch(trimmed)
        if not is_number and not _SPECIAL.fullmatch(trimmed):
            raise invalid(text, type)
        value = float(trimmed)
        if is_number and math.isinf(value):
            raise invalid(text, type, "out of range")
        return encode(value, dictionary)

    return read


def _boolean(type: Type) -> TextReader:
    def read(text: str, dictionary: Dictionary) -> int:
        word = text.strip(" ").lower()
        if word in _TRUE:
            return 1
        if word in _FALSE:
            return 0
        raise invalid(text, type)

    return read


def _moment(type: Type) -> TextReader:
    encode, form = encoder(type), _FORMS[type.kind]

    def read(text: str, dictionary: Dictionary) -> int:
        trimmed = text.strip(" ")
        if not form.fullmatch(trimmed):
            raise invalid(text, type)
        plain = _LONG_FRACTION.sub(r"\1", trimmed)
        if type.kind is Kind.TIMESTAMP and len(plain) > 10:
            plain = _UTC.sub("", plain)
        if " " in plain and len(plain.partition(" ")[0]) > 10:
            plain = plain.replace(" ", "T")  # the only form of a year of more than four digits
        return encode(plain, dictionary)

    return read


def _uuid(type: Type) -> TextReader:
    encode = encoder(type)

    def read(text: str, dictionary: Dictionary) -> int:
        plain = text.strip(" ").lower()
        if not _UUID.fullmatch(plain):
            raise invalid(text, type)
        return encode(plain, dictionary)

    return read


def _field(type: Type) -> TextReader:
    encode = encoder(type)

    def read(text: str, dictionary: Dictionary) -> int:
        value = field_value(text, type)
        if value is not None:
            return encode(value, dictionary)
        if type.kind is not Kind.JSON:
            raise invalid(text, type)
        return dictionary.word("null")

    return read


_READERS: dict[Kind, Callable[[Type], TextReader]] = {
    Kind.SMALLINT: _integer,
    Kind.INTEGER: _integer,
    Kind.BIGINT: _integer,
    Kind.NUMERIC: _number,
    Kind.REAL: _float,
    Kind.DOUBLE: _float,
    Kind.BOOLEAN: _boolean,
    Kind.DATE: _moment,
    Kind.TIME: _moment,
    Kind.TIMESTAMP: _moment,
    Kind.TIMESTAMPTZ: _moment,
    Kind.INTERVAL: _trimmed,
    Kind.BYTEA: _trimmed,
    Kind.TIMETZ: _trimmed,
    Kind.BIT: _trimmed,
    Kind.UUID: _uuid,
    Kind.JSON: _field,
    **dict.fromkeys(NESTED, _field),
}
