"""How values that fit no type are refused: by what they are, and the type's name."""

from __future__ import annotations

from decimal import Decimal

import orjson

from engine.errors import InvalidValue
from engine.schema import Kind, Type


def invalid(value: object, type: Type | Kind, why: str = "") -> InvalidValue:
    name = type.value if isinstance(type, Kind) else str(type)
    return InvalidValue(f"{shown(value)} is no {name}" + (f": {why}" if why else ""))


def shown(value: object) -> str:
    """A value as an error message shows it: JSON where it has one, cut to 80 characters."""
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
