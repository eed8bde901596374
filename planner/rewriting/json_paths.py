"""Paths of SQL/JSON, as DuckDB's SQL for the list of the values that they lead to.

A lax path of the standard looks into arrays by itself: `.name` of an array is that of its elements, and `[*]`
of another value is the value. MySQL's paths do so for numbers alone. Filters, ranges and methods are refused.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sqlglot import exp

from planner.errors import Unsupported
from planner.positions import fail

_HINT = 'supported are $, .name, ."name", .*, [number], [last] and [*]; filter rows in WHERE'
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

    def values(self, document: str) -> str:
        """The list of the values in a document, which is SQL; of NULL, it is empty."""
        found = f"list_filter([{document}], lambda x: x IS NOT NULL)"
        for step in self.steps:
            found = self._after(step, found)
        return found

    @property
    def whole(self) -> str:
        """The path in DuckDB's words."""
        return "$" + "".join(self.steps)

    @property
    def is_single(self) -> bool:
        """Whether the path leads to one value at most, where it does not look into arrays."""
        return not any("*" in step and '"' not in step for step in self.steps)

    def _after(self, step: str, found: str) -> str:
        unwrapped = _UNWRAPPED.replace("{0}", found) if self.is_lax else found
        match step:
            case "[*]":
                return unwrapped if self.is_lax else _ALL.replace("{0}", found).replace("{1}", "$[*]")
            case ".*":
                return _ALL.replace("{0}", unwrapped).replace("{1}", "$.*")
        if not step.startswith("["):
            return _EACH.replace("{0}", unwrapped).replace("{1}", f"json_extract(x, {text('$' + step)})")
        itself = "ELSE x " if step in ("[0]", "[-1]") else ""
        element = f"CASE json_type(x) WHEN 'ARRAY' THEN json_extract(x, '${step}') {itself}END"
        return _EACH.replace("{0}", found).replace("{1}", element)


def json_path(node: exp.Expr, is_lax: bool) -> JsonPath:
    """The path that a literal spells. Raises Unsupported with its place for one that cannot be followed."""
    written = node.name if isinstance(node, exp.Literal) and node.is_string else None
    if written is None:
        fail(Unsupported("a path that is not a text in single quotes is not supported", "write '$.a'"), node)
    rest = re.sub(r"^\s*(?:lax\b)?\s*", "", written, flags=re.IGNORECASE)
    steps: list[str] = []
    place = 1 if rest.startswith("$") else -1
    while 0 <= place < len(rest.rstrip()):
        step = _STEP.match(rest, place)
        steps += [_step(step)] if step else []
        place = step.end() if step else -1
    if place < 0:
        fail(Unsupported(f"the path '{written}' is not supported", _HINT), node)
    return JsonPath(tuple(steps), is_lax)


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
