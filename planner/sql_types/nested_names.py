"""DuckDB's names of nested types, such as `STRUCT(a INTEGER, "b c" MAP(VARCHAR, DATE))[]`, in parts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_ARRAY = re.compile(r"(.*)\[\d*\]", re.DOTALL)
_NESTED = re.compile(r"(STRUCT|TUPLE|MAP)\((.*)\)", re.DOTALL)
_TOKEN = re.compile(r"""[(),]|"(?:[^"]|"")*"|'(?:[^']|'')*'|[^(),"']+""")
_FIELD = re.compile(r"""\s*("(?:[^"]|"")*"|[^\s"]+)\s+(.*)""", re.DOTALL)


@dataclass(frozen=True)
class NestedName:
    """`kind` is ARRAY, STRUCT, TUPLE or MAP. The parts are names, which only a STRUCT has, and types."""

    kind: str
    parts: tuple[tuple[str, str], ...]


def parsed_nested(name: str) -> NestedName | None:
    """The parts of a type's name; None if it is not that of a nested type."""
    array = _ARRAY.fullmatch(name)
    if array:
        return NestedName("ARRAY", (("", array[1]),))
    nested = _NESTED.fullmatch(name)
    if nested is None:
        return None
    kind, parts = nested[1], (part.strip() for part in _listed(nested[2]))
    return NestedName(
        kind, tuple(map(_field, parts)) if kind == "STRUCT" else tuple(("", part) for part in parts)
    )


def _listed(text: str) -> Iterator[str]:
    """The parts of a list, between the commas that stand in no parentheses and no quotes."""
    part, depth = "", 0
    for token in _TOKEN.findall(text):
        depth += {"(": 1, ")": -1}.get(token, 0)
        if token == "," and not depth:
            yield part
            part = ""
        else:
            part += token
    yield part


def _field(part: str) -> tuple[str, str]:
    found = _FIELD.fullmatch(part)
    if found is None:
        raise ValueError(f"{part} is not a field of a STRUCT")
    name = found[1]
    return (name[1:-1].replace('""', '"') if name.startswith('"') else name), found[2]
