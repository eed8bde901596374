"""MySQL's functions that change documents, and measure them: JSON_ARRAY_APPEND, JSON_DEPTH.

Examples are the manual's, https://dev.mysql.com/doc/refman/8.4/en/json-functions.html. Paths are constant.
"""

from __future__ import annotations

import re

from sqlglot import exp

from planner.native.templates import Args, Meanings, sql
from planner.positions import refuse

_CELL = re.compile(r"(.*)\[(\d+)\]")
_LAST = re.compile(r"\[last(?: *- *(\d+))?\]")
_RANGE = re.compile(r"(.*)\[(\d+) to (\d+)\]")
_DOCUMENT = "CAST({0} AS JSON)"
_QUOTED = r'"(\\.|[^"\\])*"'
_TEXTS = f"regexp_replace(CAST(CAST({{0}} AS JSON) AS VARCHAR), '{_QUOTED}', 's', 'g')"
_BARE = rf"regexp_replace({_TEXTS}, 's\s*:|[,\s]', ' ', 'g')"
_MARKS = rf"replace(regexp_replace({_BARE}, '[^][}}{{\s]+', '[]', 'g'), ' ', '')"
_STEP = "CAST(CASE WHEN mark IN ('[', '{') THEN 1 ELSE -1 END AS BIGINT)"
_STEPS = f"list_transform(string_split({_MARKS}, ''), lambda mark: {_STEP})"
_DEEPEST = (
    f"list_reduce(list_prepend(CAST(0 AS BIGINT), {_STEPS}), lambda state, step:"
    " (state // 1048576 + step) * 1048576 + greatest(state % 1048576, state // 1048576 + step)) % 1048576"
)
"""The deepest nesting: the state has the depth so far and the greatest one. A scalar counts as brackets."""


def _array(document: str) -> str:
    """A document as an array: a value that is none is its only element."""
    return f"CASE json_type({document}) WHEN 'ARRAY' THEN CAST({document} AS JSON[]) ELSE [{document}] END"


def _appended(args: Args) -> exp.Expression:
    """JSON_ARRAY_APPEND('["a", ["b", "c"], "d"]', '$[1]', 1) is ["a", ["b", "c", 1], "d"]."""
    document = args[0]
    for path, value in _pairs(args, "json_array_append"):
        old = _array(f"json_extract({_DOCUMENT}, {{1}})")
        new = f"to_json(list_append({old}, to_json({{2}})))"
        there = f"json_set({_DOCUMENT}, {{1}}, {new})"
        template = f"CASE WHEN json_exists({_DOCUMENT}, {{1}}) THEN {there} ELSE {_DOCUMENT} END"
        whole = f"to_json(list_append({_array(_DOCUMENT)}, to_json({{2}})))"
        document = sql(whole if path.name == "$" else template, [document, path, value])
    return document


def _inserted(args: Args) -> exp.Expression:
    """JSON_ARRAY_INSERT('["a", {"b": [1, 2]}, [3, 4]]', '$[1]', 'x') is ["a", "x", {"b": [1, 2]}, [3, 4]]."""
    document = args[0]
    for path, value in _pairs(args, "json_array_insert"):
        cell = _CELL.fullmatch(path.name)
        if cell is None:
            hint = "a path ends with the place of an element"
            refuse(path, "this path of json_array_insert is not supported", hint)
        old, place = f"json_extract({_DOCUMENT}, {{1}})", int(cell[2])
        cells = f"CAST({old} AS JSON[])"
        new = (
            f"to_json(list_concat(list_append(list_slice({cells}, 1, {place}), to_json({{2}})),"
            f" list_slice({cells}, {place + 1}, -1)))"
        )
        changed = new if cell[1] == "$" else f"json_set({_DOCUMENT}, {{1}}, {new})"
        template = f"CASE WHEN json_type({old}) = 'ARRAY' THEN {changed} ELSE {_DOCUMENT} END"
        document = sql(template, [document, exp.Literal.string(cell[1]), value])
    return document


def _pairs(args: Args, name: str) -> list[tuple[exp.Expression, exp.Expression]]:
    """The paths and the values behind the document."""
    pairs = list(zip(args[1::2], args[2::2], strict=False))
    if len(args) % 2 == 0 or not all(isinstance(path, exp.Literal) for path, _ in pairs):
        hint = "it takes a document, and pairs of a constant path and a value"
        refuse(args[0], f"these arguments of {name} are not supported", hint)
    return pairs


def extracted(node: exp.JSONExtract) -> exp.Expression | None:
    """JSON_EXTRACT('[1, 2, 3, 4, 5]', '$[last]') is 5, and with '$[1 to 3]' [2, 3, 4]; None for a plain
    path."""
    path = node.expression
    if not isinstance(path, exp.Literal) or not re.search(r"\[last|\d to ", path.name):
        return None
    if ranged := _RANGE.fullmatch(path.name):
        cells = "CAST(json_extract(CAST({0} AS JSON), {1}) AS JSON[])"
        taken = f"to_json(list_slice({cells}, {int(ranged[2]) + 1}, {int(ranged[3]) + 1}))"
        is_array = "json_type(json_extract(CAST({0} AS JSON), {1})) = 'ARRAY'"
        test = (
            f"{is_array} AND json_array_length(json_extract(CAST({{0}} AS JSON), {{1}})) > {int(ranged[2])}"
        )
        return sql(f"CASE WHEN {test} THEN {taken} END", [node.this, exp.Literal.string(ranged[1])])
    counted = _LAST.sub(lambda last: f"[#-{int(last[1] or 0) + 1}]", path.name)
    return sql("json_extract(CAST({0} AS JSON), {1})", [node.this, exp.Literal.string(counted)])


MYSQL_DOCUMENTS: Meanings = {
    "JSON_ARRAY_APPEND(json, path, value, ...)": _appended,
    "JSON_ARRAY_INSERT(json, path, value, ...)": _inserted,
    # JSON_DEPTH('[10, 20]') is 2
    "JSON_DEPTH(json)": f"CASE WHEN {{0}} IS NOT NULL THEN {_DEEPEST} END",
    # JSON_MERGE_PRESERVE('[1, 2]', '[true, false]') is [1, 2, true, false]
    "JSON_MERGE_PRESERVE(a, b)": (
        f"CASE WHEN json_type({_DOCUMENT}) = 'OBJECT' AND json_type(CAST({{1}} AS JSON)) = 'OBJECT'"
        " THEN CAST('objects are not merged: ' || {0} AS JSON) WHEN {0} IS NOT NULL AND {1} IS NOT NULL"
        f" THEN to_json(list_concat({_array(_DOCUMENT)}, {_array('CAST({1} AS JSON)')})) END"
    ),
}
