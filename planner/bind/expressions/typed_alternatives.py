"""The alternatives of CASE, COALESCE and their like: one type for all."""

from __future__ import annotations

from collections.abc import Sequence

from engine.schema import TEXT, Kind, Type
from planner.bind.coercion import argument, coerce
from planner.bind.expressions.comparable_sides import check_whole, with_all_digits
from planner.bind.expressions.untyped_texts import among
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

    def common(values: Sequence[Expression]) -> Type:
        places = ", ".join(f"{{{i}}}" for i in range(len(values)))
        return _common(template.replace("{}", places), values, dialect)

    expressions = among(expressions, dialect, common)
    type = common(expressions)
    return _as_alternatives(expressions, type, dialect), type


def case_values(values: Sequence[Expression], dialect: str) -> tuple[list[Expression], Type]:
    """The values of a CASE, of which the last is that of ELSE, cast to one type, and that type. Raises
    TypeMismatch."""
    if _are_mixed(values, dialect):
        return [coerce(value, TEXT) for value in values], TEXT

    def common(values: Sequence[Expression]) -> Type:
        whens = " ".join(f"WHEN TRUE THEN {{{i}}}" for i in range(len(values) - 1))
        return _common(
            f"CASE {whens or 'WHEN FALSE THEN NULL'} ELSE {{{len(values) - 1}}} END", values, dialect
        )

    values = among(values, dialect, common)
    type = common(values)
    return _as_alternatives(values, type, dialect), type


def _common(template: str, values: Sequence[Expression], dialect: str) -> Type:
    """DuckDB's type for a template with a place for each value, and in some dialects no digit less than the
    values have."""
    type = type_of(template, tuple(map(argument, values)))
    if type is UNTYPED or not has(dialect, Trait.KEEPS_DIGITS):
        return type
    return with_all_digits(type, [value.type for value in values if value.type is not UNTYPED])


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
