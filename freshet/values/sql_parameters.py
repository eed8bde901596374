"""Parameters of SQL as `/v1/sql` takes them: values beside the SQL, with types where JSON does not say them.

`$1` stands for a value of a sequence, `:name` for one of a mapping. The service binds them, so a value is
never read as SQL. A text, a boolean and an integer go as they are: like a literal, they take the type that
their place wants.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa

from freshet.errors import InvalidRequestError
from freshet.values.row_bodies import json_value

Parameters = Sequence[Any] | Mapping[str, Any]

_INT64 = range(-(2**63), 2**63)
_MOST_DIGITS = 38
_DOUBLE = "DOUBLE PRECISION"


def json_parameters(parameters: Parameters | None) -> list[object] | dict[str, object] | None:
    """The member `parameters` of a request. Raises InvalidRequestError for a value that SQL does not have."""
    if parameters is None:
        return None
    if isinstance(parameters, str | bytes):
        raise InvalidRequestError("the parameters are one text", "pass a list, or a dict by names")
    if isinstance(parameters, Mapping):
        return {str(name): _written(value) for name, value in parameters.items()}
    return [_written(value) for value in parameters]


def _written(value: object) -> object:
    type = _type(value)
    return json_value(value) if type is None else {"type": type, "value": json_value(value)}


def _type(value: Any) -> str | None:
    """The SQL type to send with a value; None if it is a plain literal."""
    for kinds, type in _TYPES:
        if isinstance(value, kinds):
            return type(value) if callable(type) else type
    raise InvalidRequestError(
        f"a value of {value.__class__.__name__} has no form in SQL: {str(value)[:80]!r}"
    )


def _integer(value: int) -> str | None:
    return None if value in _INT64 else _numeric(Decimal(int(value)))


def _numeric(value: Decimal) -> str:
    """The smallest NUMERIC that has the value."""
    if not value.is_finite():
        raise InvalidRequestError(f"NUMERIC has no {value}")
    _, digits, exponent = value.as_tuple()
    scale = max(0, -int(exponent))
    precision = max(len(digits) + max(0, int(exponent)), scale, 1)
    if precision > _MOST_DIGITS:
        raise InvalidRequestError(
            f"a number of {precision} digits does not fit NUMERIC", "pass it as a float"
        )
    return f"NUMERIC({precision}, {scale})"


def _datetime(value: datetime) -> str:
    return "TIMESTAMP" if value.tzinfo is None else "TIMESTAMPTZ"


def _clock(value: time) -> str:
    return "TIME" if value.tzinfo is None else "TIMETZ"


def _array(values: Sequence[Any]) -> str | None:
    """The type of an array. Its elements have one type, or are numbers that a wider one has exactly."""
    types = {_type(value) for value in values if value is not None}
    if types <= {None}:
        return None
    if len(types) == 1:
        return f"{types.pop()}[]"
    numbers = [value for value in values if value is not None]
    if all(isinstance(value, int | Decimal) and not isinstance(value, bool) for value in numbers):
        return f"{_widest(numbers)}[]"
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in numbers):
        return f"{_DOUBLE}[]"
    raise InvalidRequestError(f"the values of a list have different types: {str(values)[:80]}")


def _widest(numbers: Sequence[int | Decimal]) -> str:
    """The smallest NUMERIC that has all the values."""
    parts = [Decimal(number).as_tuple() for number in numbers]
    scale = max(max(0, -int(part.exponent)) for part in parts)
    whole = max(len(part.digits) + int(part.exponent) for part in parts)
    return _numeric(Decimal((0, (1,) * max(1, whole + scale), -scale)))


_TYPES: tuple[tuple[type | tuple[type, ...], Callable[[Any], str | None] | str | None], ...] = (
    (np.generic, lambda value: _type(value.item())),
    (Enum, lambda value: _type(value.value)),
    ((type(None), bool, str), None),
    (int, _integer),
    (float, _DOUBLE),
    (Decimal, _numeric),
    (UUID, "UUID"),
    (datetime, _datetime),
    (date, "DATE"),
    (time, _clock),
    ((timedelta, pa.MonthDayNano), "INTERVAL"),
    ((bytes, bytearray, memoryview), "BYTEA"),
    (Mapping, "JSON"),
    ((list, tuple, np.ndarray), _array),
)
"""The type of each class's values; the first that fits, for a bool is an int, and a datetime a date."""
