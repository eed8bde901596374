"""SQL types made of others, in parts: arrays, `STRUCT(a INTEGER, "b c" TEXT)` and `MAP(TEXT, DATE)`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_NESTED = re.compile(r"(STRUCT|MAP)\((.*)\)", re.DOTALL)
_TOKEN = re.compile(r"""[(),]|"(?:[^"]|"")*"|'(?:[^']|'')*'|[^(),"']+""")
_FIELD = re.compile(r"""\s*("(?:[^"]|"")*"|[^\s"]+)\s+(.*)""", re.DOTALL)


class TypeParts(NamedTuple):
    """`kind` is ARRAY, STRUCT or MAP; the parts are types, and those of a STRUCT have names."""

    kind: str
    types: list[str]
    names: list[str]


def parts_of_type(type: str) -> TypeParts | None:
    """The parts of a type; None for one that is not made of others."""
    if type.endswith("[]"):
        return TypeParts("ARRAY", [type[:-2]], [])
    nested = _NESTED.fullmatch(type)
    if nested is None:
        return None
    parts = [part.strip() for part in _listed(nested[2])]
    if nested[1] == "MAP":
        return TypeParts("MAP", parts, [])
    fields = [found for found in map(_FIELD.fullmatch, parts) if found is not None]
    return TypeParts("STRUCT", [field[2] for field in fields], [_name(field[1]) for field in fields])


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


def _name(written: str) -> str:
    return written[1:-1].replace('""', '"') if written.startswith('"') else written
