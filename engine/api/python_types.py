"""Python's types as the engine's: of columns, and of constants."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from types import NoneType, UnionType
from typing import get_args

from engine.errors import PlanError
from engine.schema import BIGINT, BOOLEAN, DATE, DOUBLE, TEXT, TIMESTAMP, Column, Schema, Type, numeric

_TYPES: dict[type, Type] = {
    bool: BOOLEAN,
    int: BIGINT,
    float: DOUBLE,
    str: TEXT,
    date: DATE,
    datetime: TIMESTAMP,
}


def type_of(given: object) -> tuple[Type, bool]:
    """The engine's type of `int`, `str | None` or a `Type`, and whether it takes None. PlanError for
    others."""
    if isinstance(given, UnionType):
        parts = [part for part in get_args(given) if part is not NoneType]
        if len(parts) == 1:
            return type_of(parts[0])[0], len(get_args(given)) == 2
    if isinstance(given, Type):
        return given, True
    if isinstance(given, type) and given in _TYPES:
        return _TYPES[given], False
    known = ", ".join(kind.__name__ for kind in _TYPES)
    raise PlanError(f"{given!r} is not the type of a column", f"use {known}, one of them | None, or a Type")


def schema_from(columns: Mapping[str, object]) -> Schema:
    """The schema of columns given as name=type."""
    return Schema(tuple(Column(name, *type_of(given)) for name, given in columns.items()))


def literal_type(given: object) -> Type:
    """The type of a constant; PlanError if a row cannot hold it."""
    if isinstance(given, Decimal):
        digits = given.as_tuple()
        scale = max(0, -int(digits.exponent))
        return numeric(max(len(digits.digits), scale, 1), scale)
    found = _TYPES.get(type(given))
    if found is None:
        raise PlanError(f"{given!r} cannot be a value of a row")
    return found
