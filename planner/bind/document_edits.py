"""PostgreSQL's operators that make JSON of JSON: `||` and `-`."""

from __future__ import annotations

from sqlglot import exp

from engine.schema import Kind
from planner.bind.scalar_functions import foreign
from planner.errors import TypeMismatch
from planner.ir import Expression
from planner.native.joined_documents import JOINED, OF_PAIRS, OTHERS, members
from planner.positions import fail

_NOTHING = "CAST('nothing can be removed from ' || CAST({0} AS VARCHAR) AS JSON)"
_IS_PLACE = "place = CASE WHEN {1} < 0 THEN CAST(json_array_length({0}) AS BIGINT) + {1} + 1 ELSE {1} + 1 END"
_WITHOUT_PLACE = (
    "CASE WHEN json_type({0}) = 'ARRAY' THEN CASE WHEN {1} IS NOT NULL THEN"
    f" to_json(list_filter(json_extract({{0}}, '$[*]'), lambda each, place: NOT ({_IS_PLACE}))) END"
    f" WHEN {{0}} IS NOT NULL THEN {_NOTHING} END"
)


def _without(names: str) -> str:
    """A document without the members of these names, or without the texts that are equal to one."""
    kept = OF_PAIRS.replace("PAIRS", members(OTHERS.replace("TAKEN", names), "{0}"))
    is_named = f"json_type(each) = 'VARCHAR' AND list_contains({names}, each ->> '$')"
    others = f"to_json(list_filter(json_extract({{0}}, '$[*]'), lambda each: NOT ({is_named})))"
    return (
        f"CASE WHEN {{1}} IS NULL THEN NULL WHEN json_type({{0}}) = 'OBJECT' THEN {kept}"
        f" WHEN json_type({{0}}) = 'ARRAY' THEN {others} WHEN {{0}} IS NOT NULL THEN {_NOTHING} END"
    )


_WITHOUT_NAME, _WITHOUT_NAMES = _without("[{1}]"), _without("{1}")


def joined(left: Expression, right: Expression, node: exp.Expression, dialect: str) -> Expression:
    """`a || b`: the members of both objects, those of `b` first; or the elements of two arrays, where any
    other value is an array of its own."""
    return foreign(JOINED, [left, right], node, dialect)


def without(document: Expression, part: Expression, node: exp.Expression, dialect: str) -> Expression:
    """`document - part`: without the member or text of that name or of those names, or the element of that
    number."""
    if part.type.is_integer:
        return foreign(_WITHOUT_PLACE, [document, part], node, dialect)
    if part.type.element is None and part.type.kind is not Kind.TEXT:
        fail(TypeMismatch(f"there is no {document.type} - {part.type}"), node)
    form = _WITHOUT_NAME if part.type.element is None else _WITHOUT_NAMES
    return foreign(form, [document, part], node, dialect)
