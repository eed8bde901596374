"""Replacements of regular expressions as Java has them: $1 is a group, where RE2 writes a backslash.

REGEXP_REPLACE('1a 2b', '(\\d)([ab])', '3c$2')   →   regexp_replace('1a 2b', '(\\d)([ab])', '3c\\2', 'g')
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import exp

from planner.native.templates import sql
from planner.positions import refuse

_SIGN = re.compile(r"\\(.)|\$(\d)|\$", re.DOTALL)


def replaced(args: Sequence[exp.Expression]) -> exp.Expression:
    """Every match replaced. Raises Unsupported for a replacement with named groups, or one that is
    computed."""
    text, pattern, replacement = args
    if not isinstance(replacement, exp.Literal) or not replacement.is_string:
        refuse(
            replacement,
            "regexp_replace with a computed replacement is not supported",
            "write the replacement as a text",
        )

    def translated(sign: re.Match[str]) -> str:
        if sign[2]:
            return rf"\{sign[2]}"
        if sign[1] is None:
            refuse(replacement, "this $ in a replacement is not supported", r"write \$ or a group's number")
        return r"\\" if sign[1] == "\\" else sign[1]

    written = exp.Literal.string(_SIGN.sub(translated, replacement.name))
    return sql("regexp_replace({0}, {1}, {2}, 'g')", [text, pattern, written])
