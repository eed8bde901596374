"""The words of values that columns are compared with, for lookups.

A value that is not of the column's type is compared as DuckDB compares it: `5.0` with a BIGINT as a number,
`'5'` as the number that is written there. Only what certainly means the same is taken: for any other value
Unfit is raised, and DuckDB answers. Nothing becomes an entry of the dictionary.
"""

from __future__ import annotations

import builtins
import math
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Context, Decimal

from engine.codec.values import encoder
from engine.errors import InvalidValue
from engine.kernels.hashing import FIRST_NUMERAL
from engine.kernels.words import NULL
from engine.schema import INTEGERS, Kind, Type
from engine.state.dictionary import Dictionary
from planner.adhoc.comparands import Argument, ColumnBound, ColumnEquation, Comparand
from planner.parsing.parameters import Given

_EXACT_INTEGER = 2**53
_EXACT_DIGITS, _EXACT_POWER = 15, 22
"""A decimal of so few digits and so small a power of ten is the nearest double to what it says."""
_EXACT = Context(prec=100)  # more digits than a number has
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
_NUMBER = re.compile(r"[+-]?[0-9]{1,18}(\.[0-9]{1,18})?")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_BITS = re.compile("[01]+")
_DAY = r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
_CLOCK = r"([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,6})?"
_MOMENTS = {
    Kind.DATE: re.compile(_DAY),
    Kind.TIME: re.compile(_CLOCK),
    Kind.TIMETZ: re.compile(f"{_CLOCK}[+-](0[0-9]|1[0-5])(:[0-5][0-9])?"),
    Kind.TIMESTAMP: re.compile(f"{_DAY}[ T]{_CLOCK}"),
    Kind.TIMESTAMPTZ: re.compile(f"{_DAY}[ T]{_CLOCK}(Z|[+-](0[0-9]|1[0-4]):[0-5][0-9])"),
}
_BOOLEANS = {"true": 1, "false": 0, "t": 1, "f": 0}
_NO_TEXTS = Dictionary()
Elements = list[tuple[object, Type | None]]
"""Values that a column is compared with, each with the type that it is cast to."""


class Unfit(Exception):
    """A value that a lookup cannot compare with its column."""


def words_of(
    equation: ColumnEquation, type: Type, given: Mapping[str, Given], dictionary: Dictionary
) -> dict[int, str | None]:
    """The words that a column may have, each with its text if it has one. Raises Unfit.

    The word of a text that is no entry may be that of another text.
    """
    found: dict[int, str | None] = {}
    elements = [(_value(term, given), term.cast) for term in equation.terms]
    if equation.is_list:
        elements = _checked_elements(elements, equation.terms, type)
    for value, cast in elements:
        word = None if value is None else _word(value, cast, type, dictionary)
        if word is None:
            continue
        if type.is_interned:
            found[word] = str(value.value if isinstance(value, Given) else value)
        else:
            found[word] = None
    return found


ORDERED = frozenset(
    {
        *INTEGERS,
        *(Kind.NUMERIC, Kind.DOUBLE, Kind.DATE, Kind.TIME, Kind.TIMETZ, Kind.TIMESTAMP, Kind.TIMESTAMPTZ),
    }
)
"""Kinds whose words have the order of the values, but for a NUMERIC that may be wide."""


def bound_word(bound: ColumnBound, type: Type, given: Mapping[str, Given], dictionary: Dictionary) -> int:
    """The word of a bound of a column; the column's words are in the order of its values. Raises Unfit."""
    if type.kind not in ORDERED or type.may_be_wide:
        raise Unfit
    value = _value(bound.term, given)
    word = None if value is None else _word(value, bound.term.cast, type, dictionary)
    if word is None:
        raise Unfit
    return word


def parameter_word(given: Given | None, type: Type, dictionary: Dictionary) -> int:
    """The word of a parameter's value as a value of the type; its text becomes an entry. Raises Unfit."""
    value = _plain(given)
    if value is None:
        return NULL
    if type.kind is Kind.TEXT and isinstance(value, str):
        return dictionary.word(value)
    word = None if type.is_interned else _word(value, type, type, dictionary)
    if word is None:
        raise Unfit
    return word


def number_of(term: Comparand | None, given: Mapping[str, Given]) -> int | None:
    """The number of a LIMIT or OFFSET; None without one. Raises Unfit."""
    if term is None:
        return None
    value = _value(term, given)
    if type(value) is not int or not 0 <= value < 2**63:
        raise Unfit
    return value


def _value(term: Comparand, given: Mapping[str, Given]) -> object:
    return _plain(given.get(term.value.name)) if isinstance(term.value, Argument) else term.value


def _checked_elements(found: Elements, terms: Sequence[Comparand], type: Type) -> Elements:
    """The elements of a list that a column is compared with, which may be the only term. They have one type,
    and DuckDB compares no others with it: a text with texts alone."""
    (value, cast), *more = found
    if not more and isinstance(terms[0].value, Argument):
        if isinstance(value, Given) and value.type is not None and isinstance(value.value, list):
            element = value.type.element
            found = [(None if one is None else Given(one, element), cast) for one in value.value]
        elif isinstance(value, list):
            found = [(one, cast) for one in value]
        else:
            raise Unfit
    for value, cast in found:
        own = value.type if isinstance(value, Given) else cast
        is_alike = type.kind is Kind.TEXT if isinstance(value, str) else type.kind in INTEGERS
        is_plain = builtins.type(value) in (str, int) and is_alike
        if value is not None and own != type and not (own is None and is_plain):
            raise Unfit
    return found


def _plain(given: Given | None) -> object:
    """The value of a parameter in the form of a Comparand's; a typed one stays with its type."""
    if given is None:
        raise Unfit
    value = given.value
    if given.type is not None:
        return None if value is None else given
    if not isinstance(value, float):
        return value
    text = repr(value)
    return Decimal(text) if math.isfinite(value) and "e" not in text else value


def _word(value: object, cast: Type | None, type: Type, dictionary: Dictionary) -> int | None:
    """The word of a value that is not NULL; None if no value of the type equals it."""
    if cast is not None and cast != type and not (cast.kind in INTEGERS and type.kind in INTEGERS):
        raise Unfit
    if isinstance(value, Given):
        return _typed(value, cast, type, dictionary)
    if isinstance(value, Decimal) and not value.is_finite():
        raise Unfit
    convert = _CONVERTERS.get(type.kind)
    if convert is None:
        raise Unfit
    word = convert(value, cast or type, dictionary)
    if word is None and cast is not None:
        raise Unfit  # a cast rounds, or fails
    if word is not None and type.kind in INTEGERS:
        low, high = type.bounds
        return word if low <= word <= high else None
    return word


def _typed(given: Given, cast: Type | None, type: Type, dictionary: Dictionary) -> int | None:
    """The word of a value that comes with its type."""
    own = given.type or type
    if cast not in (None, own):
        raise Unfit
    if own.kind in INTEGERS and type.kind in INTEGERS:
        low, high = type.bounds
        word = _encoded(given.value, own)
        return word if low <= word <= high else None
    if own != type:
        raise Unfit
    if type.is_interned:
        return _CONVERTERS.get(type.kind, _unfit)(given.value, type, dictionary)
    word = _encoded(given.value, type)
    if type.may_be_wide and abs(word) >= FIRST_NUMERAL:
        raise Unfit
    return word


def _encoded(value: object, type: Type) -> int:
    try:
        return encoder(type)(value, _NO_TEXTS)
    except InvalidValue:
        raise Unfit from None


def _unfit(value: object, type: Type, dictionary: Dictionary) -> int | None:
    raise Unfit


def _integer(value: object, type: Type, dictionary: Dictionary) -> int | None:
    low, high = type.bounds
    match value:
        case bool() | float():
            raise Unfit
        case int():
            return value if low <= value <= high else None
        case Decimal() if len(value.as_tuple().digits) <= _EXACT_DIGITS:
            whole = value == value.to_integral_value()
            return int(value) if whole and low <= value <= high else None
        case str() if _WHOLE.fullmatch(value) and low <= int(value) <= high:
            return int(value)
    raise Unfit


def _boolean(value: object, type: Type, dictionary: Dictionary) -> int | None:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, str) and value in _BOOLEANS:
        return _BOOLEANS[value]
    raise Unfit


def _numeric(value: object, type: Type, dictionary: Dictionary) -> int | None:
    scale, (low, high) = type.scale or 0, type.bounds
    if isinstance(value, bool) or not isinstance(value, int | Decimal | str):
        raise Unfit
    if isinstance(value, str) and not _NUMBER.fullmatch(value):
        raise Unfit
    number = Decimal(value)
    if -number.as_tuple().exponent > scale:  # type: ignore[operator]
        raise Unfit
    scaled = int(number.scaleb(scale, _EXACT))
    if not low <= scaled <= high or abs(scaled) >= FIRST_NUMERAL:
        raise Unfit
    return scaled


def _double(value: object, type: Type, dictionary: Dictionary) -> int | None:
    match value:
        case float():
            return _encoded(value, type)
        case int() if not isinstance(value, bool) and abs(value) <= _EXACT_INTEGER:
            return _encoded(float(value), type)
        case Decimal():
            _, digits, exponent = value.as_tuple()
            if len(digits) <= _EXACT_DIGITS and abs(int(exponent)) <= _EXACT_POWER:
                return _encoded(float(value), type)
        case str() if _NUMBER.fullmatch(value):
            return _encoded(float(value), type)
    raise Unfit


def _text(value: object, type: Type, dictionary: Dictionary) -> int | None:
    if not isinstance(value, str) or "\0" in value:
        raise Unfit
    try:
        return dictionary.word_if_known(value)
    except InvalidValue:  # no Unicode
        raise Unfit from None


def _uuid(value: object, type: Type, dictionary: Dictionary) -> int | None:
    if isinstance(value, str) and _UUID.fullmatch(value):
        return dictionary.word_if_known(value)
    raise Unfit


def _bits(value: object, type: Type, dictionary: Dictionary) -> int | None:
    if isinstance(value, str) and _BITS.fullmatch(value):
        return dictionary.word_if_known(value)
    raise Unfit


def _moment(value: object, type: Type, dictionary: Dictionary) -> int | None:
    if isinstance(value, str) and _MOMENTS[type.kind].fullmatch(value):
        return _encoded(value, type)
    raise Unfit


def _label(value: object, type: Type, dictionary: Dictionary) -> int | None:
    return _encoded(value, type) if isinstance(value, str) else _unfit(value, type, dictionary)


_CONVERTERS: dict[Kind, Callable[[object, Type, Dictionary], int | None]] = {
    **dict.fromkeys(INTEGERS, _integer),
    **dict.fromkeys(_MOMENTS, _moment),
    Kind.BOOLEAN: _boolean,
    Kind.NUMERIC: _numeric,
    Kind.DOUBLE: _double,
    Kind.TEXT: _text,
    Kind.UUID: _uuid,
    Kind.BIT: _bits,
    Kind.ENUM: _label,
}
