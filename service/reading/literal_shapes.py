"""Shapes of predicates: the text with marks in place of the values that are written in it.

    id = 5 AND name = 'a'    has the shape    id = 0i AND name = 0t

A shape is read off the text without parsing it. So only what is certain is taken for a value: a text in plain
quotes, and a number of a few digits. A text with comments, other quotes or escapes has no shape.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import NamedTuple

Value = int | Decimal | str

_TOKEN = re.compile(
    r"""
      "(?:[^"]|"")*"                                                   # a name in quotes
    | (?P<text>'(?:[^'\\]|'')*')
    | (?P<decimal>(?<![\w.])[0-9]{1,18}\.[0-9]{1,18}(?![\w.]))
    | (?P<whole>(?<![\w.])[0-9]{1,18}(?![\w.]))
    | [^\W\d]\w*                                                       # a word
    """,
    re.VERBOSE,
)
_OTHER = re.compile(r"""['"\\$?]|--|/\*""")
"""What may begin a comment, a text of another kind, or a parameter."""
_PREFIX = re.compile(r"[\w&@'\"]")
"""What makes a text something else if it stands right before it."""


class LiteralShape(NamedTuple):
    """`text` has a mark for each of the `values`, by kind; in the order of the text."""

    text: str
    values: tuple[Value, ...]


def shape_of(text: str) -> LiteralShape:
    """The shape of a predicate; that of one which has none is its text, without values."""
    values: list[Value] = []

    def marked(found: re.Match[str]) -> str:
        kind = found.lastgroup
        if kind is None:
            return found[0]
        start = found.start()
        if kind == "text" and start and _PREFIX.match(text, start - 1):
            raise _NoShape
        values.append(_READ[kind](found[0]))
        return _MARKS[kind]

    if _OTHER.search(_TOKEN.sub(" ", text)):
        return LiteralShape(text, ())
    try:
        return LiteralShape(_TOKEN.sub(marked, text), tuple(values))
    except _NoShape:
        return LiteralShape(text, ())


def probe(text: str) -> tuple[str, tuple[Value, ...]]:
    """A text of the same shape whose values, which are returned, are all different, and none is 0."""
    values: list[Value] = []

    def probed(found: re.Match[str]) -> str:
        kind = found.lastgroup
        if kind is None:
            return found[0]
        written = _PROBES[kind].format(len(values) + 1)
        values.append(_READ[kind](written))
        return written

    return _TOKEN.sub(probed, text), tuple(values)


class _NoShape(Exception):
    """The text has something that only a parser understands."""


_READ: dict[str, Callable[[str], Value]] = {
    "text": lambda written: written[1:-1].replace("''", "'"),
    "decimal": Decimal,
    "whole": int,
}
_MARKS = {"text": "0t", "decimal": "0d", "whole": "0i"}
"""No text without values has these words: a number does not go on with a letter."""
_PROBES = {"text": "'#{}'", "decimal": "70000{}.5", "whole": "80000{}"}
