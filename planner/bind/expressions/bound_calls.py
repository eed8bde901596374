"""Calls whose form in DuckDB's SQL depends on the types of their arguments."""

from __future__ import annotations

from sqlglot import exp

from engine.plan.expressions import Literal
from engine.schema import INTEGER, TEXT, Kind
from planner.bind.coercion import cast_of_variant
from planner.bind.expressions.binding import Binding
from planner.bind.lists import innermost_elements
from planner.bind.scalar_functions import foreign
from planner.dialects.forms import WAYS_OUT
from planner.dialects.overloads import Overload
from planner.dialects.traits import Trait, has
from planner.errors import TypeMismatch
from planner.ir import Expression
from planner.native.reference import fill_places, literal_text
from planner.native.templates import Whole, called
from planner.positions import fail
from planner.sql_types import UNTYPED


def bind_size(binding: Binding, node: exp.ArraySize, value: Expression) -> Expression:
    """The number of an array's elements or of a map's entries."""
    if value.type.kind is Kind.MAP:
        return foreign("cardinality({0})", [value], node, binding.session.dialect)
    return binding.function(node, {id(node.this): value})


def bind_cardinality(binding: Binding, node: exp.Anonymous, value: Expression) -> Expression:
    """The number of an array's elements, of all dimensions where it has some; or of a map's entries."""
    if value.type.kind is not Kind.MAP and has(binding.session.dialect, Trait.ARRAYS_HAVE_DIMENSIONS):
        value = innermost_elements(value, node, binding.session.dialect)
    return binding.function(node, {id(node.expressions[0]): value})


def bind_whole(binding: Binding, given: Whole, node: exp.Expression) -> Expression:
    """DuckDB's expression for a node that is translated as a whole."""
    args = [binding.bind(arg) for arg in given.args]
    if given.kinds and args[0].type is not UNTYPED and args[0].type.kind not in given.kinds:
        fail(TypeMismatch(f"a value of type {args[0].type} cannot be written or read in this format"), node)
    return foreign(given.template, args, node, binding.session.dialect)


def bind_overloaded(binding: Binding, function: Overload, node: exp.Anonymous) -> Expression:
    """A dialect's function in the form for the type of its first argument, as a DuckDB expression."""
    values, dialect = [binding.bind(argument) for argument in node.expressions], binding.session.dialect
    form = function.form(values[0].type)
    if form is None and has(dialect, Trait.JSON_IS_VARIANT) and values[0].type.kind is Kind.JSON:
        values[0] = cast_of_variant(values[0], TEXT)
        form = function.form(TEXT)
    if form is None:
        known = ", ".join(kind for kind in function.forms if kind != "WHOLE").lower()
        hint = WAYS_OUT.get(function.name, f"cast the argument to one of these types: {known}")
        taken = f"{called(node)} takes no {values[0].type} in {dialect}"
        fail(TypeMismatch(taken, hint), node)
    places = [f"{{{place}}}" for place in range(len(values))]
    written = [
        literal_text(value) if isinstance(value, Literal) and value.type in (TEXT, INTEGER) else place
        for value, place in zip(values[1:], places[1:], strict=True)
    ]
    return foreign(fill_places(form, ["{0}", *written]), values, node, dialect)
