"""Casts, with what they mean in the dialect."""

from __future__ import annotations

from sqlglot import exp

from engine.plan.expressions import Foreign, Literal
from engine.schema import DOUBLE, NESTED, TEXT, Kind, Type, without_names
from planner.bind.coercion import cast_of_variant, coerce, explicit_cast
from planner.bind.expressions.binding import Binding
from planner.bind.expressions.special_numbers import cast_of_special
from planner.bind.scalar_functions import foreign
from planner.dialects.number_beginnings import NUMBER_OF_TEXT, WHOLE_OF_TEXT
from planner.dialects.postgres_values import written_value
from planner.dialects.text_lengths import BYTES_AS_TEXTS
from planner.dialects.traits import Trait, has
from planner.dialects.whole_numbers import WHOLE_TEXT
from planner.ir import Expression
from planner.native.templates import is_native
from planner.sql_types import UNTYPED, data_type


def bind_cast(binding: Binding, node: exp.Cast) -> Expression:
    if node.args.get("format"):
        return binding.function(node)
    type: Type = data_type(node.to, binding.session.dialect)
    value = binding.bind(node.this)
    if value.type.kind in NESTED and not has(binding.session.dialect, Trait.CASTS_STRUCTS_BY_NAME):
        value = coerce(value, without_names(value.type))
    if value.type is UNTYPED:
        value = Literal(None, type)
    elif value.type == type and not isinstance(value, Literal):
        return value
    is_variant = has(binding.session.dialect, Trait.JSON_IS_VARIANT) and not is_native(node)
    if is_variant and Kind.JSON in (value.type.kind, type.kind):
        return cast_of_variant(value, type, isinstance(node, exp.TryCast))
    begins = has(binding.session.dialect, Trait.TEXTS_BEGIN_NUMBERS) and not is_native(node)
    if begins and value.type == TEXT and type.is_numeric:
        number = WHOLE_OF_TEXT if type.is_integer else NUMBER_OF_TEXT
        value = Foreign(number, (value,), TEXT if type.is_integer else DOUBLE)  # type: ignore[arg-type]
    is_fraction = value.type is not UNTYPED and value.type.is_numeric and not value.type.is_integer
    if (
        is_fraction
        and type.is_integer
        and has(binding.session.dialect, Trait.CUTS_FRACTIONS)
        and not is_native(node)
    ):
        value = foreign("trunc({0})", [value], node, binding.session.dialect)
    if (
        value.type == TEXT
        and type.is_integer
        and has(binding.session.dialect, Trait.ROUNDS_NO_TEXTS)
        and not is_native(node)
        and not (isinstance(value, Literal) and "." not in str(value.value))
    ):
        value = Foreign(WHOLE_TEXT, (value,), TEXT)  # type: ignore[arg-type]
    if not is_native(node) and (decoded := _decoded(binding, value, type)) is not None:
        return decoded
    if type == TEXT and not is_native(node) and (form := written_value(value.type, binding.session.dialect)):
        return foreign(form, [value], node, binding.session.dialect)
    if has(binding.session.dialect, Trait.NUMBERS_HAVE_SPECIALS) and not isinstance(node, exp.TryCast):
        special = cast_of_special(value, type, has_digits=bool(node.to.expressions))
        if special is not None:
            return special
    return explicit_cast(value, type, isinstance(node, exp.TryCast))


def _decoded(binding: Binding, value: Expression, type: Type) -> Expression | None:
    """Bytes as a text, or a text as bytes, where the dialect has its own form of them; else None."""
    forms = BYTES_AS_TEXTS.get(binding.session.dialect)
    kinds = (value.type.kind, type.kind)
    if forms is None or set(kinds) != {Kind.TEXT, Kind.BYTEA}:
        return None
    return Foreign(forms[kinds[0] is Kind.TEXT], (value,), type)  # type: ignore[arg-type]
