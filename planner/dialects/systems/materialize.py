"""Materialize's functions that PostgreSQL does not have, or has with another meaning.

Examples are those of its tests, https://github.com/MaterializeInc/materialize/tree/main/test/sqllogictest.
"""

from __future__ import annotations

import re

from sqlglot import exp

from planner.dialects.systems.postgresql import POSTGRES, postgres_node
from planner.native.templates import Meanings
from planner.positions import refuse

_GROUP = re.compile(r"\$(?:\{(\d)\}|(\d)(?!\w)|\$)")
_DONE = "has_groups"

MATERIALIZE: Meanings = {
    **POSTGRES,
    "LIST_APPEND(list, element)": "list_append({0}, {1})",
    "LIST_CAT(a, b)": POSTGRES["ARRAY_CAT(a, b)"],
    # list_length(LIST [1, 1]) is 2, and list_ndims(LIST[[1],[1]]) is 2
    "LIST_LENGTH(list)": "len({0})",
    "LIST_NDIMS(list)": POSTGRES["ARRAY_NDIMS(array)"],
    "LIST_PREPEND(element, list)": "list_prepend({0}, {1})",
    # mz_now() <= ts + INTERVAL '1 day' keeps a row for a day
    "MZ_NOW()": lambda args: exp.CurrentTimestamp(),
}


def materialize_node(node: exp.Expression) -> exp.Expression:
    if isinstance(node, exp.RegexpReplace) and _DONE not in node.meta:
        return _replaced(node)
    return postgres_node(node)


def _replaced(node: exp.RegexpReplace) -> exp.Expression:
    """regexp_replace('foobarbaz', 'b(..)', 'X${1}Y', 'g') is fooXarYXazY."""
    new = node.args.get("replacement")
    if not isinstance(new, exp.Literal):
        refuse(node, "a replacement that is not constant is not supported", "write a text")
    text = new.name.replace("\\", "\\\\")
    if "$" in _GROUP.sub("", text):
        refuse(new, "a group with a name is not supported", "write ${1}, and $$ for the sign")
    found = node.copy()
    found.meta[_DONE] = True
    written = _GROUP.sub(lambda group: f"\\{group[1] or group[2]}" if group[0] != "$$" else "$", text)
    found.set("replacement", exp.Literal.string(written))
    return found
