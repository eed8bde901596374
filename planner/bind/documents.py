"""PostgreSQL's JSON operators in DuckDB's functions: `#>`, `#>>`, `@>` and `<@`.

The right side of `@>` is a constant; its test is written out member by member.
"""

from __future__ import annotations

from collections.abc import Callable

import orjson
from sqlglot import exp

from engine.plan.expressions import Foreign, Literal
from engine.schema import BOOLEAN, TEXT, Kind, array_of
from planner.bind.coercion import coerce
from planner.bind.scalar_functions import foreign
from planner.errors import TypeMismatch
from planner.ir import Expression
from planner.native.document_paths import ALONG, ALONG_IF_KNOWN, along, arrow_of, steps_from_end
from planner.positions import fail, refuse

Bind = Callable[[exp.Expression], Expression]


def along_path(node: exp.JSONBExtract | exp.JSONBExtractScalar, bind: Bind, dialect: str) -> Expression:
    """`document #> path`, or `#>>` for text; the path is an array of names and of numbers from 0."""
    steps = steps_from_end(node.expression)
    if steps is not None:
        return foreign(along(steps, arrow_of(node)), [bind(node.this)], node, dialect)
    path = coerce(bind(node.expression), array_of(TEXT))
    is_known = isinstance(path, Literal) and "null" not in str(path.value).lower()
    template = (ALONG if is_known else ALONG_IF_KNOWN).replace("ARROW", arrow_of(node))
    return foreign(template, [bind(node.this), path], node, dialect)


def contains(document: Expression, part: Expression, node: exp.Expression, dialect: str) -> Foreign:
    """`document @> part`: whether the document contains `part`, member by member."""
    if not isinstance(part, Literal) or not isinstance(part.value, str):
        refuse(
            node,
            f"a search for JSON that is not a constant is not supported: {node.sql(dialect)}",
            "compare the results of -> and ->>",
        )
    try:
        value = orjson.loads(part.value)
    except orjson.JSONDecodeError as error:
        fail(TypeMismatch(f"'{part.value}' is not a value of type {Kind.JSON.value}: {error}"), node)
    arguments: list[Expression] = [document]
    test = _test("{0}", value, arguments, 0)
    if not isinstance(value, dict | list):
        # Only at the top level may an array contain a value that is not an array.
        test = f"{test} OR {_some('{0}', value, arguments, 0)}"
    template = f"CASE WHEN {{0}} IS NOT NULL THEN coalesce({test}, false) END"
    return Foreign(template, tuple(arguments), BOOLEAN)  # type: ignore[arg-type]


def _test(json: str, value: object, arguments: list[Expression], depth: int) -> str:
    """SQL that tests whether a document contains a value; texts become arguments."""
    match value:
        case dict():
            tests = [f"json_type({json}) = 'OBJECT'"]
            for name, member in value.items():
                key = "/" + name.replace("~", "~0").replace("/", "~1")
                tests.append(
                    _test(f"json_extract({json}, {_text(key, arguments)})", member, arguments, depth)
                )
        case list():
            tests = [f"json_type({json}) = 'ARRAY'"]
            tests += [_some(json, element, arguments, depth) for element in value]
        case int() | float() if not isinstance(value, bool):
            number = f"json_type({json}) IN ('BIGINT', 'UBIGINT', 'DOUBLE')"
            return f"({number} AND TRY_CAST({json} AS DOUBLE) = {float(value)!r})"
        case _:
            return f"CAST({json} AS VARCHAR) = {_text(orjson.dumps(value).decode(), arguments)}"
    return f"({' AND '.join(tests)})"


def _some(json: str, value: object, arguments: list[Expression], depth: int) -> str:
    """SQL that tests whether an element of an array contains a value."""
    variable = f"element{depth}"
    test = f"coalesce({_test(variable, value, arguments, depth + 1)}, false)"
    elements = f"CAST(CASE json_type({json}) WHEN 'ARRAY' THEN json_extract({json}, '$[*]') END AS JSON[])"
    return f"list_contains(list_transform({elements}, lambda {variable}: {test}), true)"


def _text(text: str, arguments: list[Expression]) -> str:
    """The place of a text among the arguments."""
    arguments.append(Literal(text, TEXT))
    return f"{{{len(arguments) - 1}}}"
