"""PostgreSQL's paths in documents: lists of names and of numbers from 0, `'{a,1}'` or ARRAY['a', '1'].

'{"a": [1, 2]}'::jsonb #>> '{a,1}'  →  2
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import exp

from planner.native.json_paths import text
from planner.native.templates import is_native, sql
from planner.positions import refuse

_STEPS = "list_transform({1}, lambda step: '/' || replace(replace(step, '~', '~0'), '/', '~1'))"
_PATH = f"array_to_string({_STEPS}, '')"
ALONG = f"{{0}} ARROW {_PATH}"
ALONG_IF_KNOWN = f"CASE WHEN list_count({{1}}) = len({{1}}) THEN {ALONG} END"
_FROM_END = re.compile(r"-[1-9]\d{0,8}")
_ITEM = re.compile(r'\s*(?:"((?:[^"\\\\]|\\\\.)*)"|([^,"{}]*?))\s*(,|$)', re.DOTALL)


def steps_written(path: exp.Expression) -> list[str | None] | None:
    """The steps of a constant path, of which one may be NULL; None for another path. Raises Unsupported for a
    text that spells no steps."""
    given = path.this if isinstance(path, exp.Cast) else path
    if isinstance(given, exp.Array) and all(isinstance(step, exp.Literal) for step in given.expressions):
        return [step.name for step in given.expressions]
    written = given.name.strip() if isinstance(given, exp.Literal) and given.is_string else ""
    if not (written.startswith("{") and written.endswith("}")):
        return None
    inside, at = written[1:-1], 0
    found: list[str | None] = []
    while inside.strip() and at <= len(inside):
        item = _ITEM.match(inside, at)
        if item is None or (not item[1] and not item[2]):
            refuse(path, f"the path '{written}' is not supported", "write it as '{a,1}'")
        is_null = item[1] is None and item[2].lower() == "null"
        found.append(None if is_null else item[2] or re.sub(r"\\(.)", r"\1", item[1]))
        at = item.end() if item[3] else len(inside) + 1
    return found


def pointed(step: str) -> str:
    """A step of a pointer."""
    return "/" + step.replace("~", "~0").replace("/", "~1")


def arrow_of(node: exp.JSONBExtract | exp.JSONBExtractScalar) -> str:
    """DuckDB's operator for `#>`, or for `#>>`."""
    return "->>" if isinstance(node, exp.JSONBExtractScalar) else "->"


def along(steps: Sequence[str], arrow: str) -> str:
    """DuckDB's expression for a document `{0}` along constant steps. Those that count from the end of an
    array are steps of their own: pointers cannot say them."""
    found, pointer = "{0}", ""
    for step in steps:
        if not _FROM_END.fullmatch(step):
            pointer += pointed(step)
            continue
        found = f"({found} -> {text(pointer)})" if pointer else found
        found = f"(CASE json_type({found}) WHEN 'ARRAY' THEN {found} -> {step} ELSE {found} -> '/{step}' END)"
        pointer = ""
    return f"{found} {arrow} {text(pointer or ('' if found == '{0}' else '$'))}"


def steps_from_end(path: exp.Expression) -> list[str] | None:
    """The steps of a constant path, if one of them may count from the end of an array, and none is NULL."""
    steps = steps_written(path) or []
    known = [step for step in steps if step is not None]
    return known if len(known) == len(steps) and any(map(_FROM_END.fullmatch, known)) else None


def path_in_query(node: exp.Expression) -> exp.Expression:
    """`document #> path` in an ad-hoc query; any other node itself."""
    if not isinstance(node, exp.JSONBExtract | exp.JSONBExtractScalar) or is_native(node):
        return node
    arrow, steps = arrow_of(node), steps_written(node.expression)
    if steps is None:
        path = exp.cast(node.expression.copy(), "VARCHAR[]", dialect="duckdb")
        return sql(ALONG_IF_KNOWN.replace("ARROW", arrow), [node.this, path])
    if None in steps:
        return sql(f"{{0}} {arrow} NULL", [node.this])
    return sql(along([step for step in steps if step is not None], arrow), [node.this])
