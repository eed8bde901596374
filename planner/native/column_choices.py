"""Which columns a condition on their names chooses: patterns, lists and lambdas of `*` and COLUMNS."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase

from sqlglot import exp

from planner.errors import InvalidQuery, PlannerError, UnknownColumn
from planner.native.reference import constant
from planner.positions import fail, refuse
from planner.suggestions import did_you_mean

PATTERNS = (exp.Like, exp.ILike, exp.SimilarTo, exp.Glob)
"""Operators that compare the names of `*` with a pattern."""


def matching(node: exp.Expression, names: Sequence[str]) -> frozenset[str]:
    """The names that match the pattern on the right of the operator."""
    pattern = node.expression
    if not (isinstance(pattern, exp.Literal) and pattern.is_string):
        refuse(pattern, "* LIKE a pattern that is not a constant is not supported")
    test = _test(node, pattern)
    wanted = not node.args.get("negate")
    found = frozenset(name for name in names if test(name) == wanted)
    if not found:
        fail(InvalidQuery(f"no column's name matches {pattern.this!r}"), node)
    return found


def _test(node: exp.Expression, pattern: exp.Literal) -> Callable[[str], bool]:
    if isinstance(node, exp.Glob):
        return lambda name: fnmatchcase(name, pattern.this)
    if isinstance(node, exp.SimilarTo):
        shape, flags = regex(pattern).pattern, re.DOTALL
    else:
        wild = {"%": ".*", "_": "."}
        shape = "".join(wild.get(letter) or re.escape(letter) for letter in pattern.this)
        flags = re.DOTALL | (re.IGNORECASE if isinstance(node, exp.ILike) else 0)
    return lambda name: re.fullmatch(shape, name, flags) is not None


def regex(node: exp.Literal) -> re.Pattern[str]:
    """The regular expression of COLUMNS. Raises InvalidQuery."""
    try:
        return re.compile(node.this)
    except re.error as error:
        fail(InvalidQuery(f"COLUMNS has an invalid pattern: {error}"), node)


def chosen(node: exp.Columns, names: Sequence[str]) -> frozenset[str]:
    """The names that the argument of COLUMNS chooses: a pattern, a list or a lambda."""
    match node.this:
        case exp.Literal(is_string=True) as pattern:
            shape = regex(pattern)
            found = frozenset(name for name in names if shape.search(name))
            what = f"matches {pattern.this!r}"
        case exp.Array(expressions=[*items]) if all(
            isinstance(i, exp.Literal) and i.is_string for i in items
        ):
            return _listed(items, names)
        case exp.Lambda(this=body, expressions=[parameter]):
            found = frozenset(name for name in names if _holds(body, parameter, name))
            what = "meets the condition of COLUMNS"
        case _:
            what = "COLUMNS of anything but *, a pattern, a list of names or a lambda"
            refuse(node, f"{what} is not supported")
    if not found:
        fail(InvalidQuery(f"no column's name {what}"), node)
    return found


def _listed(items: Sequence[exp.Expression], names: Sequence[str]) -> frozenset[str]:
    known = {name.lower(): name for name in names}
    for item in items:
        if item.name.lower() not in known:
            near = did_you_mean(item.name, names)
            fail(UnknownColumn(f'COLUMNS lists "{item.name}", which is no column', near), item)
    return frozenset(known[item.name.lower()] for item in items)


def _holds(body: exp.Expression, parameter: exp.Expression, name: str) -> bool:
    """Whether the lambda's condition is true of the name."""
    condition = exp.Paren(this=body.copy())
    for part in list(condition.find_all(exp.Identifier)):
        if part.name.lower() == parameter.name.lower():
            whole = part.parent if isinstance(part.parent, exp.Column) else part
            whole.replace(exp.Literal.string(name))
    try:
        known, value = constant(f"CAST({condition.sql('duckdb')} AS BOOLEAN)")
    except PlannerError as error:
        fail(error, body)
    if not known:
        hint = "compare the name with constants"
        refuse(body, "this condition of COLUMNS is not supported", hint)
    return value is True


def expanded(alias: str, node: exp.Columns, name: str) -> str:
    """The alias of a column that COLUMNS chooses, with the groups of its pattern in place of \\0, \\1, ..."""
    if "\\" not in alias or not isinstance(node.this, exp.Literal):
        return alias
    match = regex(node.this).search(name)
    groups = [match[0], *match.groups()] if match is not None else []
    return re.sub(
        r"\\(\d)", lambda place: (groups[int(place[1])] or "") if int(place[1]) < len(groups) else "", alias
    )
