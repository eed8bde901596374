"""SIMILAR TO: the patterns of SQL as regular expressions.

    'abc' SIMILAR TO '%(b|d)%'           →  true
    'a_b' SIMILAR TO 'a$_b' ESCAPE '$'   →  true

A pattern that is not constant has no escapes.
"""

from __future__ import annotations

import re

from sqlglot import exp

from planner.native.templates import sql
from planner.positions import refuse

_WITHOUT_ESCAPES = (
    "regexp_full_match({0}, replace(replace(regexp_replace(regexp_replace(CASE WHEN contains({1}, '\\')"
    " THEN CAST(CAST('escapes in a pattern that is not constant: ' || {1} AS BIGINT) AS VARCHAR)"
    " ELSE {1} END, '([.$])', '\\\\\\1', 'g'), '(^|[^\\[])\\^', '\\1\\\\^', 'g'), '%', '.*'), '_', '.'))"
)


def similar(node: exp.Expression) -> exp.Expression:
    """The test as a match of a regular expression."""
    test, escape = (node.this, node.expression) if isinstance(node, exp.Escape) else (node, None)
    pattern = test.expression
    if escape is not None and not (isinstance(escape, exp.Literal) and len(escape.name) <= 1):
        refuse(node, "an ESCAPE that is not one character is not supported", "write ESCAPE '\\'")
    if not isinstance(pattern, exp.Literal):
        if escape is not None:
            refuse(node, "ESCAPE of a pattern that is not constant is not supported")
        return sql(_WITHOUT_ESCAPES, [test.this, pattern])
    shape = _regular(pattern.name, "\\" if escape is None else escape.name)
    return sql("regexp_full_match({0}, {1})", [test.this, exp.Literal.string(shape)])


def _regular(pattern: str, escape: str) -> str:
    """A pattern as a regular expression. An escaped quote only marks a part of the pattern."""
    signs = {"%": ".*", "_": "."}

    def written(sign: re.Match[str]) -> str:
        if sign[1] is not None:
            return "" if sign[1] == '"' else re.escape(sign[1])
        return sign[2] or signs.get(sign[0]) or f"\\{sign[0]}"

    escaped = rf"{re.escape(escape)}(.)" if escape else "(?!)()"
    return re.sub(rf"{escaped}|(\[\^?\]?[^\]]*\])|[%_.$^]", written, pattern, flags=re.DOTALL)
