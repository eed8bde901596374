"""The alternatives of CASE, COALESCE and their like: one type for all."""

from __future__ import annotations

from collections.abc import Sequence

from engine.schema import TEXT, Kind, Type
from planner.bind.coercion import argument, coerce
from planner.bind.expressions.comparable_sides import check_whole
from planner.dialects.traits import Trait, has
from planner.ir import Expression
from planner.native.reference import type_of
from planner.sql_types import UNTYPED


def alternatives(
    template: str, expressions: Sequence[Expression], dialect: str = ""
) -> tuple[list[Expression], Type]:
    """The alternatives of COALESCE, GREATEST and so on, cast to DuckDB's type for the result, and that type.

    `template` holds `{}` for the list of alternatives. Raises TypeMismatch.
    """
    if _are_mixed(expressions, dialect):
        return [coerce(each, TEXT) for each in expressions], TEXT
    places = ", ".join(f"{{{i}}}" for i in range(len(expressions)))
    type = type_of(template.replace("{}", places), tuple(argument(e) for e in expressions))
    return _as_alternatives(expressions, type, dialect), type


def case_values(values: Sequence[Expression], dialect: str) -> tuple[list[Expression], Type]:
    """The values of a CASE, of which the last is that of ELSE, cast to one type, and that type. Raises
    TypeMismatch."""
    if _are_mixed(values, dialect):
        return [coerce(value, TEXT) for value in values], TEXT
    whens = " ".join(f"WHEN TRUE THEN {{{i}}}" for i in range(len(values) - 1))
    type = type_of(f"CASE {whens} ELSE {{{len(values) - 1}}} END", tuple(argument(v) for v in values))
    return _as_alternatives(values, type, dialect), type


def _are_mixed(values: Sequence[Expression], dialect: str) -> bool:
    """Whether texts stand beside exact numbers where these become texts."""
    types = {value.type for value in values if value.type is not UNTYPED}
    return (
        has(dialect, Trait.MIXED_ARE_TEXTS)
        and TEXT in types
        and all(type == TEXT or type.is_integer or type.kind is Kind.NUMERIC for type in types)
    )


def _as_alternatives(values: Sequence[Expression], type: Type, dialect: str) -> list[Expression]:
    if has(dialect, Trait.KEEPS_KINDS_APART):
        for value in values:
            check_whole(value, type)
    return [coerce(value, type) for value in values]
