"""One value at a time: JSON or Python values to words, with the strictness of the REST contract.

`encoder` returns a function `(value, dictionary) -> word`. It raises InvalidValue, which names the value and
the type, not the column. Text is not a number, true is not a number, 1.0 is not an integer; only NUMERIC
takes numbers as strings. The functions return NULL for None; callers check whether a column takes NULL.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable
from decimal import Decimal, InvalidOperation

from engine.codec.interned import TEXTS, Text, Texts
from engine.codec.numerals import Number, name_of, word_of
from engine.codec.ordered_text import array_text, word_text
from engine.codec.refusals import invalid
from engine.codec.timestamps import date_word, time_word, timestamp_word, timestamptz_word
from engine.codec.zoned_times import timetz_word
from engine.errors import InvalidValue
from engine.kernels.floats import NAN_WORD
from engine.kernels.hashing import FIRST_NUMERAL
from engine.kernels.words import NULL
from engine.schema import INTEGER_RANGES, Kind, Type
from engine.state.dictionary import Dictionary

Encoder = Callable[[object, Dictionary], int]

MAX_DIGITS = 38  # of a NUMERIC

_SPECIAL_FLOATS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_NUMBER = re.compile(r"([+-]?)(?=\.?[0-9])0*([0-9]*)\.?([0-9]*)([eE][+-]?[0-9]+)?")
_WHOLE = re.compile("-?[0-9]{1,19}")
_NO_TEXTS = Dictionary()  # for encoders that need none
_FLOAT64, _INT64 = struct.Struct("<d"), struct.Struct("<q")


def encoder(type: Type) -> Encoder:
    """The function from a JSON or Python value, None for NULL, to the word of `type`."""
    if type.kind in INTEGER_RANGES:
        return _integer(type)
    if type.kind is Kind.NUMERIC:
        return _numeric(type)
    if type.kind is Kind.ENUM:
        return _enumeration(type)
    if type.is_interned:
        return _interned(text_of(type))
    return _ENCODERS[type.kind]


def text_of(type: Type) -> Text:
    """The function from a JSON or Python value, not None, to its text, which sorts as the value does."""
    match type.kind:
        case Kind.ARRAY:
            return _array_text(type)
        case Kind.STRUCT:
            return _struct_text(type)
        case Kind.MAP:
            return _map_text(type)
        case Kind.NUMERIC:
            number = _number(type)
            return lambda value: word_text(number(value))
    return TEXTS.get(type.kind) or _word_text(type)


def _word_text(type: Type) -> Text:
    """The text of a value that is a word."""
    encode = encoder(type)
    return lambda value: word_text(encode(value, _NO_TEXTS))


def _array_text(type: Type) -> Text:
    (element_text,) = map(text_of, type.parts)

    def text(value: object) -> str:
        if not isinstance(value, list | tuple):
            raise invalid(value, type)
        return array_text([None if element is None else element_text(element) for element in value])

    return text


def _struct_text(type: Type) -> Text:
    """The text of a dict, in which fields may be missing, or of a tuple of all fields."""
    fields = {field.name: text_of(field.type) for field in type.fields}

    def text(value: object) -> str:
        if isinstance(value, tuple) and len(value) == len(fields):
            value = dict(zip(fields, value, strict=True))
        if not isinstance(value, dict):
            raise invalid(value, type)
        unknown = value.keys() - fields.keys()
        if unknown:
            raise invalid(value, type, f"there is no field {min(map(str, unknown))}")
        parts = ((value.get(name), of_field) for name, of_field in fields.items())
        return array_text([None if part is None else of_field(part) for part, of_field in parts])

    return text


def _map_text(type: Type) -> Text:
    """The text of a dict, or of pairs in a list."""
    of_key, of_value = map(text_of, type.parts)
    has_whole_keys = type.parts[0].is_integer

    def text(value: object) -> str:
        entries = list(value.items()) if isinstance(value, dict) else value
        if not isinstance(entries, list | tuple) or not all(map(_is_pair, entries)):
            raise invalid(value, type)
        if isinstance(value, dict) and has_whole_keys:  # which JSON writes as texts
            entries = [(int(k) if isinstance(k, str) and _WHOLE.fullmatch(k) else k, v) for k, v in entries]
        keys = [None if key is None else of_key(key) for key, _ in entries]
        return map_text(keys, [None if each is None else of_value(each) for _, each in entries], type)

    return text


def map_text(keys: Texts, values: Texts, type: Type) -> str:
    """The text of a map, given those of its keys and values. Raises InvalidValue if these are no keys."""
    if None in keys:
        raise InvalidValue(f"a key of a {type} cannot be NULL")
    if len(set(keys)) < len(keys):
        raise InvalidValue(f"a {type} cannot have a key twice")
    return array_text(map(array_text, zip(keys, values, strict=True)))


def _is_pair(entry: object) -> bool:
    return isinstance(entry, list | tuple) and len(entry) == 2


def _interned(text: Text) -> Encoder:
    return lambda value, dictionary: NULL if value is None else dictionary.word(text(value))


def _enumeration(type: Type) -> Encoder:
    places = {label: place for place, label in enumerate(type.labels)}

    def encode(value: object, dictionary: Dictionary) -> int:
        if value is None:
            return NULL
        place = places.get(value) if isinstance(value, str) else None
        if place is None:
            raise invalid(value, type)
        return place

    return encode


def _integer(type: Type) -> Encoder:
    low, high = type.bounds

    def encode(value: object, dictionary: Dictionary) -> int:
        if value.__class__ is int and low <= value <= high:  # type: ignore[operator]
            return value  # type: ignore[return-value]
        if value is None:
            return NULL
        raise invalid(value, type, "out of range" if value.__class__ is int else "")

    return encode


def _numeric(type: Type) -> Encoder:
    read = _number(type)

    def encode(value: object, dictionary: Dictionary) -> int:
        if value is None:
            return NULL
        number = read(value)
        return number if -FIRST_NUMERAL < number < FIRST_NUMERAL else word_of(number, dictionary)  # type: ignore[return-value]

    return encode


def _number(type: Type) -> Callable[[object], Number]:
    """The function from a value of a NUMERIC to the number times 10**scale."""
    scale = type.scale or 0
    low, high = type.bounds
    factor = 10**scale
    has_specials = type.has_specials

    def read(value: object) -> Number:
        if has_specials and (special := _special(value)) is not None:
            return special
        if value.__class__ is int:
            number = value * factor  # type: ignore[operator]
        elif value.__class__ is str:
            number = _decimal(value, type)  # type: ignore[arg-type]
        else:
            number = _exact(value, type)
        if not low <= number <= high:
            raise invalid(value, type, "out of range")
        return number

    return read


def _special(value: object) -> float | None:
    """NaN or an infinity as a float; None for any other value."""
    if value.__class__ is str:
        return _SPECIAL_FLOATS.get(value)  # type: ignore[call-overload, no-any-return]
    if value.__class__ in (Decimal, float) and not math.isfinite(value):  # type: ignore[arg-type]
        return float(value)  # type: ignore[arg-type]
    return None


def _decimal(text: str, type: Type) -> int:
    """The number in decimal digits, times 10**scale."""
    match = _NUMBER.fullmatch(text)
    if match is None:
        raise invalid(text, type)
    sign, whole, fraction, exponent = match.groups()
    if exponent:
        try:
            return _exact(Decimal(text), type)
        except InvalidOperation:  # an exponent that no Decimal has
            raise invalid(text, type, "out of range") from None
    scale = type.scale or 0
    if len(whole) > MAX_DIGITS:
        raise invalid(text, type, "out of range")
    if fraction[scale:].strip("0"):
        raise invalid(text, type, "too many decimals")
    return int(f"{sign}{whole}{fraction[:scale]:0<{scale}}" if whole or scale else "0")


def decimal_text(number: Number, scale: int) -> str:
    """A number times 10**scale, in digits, with as many decimals as the scale; or the name of a special."""
    if isinstance(number, float):
        return name_of(number)
    if not scale:
        return str(number)
    digits = str(abs(number)).rjust(scale + 1, "0")
    return f"{'-' if number < 0 else ''}{digits[:-scale]}.{digits[-scale:]}"


def _exact(value: object, type: Type) -> int:
    """A Decimal, or a float in its printed form, times 10**scale."""
    if value.__class__ is float:
        number = Decimal(repr(value))
    elif value.__class__ is Decimal:
        number = value  # type: ignore[assignment]
    else:
        raise invalid(value, type)
    if not number.is_finite():
        raise invalid(value, type)
    if not number:
        return 0
    sign, digits, exponent = number.as_tuple()
    shift = exponent + (type.scale or 0)  # type: ignore[operator]
    if shift + len(digits) > 2 * MAX_DIGITS:
        raise invalid(value, type, "out of range")
    word = int("".join(map(str, digits)))
    if shift >= 0:
        word *= 10**shift
    else:
        word, rest = divmod(word, 10 ** min(-shift, len(digits) + 1))
        if rest:
            raise invalid(value, type, "too many decimals")
    return -word if sign else word


def _boolean(value: object, dictionary: Dictionary) -> int:
    if value is True:
        return 1
    if value is False:
        return 0
    if value is None:
        return NULL
    raise invalid(value, Kind.BOOLEAN)


def float_word(value: float) -> int:
    """The word of a float; the scalar form of `engine.kernels.floats`."""
    if value != value:
        return NAN_WORD
    (bits,) = _INT64.unpack(_FLOAT64.pack(value + 0.0))
    return bits if bits >= 0 else bits ^ 0x7FFFFFFFFFFFFFFF


def word_float(word: int) -> float:
    """The float of a word; the scalar form of `engine.kernels.floats`."""
    (value,) = _FLOAT64.unpack(_INT64.pack(word if word >= 0 else word ^ 0x7FFFFFFFFFFFFFFF))
    return value  # type: ignore[no-any-return]


def _float(value: object, kind: Kind) -> float:
    if value.__class__ is float:
        return value  # type: ignore[return-value]
    try:
        if value.__class__ in (int, Decimal):
            return float(value)  # type: ignore[arg-type]
        if value.__class__ is str:
            return _SPECIAL_FLOATS[value]  # type: ignore[index]
    except (KeyError, OverflowError):
        pass
    raise invalid(value, kind, "out of range" if value.__class__ is int else "")


def _double(value: object, dictionary: Dictionary) -> int:
    return NULL if value is None else float_word(_float(value, Kind.DOUBLE))


def _real(value: object, dictionary: Dictionary) -> int:
    if value is None:
        return NULL
    number = _float(value, Kind.REAL)
    try:
        (number,) = struct.unpack("<f", struct.pack("<f", number))
    except OverflowError:
        raise invalid(value, Kind.REAL, "out of range") from None
    return float_word(number)


_ENCODERS: dict[Kind, Encoder] = {
    Kind.BOOLEAN: _boolean,
    Kind.REAL: _real,
    Kind.DOUBLE: _double,
    Kind.DATE: date_word,
    Kind.TIME: time_word,
    Kind.TIMETZ: timetz_word,
    Kind.TIMESTAMP: timestamp_word,
    Kind.TIMESTAMPTZ: timestamptz_word,
}
