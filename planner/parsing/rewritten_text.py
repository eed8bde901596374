"""Texts in which parts are replaced, and places in texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Replaced = tuple[int, int, str]
"""The first and the last character of a part that goes, and the text that takes its place."""


@dataclass
class Spelled:
    """What stands in a parser's text for a part that ends with character `last`: the characters from `begin`
    to `end`, and what comes `behind` them."""

    last: int
    begin: int
    end: int
    behind: str = ""


def spliced(text: str, replaced: Sequence[Replaced]) -> str:
    """The text with parts replaced, which are in order."""
    parts, at = [], 0
    for first, last, new in replaced:
        parts += [text[at:first], new]
        at = last + 1
    return "".join([*parts, text[at:]])


def place_of(script: str, offset: int) -> tuple[int, int]:
    """Line and column of a character of the script."""
    return script.count("\n", 0, offset) + 1, offset - script.rfind("\n", 0, offset)
