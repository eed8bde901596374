"""Arrays in expressions: subscripts, slices, and comparisons with each element."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from engine.plan.expressions import Literal, Op
from engine.schema import INTEGER, JSON, TEXT, Kind, array_of
from planner.bind.coercion import argument, cast_of_variant, coerce, default_value
from planner.bind.document_edits import joined
from planner.bind.expressions.operands import bind_arithmetic
from planner.bind.nested_values import field_at, value_at
from planner.bind.scalar_functions import foreign
from planner.dialects.traits import Trait, has
from planner.errors import TypeMismatch
from planner.ir import Expression
from planner.native.reference import type_of
from planner.native.subscripts import FROM_END, first_of
from planner.native.templates import is_native
from planner.positions import fail, refuse
from planner.sql_types import UNTYPED

Bind = Callable[[exp.Expression], Expression]

_ELEMENT = (
    "CASE WHEN {1} NOT BETWEEN 1 AND len({0}) THEN error('a subscript is beyond its array') ELSE {0}[{1}] END"
)
_ELEMENT_OR_DEFAULT = "CASE WHEN abs({1}) NOT BETWEEN 1 AND len({0}) THEN {2} ELSE {0}[{1}] END"
_ELEMENT_FROM_END = _ELEMENT.replace("{1} NOT", "abs({1}) NOT")
_NO_ELEMENT = "CASE WHEN {1} > 0 THEN {0}[{1}] END"
_OF_ARRAYS = "CASE WHEN {0} IS NULL THEN {1} WHEN {1} IS NULL THEN {0} ELSE {0} || {1} END"
_SLICE = ("this", "expression", "step")
_EACH = "list_transform({1}, lambda each: {0} OPERATOR each)"
_UNKNOWN = "WHEN {1} IS NULL OR list_count(EACH) < len(EACH) THEN NULL"
_ANY = f"CASE WHEN list_contains(EACH, true) THEN true {_UNKNOWN} ELSE false END"
_ALL = f"CASE WHEN list_contains(EACH, false) THEN false {_UNKNOWN} ELSE true END"


def subscript(node: exp.Bracket, bind: Bind, dialect: str) -> Expression:
    """`array[i]`, `array[i:j]`, or a part of JSON, a struct or a map. The first element of an array has
    number 1."""
    if len(node.expressions) != 1:
        refuse(node, f"several subscripts at once are not supported: {node.sql(dialect)}")
    value = bind(node.this)
    place = node.expressions[0]
    if isinstance(place, exp.Slice):
        ends = {part: bind(end) for part, end in place.args.items() if end is not None}
        numbers = {part: f"{{{i}}}" for i, part in enumerate(ends, 1)}
        if "step" in numbers and len(numbers) < len(_SLICE):
            refuse(node, "a slice with a step needs both of its ends", "write [1:len(list):2]")
        parts = _SLICE if "step" in numbers else _SLICE[:2]
        between = ":".join(numbers.get(part, "") for part in parts)
        return foreign(f"{{0}}[{between}]", [value, *ends.values()], node, dialect)
    number = bind(place)
    match value.type.kind:
        case Kind.JSON:
            return foreign("{0} -> {1}", [value, number], node, dialect)
        case Kind.STRUCT:
            return field_at(value, number, first_of(node), node, dialect)
        case Kind.MAP:
            return value_at(value, number, node, dialect)
    if not number.type.is_integer:
        fail(TypeMismatch(f"a subscript is a number, not {number.type}"), node)
    is_strict = has(dialect, Trait.SUBSCRIPTS_FAIL) and not node.args.get("safe") and not is_native(node)
    form, given = "{0}[{1}]", [value, _plus(number, 1 - first_of(node))]
    if has(dialect, Trait.ABSENT_IS_DEFAULT) and not is_native(node) and value.type.element is not None:
        default = default_value(value.type.element)
        if default is None:
            refuse(node, f"an element of {value.type} has no default", "use arrayElementOrNull")
        return foreign(_ELEMENT_OR_DEFAULT, [*given, default], node, dialect)
    if is_strict:
        form = _ELEMENT_FROM_END if node.meta.get(FROM_END) else _ELEMENT
    if has(dialect, Trait.NOTHING_BEFORE_ARRAYS) and not is_native(node) and not _is_place(number):
        form = _NO_ELEMENT
    return foreign(form, given, node, dialect)


def _is_place(number: Expression) -> bool:
    """Whether the subscript is a constant that is no number before the first element."""
    return isinstance(number, Literal) and isinstance(number.value, int) and number.value > 0


def _plus(number: Expression, more: int) -> Expression:
    if not number.type.is_integer or not more:
        return number
    if isinstance(number, Literal) and isinstance(number.value, int):
        return Literal(number.value + more, number.type)
    return bind_arithmetic(Op.ADD, number, Literal(more, INTEGER)) or number


def concatenated(left: Expression, right: Expression, node: exp.Expression, dialect: str) -> Expression:
    """`left || right`: texts, bytes, arrays, or an array and an element."""
    sides = [left, right]
    if has(dialect, Trait.JSON_IS_VARIANT):
        sides = [cast_of_variant(side, TEXT) if side.type.kind is Kind.JSON else side for side in sides]
        left, right = sides
    if has(dialect, Trait.NULL_ARRAYS_ADD_NOTHING):
        for side, other in ((left, right), (right, left)):
            if isinstance(side, Literal) and side.value is None and other.type.element is not None:
                return other
        if left.type.element is not None and right.type.element is not None:
            common = type_of("{0} || {1}", (argument(left), argument(right)))
            return foreign(_OF_ARRAYS, [coerce(side, common) for side in sides], node, dialect)
    for i, (side, other) in enumerate(((left, right), (right, left))):
        is_document = side.type.kind is Kind.JSON
        if is_document and has(dialect, Trait.EDITS_DOCUMENTS) and _is_document(other):
            return joined(coerce(left, JSON), coerce(right, JSON), node, dialect)
        if is_document and other.type.kind is Kind.JSON:
            hint = "use json_merge_patch(a, b) to merge the members of two objects"
            refuse(node, f"|| of JSON is not supported: {node.sql(dialect)}", hint)
        if other.type.element is None or side.type.element is not None:
            continue
        if isinstance(side, Literal) and isinstance(side.value, str):
            sides[i] = coerce(side, other.type)
        elif i:
            return foreign("list_append({0}, {1})", [left, right], node, dialect)
        else:
            return foreign("list_prepend({0}, {1})", [left, right], node, dialect)
    if has(dialect, Trait.JOINS_NO_NUMBERS) and not is_native(node) and not any(map(_is_joined, sides)):
        fail(TypeMismatch(f"there is no {left.type} || {right.type}", "cast one of them to TEXT"), node)
    return foreign("{0} || {1}", sides, node, dialect)


def _is_joined(value: Expression) -> bool:
    """Whether the value may be a side of `||` beside anything else."""
    kinds = (Kind.TEXT, Kind.ENUM, Kind.BYTEA, Kind.JSON)
    return value.type is UNTYPED or value.type.kind in kinds or value.type.element is not None


def _is_document(value: Expression) -> bool:
    """Whether the value is JSON, or a literal that has the type of what stands beside it."""
    return value.type.kind is Kind.JSON or (isinstance(value, Literal) and value.type in (TEXT, UNTYPED))


def each(
    op: Op, value: Expression, array: Expression, every: bool, node: exp.Expression, dialect: str
) -> Expression:
    """`value op ANY (array)`; with `every`, ALL. NULL if only a NULL element could decide."""
    if isinstance(array, Literal):
        array = coerce(array, array_of(value.type))
    if array.type.kind is not Kind.ARRAY:
        fail(TypeMismatch(f"ANY and ALL take an array or a query, not {array.type}"), node)
    compared = _EACH.replace("OPERATOR", op.value)
    return foreign((_ALL if every else _ANY).replace("EACH", compared), [value, array], node, dialect)
