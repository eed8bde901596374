"""PostgreSQL's changes of a document at a constant path of names and numbers: `{a,1,b}`.

A number is the place of an array's element, from 0, or from the end if it is negative; of an object it is a
name. Examples are the manual's, https://www.postgresql.org/docs/15/functions-json.html.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sqlglot import exp

from planner.errors import InvalidQuery
from planner.native.document_paths import pointed, steps_written
from planner.native.json_paths import text
from planner.native.templates import Args, whole
from planner.positions import fail, refuse

_DOCUMENT, _NEW = "CAST({0} AS JSON)", "CAST({1} AS JSON)"
_NUMBER = re.compile(r"[+-]?\d{1,9}")
_THERE = "CAST('jsonb_insert of a member that is there: ' || {STEP} AS JSON)"
_NO_PLACE = "CAST('the place of an element is a number, not ' || {STEP} AS JSON)"


@dataclass(frozen=True)
class _Place:
    """A place in a document: SQL for what has it, for that value's elements, and for the document with a list
    in its place. `number` is the last step, if it is one."""

    pointer: str
    parent: str
    around: str
    step: str
    number: int | None

    @property
    def elements(self) -> str:
        return f"json_extract({self.parent}, '$[*]')"

    @property
    def count(self) -> str:
        return f"CAST(json_array_length({self.parent}) AS BIGINT)"

    def with_elements(self, elements: str) -> str:
        return self.around.replace("{ELEMENTS}", f"to_json({elements})")

    def changed(self, of_object: str, of_array: str) -> str:
        """The document, changed by what has the place; as it is if nothing has it."""
        if self.number is None:
            of_array = _NO_PLACE.replace("{STEP}", self.step)
        return (
            f"CASE json_type({self.parent}) WHEN 'OBJECT' THEN {of_object}"
            f" WHEN 'ARRAY' THEN {of_array} ELSE {_DOCUMENT} END"
        )


def replaced(args: Args) -> exp.Expression:
    """jsonb_set('[{"f1":1},2]', '{0,f3}', '[2,3,4]') is [{"f1": 1, "f3": [2, 3, 4]}, 2]."""
    document, path, new, *option = args
    place = _place(path)
    if place is None:
        return whole(_known(_DOCUMENT), document, new)
    creates = _option(option, True)
    of_object = f"json_{'set' if creates else 'replace'}({_DOCUMENT}, {place.pointer}, {_NEW})"
    number = place.number or 0
    at = number + 1 if number >= 0 else f"{place.count} + {number + 1}"
    of_each = f"lambda each, place: CASE WHEN place = {at} THEN {_NEW} ELSE each END"
    there = place.with_elements(f"list_transform({place.elements}, {of_each})")
    more = [place.elements, f"[{_NEW}]"][:: 1 if number >= 0 else -1]
    beyond = place.with_elements(f"list_concat({', '.join(more)})") if creates else _DOCUMENT
    is_there = f"{place.count} > {number}" if number >= 0 else f"{place.count} >= {-number}"
    of_array = f"CASE WHEN {is_there} THEN {there} ELSE {beyond} END"
    return whole(_known(place.changed(of_object, of_array)), document, new)


def inserted(args: Args) -> exp.Expression:
    """jsonb_insert('{"a": [0,1,2]}', '{a, 1}', '"new_value"') is {"a": [0, "new_value", 1, 2]}."""
    document, path, new, *option = args
    place = _place(path)
    if place is None:
        return whole(_known(_DOCUMENT), document, new)
    of_object = (
        f"CASE WHEN json_exists({_DOCUMENT}, {place.pointer}) THEN {_THERE.replace('{STEP}', place.step)}"
        f" ELSE json_set({_DOCUMENT}, {place.pointer}, {_NEW}) END"
    )
    number = (place.number or 0) + int(_option(option, False))
    at = f"{number}" if (place.number or 0) >= 0 else f"{place.count} + {number}"
    cut = f"least(greatest({at}, 0), {place.count})"
    before, after = f"{place.elements}[1:{cut}]", f"{place.elements}[{cut} + 1:]"
    of_array = place.with_elements(f"list_concat(list_concat({before}, [{_NEW}]), {after})")
    return whole(_known(place.changed(of_object, of_array)), document, new)


def without_path(document: exp.Expression, path: exp.Expression) -> exp.Expression:
    """'["a", {"b":1}]'::jsonb #- '{1,b}' is ["a", {}]."""
    place = _place(path)
    if place is None:
        return document
    number = place.number or 0
    at = number + 1 if number >= 0 else f"{place.count} + {number + 1}"
    others = f"list_filter({place.elements}, lambda each, place: place <> {at})"
    of_object = f"json_remove({_DOCUMENT}, {place.pointer})"
    return whole(place.changed(of_object, place.with_elements(others)), document)


def _known(changed: str) -> str:
    """NULL if the new value is NULL."""
    return f"CASE WHEN {{1}} IS NOT NULL THEN {changed} END"


def _option(option: Args, default: bool) -> bool:
    if option and not isinstance(option[0], exp.Boolean):
        refuse(option[0], "an option that is not constant is not supported", "write true or false")
    return bool(option[0].this) if option else default


def _place(path: exp.Expression) -> _Place | None:
    """The place at the end of a path; None for a path without steps."""
    steps = _steps(path)
    if not steps:
        return None
    *before, last = steps
    if any(_NUMBER.fullmatch(step) and int(step) < 0 for step in before):
        hint = "count from the first element, which has the number 0"
        refuse(path, "a negative number in the middle of a path is not supported", hint)
    up = text("".join(map(pointed, before)))
    return _Place(
        text("".join(map(pointed, steps))),
        f"json_extract({_DOCUMENT}, {up})" if before else _DOCUMENT,
        f"json_replace({_DOCUMENT}, {up}, {{ELEMENTS}})" if before else "{ELEMENTS}",
        text(last),
        int(last) if _NUMBER.fullmatch(last) else None,
    )


def _steps(path: exp.Expression) -> list[str]:
    """The steps of `'{a,1}'`, or of ARRAY['a', '1']. Raises Unsupported for another path."""
    written = steps_written(path)
    if written is None:
        hint = "write it as '{a,1}' or as ARRAY['a', '1']"
        refuse(path, "a path that is not constant is not supported", hint)
    steps = [step for step in written if step is not None]
    if len(steps) < len(written):
        fail(InvalidQuery("a step of this path is NULL", 'write "null" in quotes for the name'), path)
    return steps
