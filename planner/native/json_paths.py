"""Paths of SQL/JSON, as DuckDB's SQL for the list of the values that they lead to.

A lax path of the standard looks into arrays by itself: `.name` of an array is that of its elements, and `[*]`
of another value is the value. MySQL's paths do so for numbers alone. A lax path may have filters, as in
`$.a[*] ? (@ > 2)`. Ranges and methods are refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import exp

from planner.native.path_predicates import NoPredicate, PredicateReader
from planner.positions import refuse

_HINT = 'supported are $, .name, ."name", .*, [number], [last] and [*], and filters of lax paths'
_FILTER = re.compile(r"\s*\?\s*(?=\()")
_STEP = re.compile(
    r"""\s*(?:\.\s*(?P<name>[^\W\d]\w*)(?!\s*\()|\.\s*"(?P<quoted>(?:[^"\\]|\\.)+)"|(?P<members>\.\s*\*(?!\*))
    |(?P<elements>\[\s*\*\s*\])|\[\s*(?P<number>\d{1,9})\s*\]|\[\s*(?P<last>last)\s*(?:-\s*(?P<back>\d{1,9})\s*)?\])""",
    re.VERBOSE | re.IGNORECASE,
)
_UNWRAPPED = (
    "flatten(list_transform({0}, lambda x: CASE json_type(x) WHEN 'ARRAY' THEN json_extract(x, '$[*]') "
    "ELSE [x] END))"
)
_EACH = "list_filter(list_transform({0}, lambda x: {1}), lambda x: x IS NOT NULL)"
_ALL = "flatten(list_transform({0}, lambda x: json_extract(x, '{1}')))"


@dataclass(frozen=True)
class JsonPath:
    """The steps of a path as the parts of DuckDB's; with `is_lax`, members are looked up in elements too."""

    steps: tuple[str, ...]
    is_lax: bool

    def values(self, document: str, name: str = "x") -> str:
        """The list of the values in a document, which is SQL; of NULL, it is empty. The variables of lambdas
        in it have the given name."""
        found = f"list_filter([{document}], lambda {name}: {name} IS NOT NULL)"
        for step in self.steps:
            found = self._after(step, found, name)
        return found

    def elements(self, document: str, name: str) -> str:
        """The values, and instead of arrays their elements."""
        return _of(name, _UNWRAPPED).replace("{0}", self.values(document, name))

    @property
    def whole(self) -> str:
        """The path in DuckDB's words."""
        return "$" + "".join(self.steps)

    @property
    def is_single(self) -> bool:
        """Whether the path leads to one value at most, where it does not look into arrays."""
        return not any(step.startswith("?") or ("*" in step and '"' not in step) for step in self.steps)

    def _after(self, step: str, found: str, name: str) -> str:
        unwrapped = _of(name, _UNWRAPPED).replace("{0}", found) if self.is_lax else found
        if step.startswith("?"):
            each = step[1:].partition(":")
            return f"list_filter({unwrapped}, lambda {each[0]}: coalesce({each[2]}, false))"
        match step:
            case "[*]":
                return (
                    unwrapped if self.is_lax else _of(name, _ALL).replace("{0}", found).replace("{1}", "$[*]")
                )
            case ".*":
                return _of(name, _ALL).replace("{0}", unwrapped).replace("{1}", "$.*")
        each_of = _of(name, _EACH)
        if not step.startswith("["):
            member_of = f"json_extract({name}, {text('$' + step)})"
            return each_of.replace("{0}", unwrapped).replace("{1}", member_of)
        itself = f"ELSE {name} " if step in ("[0]", "[-1]") else ""
        element = f"CASE json_type({name}) WHEN 'ARRAY' THEN json_extract({name}, '${step}') {itself}END"
        return each_of.replace("{0}", found).replace("{1}", element)


def _of(name: str, template: str) -> str:
    """A template with this name for its variable `x`."""
    return re.sub(r"\bx\b", name, template)


def json_path(node: exp.Expr, is_lax: bool, variables: Mapping[str, object] | None = None) -> JsonPath:
    """The path that a literal spells, whose filters may use variables. Raises Unsupported with its place for
    one that cannot be followed."""
    written = _written(node)
    reader = _Reader(is_lax, variables or {})
    steps, end = reader.steps(written, 1, 0) if written.startswith("$") else ((), -1)
    if end < 0 or written[end:].strip():
        refuse(node, f"the path '{node.name}' is not supported", _HINT)
    return JsonPath(steps, is_lax)


def path_predicate(node: exp.Expr, variables: Mapping[str, object] | None = None) -> str | None:
    """DuckDB's condition for the predicate on the document `{0}` that a literal spells; None if it is a path
    that leads to values. Raises Unsupported for any other text."""
    written = _written(node)
    reader = _Reader(True, variables or {})
    try:
        return reader.predicate(written, 0, 0).whole()
    except NoPredicate:
        json_path(node, True, variables)
        return None


def _written(node: exp.Expr) -> str:
    """The text of a path, without its mode."""
    if not isinstance(node, exp.Literal) or not node.is_string:
        refuse(node, "a path that is not a text in single quotes is not supported", "write '$.a'")
    return re.sub(r"^\s*(?:lax\b)?\s*", "", node.name, flags=re.IGNORECASE)


@dataclass(frozen=True)
class _Reader:
    """Reads steps and filters; `variables` are those that a filter may use."""

    is_lax: bool
    variables: Mapping[str, object]

    def steps(self, written: str, place: int, depth: int) -> tuple[tuple[str, ...], int]:
        """The steps from a place on, and the place behind them."""
        found: list[str] = []
        while place < len(written):
            if self.is_lax and (mark := _FILTER.match(written, place)):
                reader = self.predicate(written, mark.end(), depth)
                try:
                    found.append(f"?x{depth}:{reader.in_parentheses()}")
                except NoPredicate:
                    return (), -1
                place = reader.place
            elif step := _STEP.match(written, place):
                found.append(_step(step))
                place = step.end()
            else:
                break
        return tuple(found), place

    def predicate(self, written: str, place: int, depth: int) -> PredicateReader:
        return PredicateReader(written, place, self._values, self.variables, depth, text)

    def _values(self, written: str, place: int, depth: int) -> tuple[JsonPath, int]:
        steps, end = self.steps(written, place, depth)
        if end < 0:
            raise NoPredicate(written)
        return JsonPath(steps, True), end


def member(name: str) -> str:
    """The step to a member."""
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'."{escaped}"'


def text(value: str) -> str:
    """A literal of DuckDB that a template may have; braces, which are places there, are put together."""
    quoted = "'" + value.replace("'", "''") + "'"
    return quoted if "{" not in quoted and "}" not in quoted else _braced(quoted)


def _braced(quoted: str) -> str:
    parts = re.split(r"([{}])", quoted[1:-1])
    written = (f"chr({ord(part)})" if part in ("{", "}") else f"'{part}'" for part in parts if part)
    return f"({' || '.join(written)})"


def _step(found: re.Match[str]) -> str:
    if found["name"] is not None:
        return member(found["name"])
    if found["quoted"] is not None:
        return member(re.sub(r"\\(.)", r"\1", found["quoted"]))
    if found["members"]:
        return ".*"
    if found["elements"]:
        return "[*]"
    return f"[{int(found['number'])}]" if found["number"] else f"[-{int(found['back'] or 0) + 1}]"
