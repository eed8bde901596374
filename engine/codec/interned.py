"""Values that need more than a word, to the texts under which the dictionary stores them, and back.

The texts sort as the values do (`ordered_text`), except JSON, whose text is the value minified: members keep
their order, and the last of those with the same name counts.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from uuid import UUID

import orjson

from engine.codec.durations import duration, interval_of
from engine.codec.ordered_text import interval_text, text_elements, text_interval, text_word
from engine.codec.refusals import invalid
from engine.schema import NESTED, Kind, Type

Texts = list[str | None]
"""The texts of values, None for NULL."""


def text_text(value: object) -> str:
    """The text of a TEXT value; InvalidValue unless it is a str."""
    if value.__class__ is not str:
        raise invalid(value, Kind.TEXT)
    return value  # type: ignore[return-value]


def interval_value_text(value: object) -> str:
    """The text of an interval, in any form that `interval_of` takes."""
    return interval_text(interval_of(value))


def bytea_text(value: object) -> str:
    """The text of bytes, or of their base64 form."""
    if isinstance(value, bytes):
        return value.hex()
    try:
        if isinstance(value, str):
            return base64.b64decode(value, validate=True).hex()
    except binascii.Error:
        pass
    raise invalid(value, Kind.BYTEA, "base64 is expected" if isinstance(value, str) else "")


def uuid_text(value: object) -> str:
    """The text of a UUID, given as UUID, str or 16 bytes."""
    if isinstance(value, UUID):
        return str(value)
    try:
        if isinstance(value, str):
            return str(UUID(value))
        if isinstance(value, bytes):
            return str(UUID(bytes=value))
    except ValueError:
        pass
    raise invalid(value, Kind.UUID)


_BITS = re.compile("[01]+")


def bit_text(value: object) -> str:
    """The text of bits, which are written as zeros and ones."""
    if isinstance(value, str) and _BITS.fullmatch(value):
        return value
    raise invalid(value, Kind.BIT, "zeros and ones are expected" if isinstance(value, str) else "")


_AROUND = 8
"""The most levels that an answer may have around a value."""


def json_text(value: object) -> str:
    """The minified text of a JSON value."""
    try:
        # orjson writes JSON up to a certain depth; an answer has some levels around the value.
        return orjson.dumps([[[[[[[[value]]]]]]]])[_AROUND:-_AROUND].decode()
    except TypeError as error:
        reason = "nested too deep" if "Recursion" in str(error) else ""
        raise invalid(value, Kind.JSON, reason) from None


def minified(text: str) -> str:
    """The text of JSON in any format, as `json_text` writes it."""
    return json_text(json_value(text))


def json_value(text: str) -> object:
    """The value of JSON text; InvalidValue if it is not JSON."""
    try:
        return orjson.loads(text)
    except ValueError:
        raise invalid(text, Kind.JSON) from None


Text = Callable[[object], str]
"""The text of a JSON or Python value."""

TEXTS: dict[Kind, Text] = {
    Kind.TEXT: text_text,
    Kind.INTERVAL: interval_value_text,
    Kind.BYTEA: bytea_text,
    Kind.UUID: uuid_text,
    Kind.BIT: bit_text,
    Kind.JSON: json_text,
}

Readers = Mapping[Kind, Callable[[str], object]]
"""By kind, a function from a text to its value; for other kinds the text is the value."""

JSON_VALUES: Readers = {
    Kind.INTERVAL: lambda text: duration(text_interval(text)),
    Kind.BYTEA: lambda text: base64.b64encode(bytes.fromhex(text)).decode(),
    Kind.JSON: orjson.loads,
}
PYTHON_VALUES: Readers = {
    Kind.INTERVAL: text_interval,
    Kind.BYTEA: bytes.fromhex,
    Kind.UUID: UUID,
    Kind.JSON: orjson.loads,
}


Numbers = list[int | float | None]
"""Words, and the numbers of NUMERIC, which may be longer than a word; None for NULL."""


def values_of(
    texts: Texts, type: Type, readers: Readers, of_numbers: Callable[[Numbers, Type], list]
) -> list:
    """The values of texts, None for NULL; `of_numbers` maps numbers to values, for parts of kinds in words.

    A STRUCT is a dict. So is a MAP whose keys are texts; any other is a list of pairs.
    """

    def inner(texts: Texts, type: Type) -> list:
        return values_of(texts, type, readers, of_numbers)

    match type.kind:
        case Kind.ARRAY if type.element is not None:
            lengths, elements = split_arrays(texts)
            return regrouped(inner(elements, type.element), lengths)
        case Kind.STRUCT:
            names = [field.name for field in type.fields]
            rows = zip(*map(inner, split_structs(texts, type), type.parts), strict=True)
            made = (dict(zip(names, row, strict=True)) for row in rows)
            return [None if text is None else next(made) for text in texts]
        case Kind.MAP:
            lengths, entries = split_arrays(texts)
            pairs = zip(*map(inner, split_structs(entries, type), type.parts), strict=True)
            maps = regrouped(map(list, pairs), lengths)
            is_object = type.parts[0].kind is Kind.TEXT
            return [None if each is None else dict(each) for each in maps] if is_object else maps
    if not type.is_interned:
        return of_numbers([None if text is None else text_word(text) for text in texts], type)
    read = readers.get(type.kind)
    return list(texts) if read is None else [None if text is None else read(text) for text in texts]


def split_arrays(texts: Texts) -> tuple[list[int | None], Texts]:
    """The lengths of arrays, None for NULL, and the texts of all their elements."""
    lengths: list[int | None] = []
    elements: Texts = []
    for text in texts:
        before = len(elements)
        if text is not None:
            elements.extend(text_elements(text))
        lengths.append(None if text is None else len(elements) - before)
    return lengths, elements


def split_structs(texts: Texts, type: Type) -> list[Texts]:
    """For each field, its texts in all structs (or entries of maps) that are not NULL."""
    _, parts = split_arrays(texts)
    count = len(type.fields)
    return [parts[place::count] for place in range(count)]


def regrouped(values: Iterable, lengths: Iterable[int | None]) -> list:
    """The values as lists of these lengths; None for a length of None."""
    rest = iter(values)
    return [None if length is None else list(islice(rest, length)) for length in lengths]


def field_value(text: str, type: Type) -> object:
    """The value of a field in a text format: parsed JSON for JSON and nested kinds, the text itself for
    others."""
    if type.kind is not Kind.JSON and type.kind not in NESTED:
        return text
    try:
        return orjson.loads(text)
    except ValueError:
        raise invalid(text, type, "JSON is expected") from None
