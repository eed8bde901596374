"""Refusals of values that do not fit a type: the message shows the value and names the type."""

from __future__ import annotations

from decimal import Decimal

import orjson

from engine.errors import InvalidValue
from engine.kernels.words import NULL
from engine.schema import WORD_DIGITS, Kind, Type

_SPECIAL = frozenset({"nan", "inf", "infinity", "-inf", "-infinity"})
_RESERVED = str(int(NULL))


def invalid(value: object, type: Type | Kind, why: str = "") -> InvalidValue:
    """The error that refuses a value for a type, for the reason `why`."""
    name = type.value if isinstance(type, Kind) else str(type)
    if why and name == Kind.BIGINT.value and str(value) == _RESERVED:
        why = "this value is reserved, because NULL is stored as it; a HUGEINT or NUMERIC(19, 0) takes it"
    if not why and name.startswith(Kind.NUMERIC.value) and str(value).lower() in _SPECIAL:
        if isinstance(type, Type) and type.has_specials:
            return InvalidValue(
                f"{abbreviated(value)} is not a valid {name}: they are NaN, Infinity and -Infinity"
            )
        why = f"{name} has neither NaN nor infinities; a NUMERIC of more than {WORD_DIGITS} digits has them"
    return InvalidValue(f"{abbreviated(value)} is not a valid {name}" + (f": {why}" if why else ""))


def abbreviated(value: object) -> str:
    """A value as an error message shows it: as JSON if possible, cut to 80 characters."""
    if isinstance(value, int) and value.bit_length() > 256:
        return "an immense number"
    try:
        text = orjson.dumps(value).decode()
    except TypeError:
        try:
            text = str(value) if isinstance(value, (Decimal, int)) else repr(value)
        except RecursionError:
            return f"a deep {type(value).__name__}"
    return text if len(text) <= 80 else text[:77] + "..."
