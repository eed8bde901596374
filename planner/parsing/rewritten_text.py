"""A text in which parts were replaced, and the places of the rest in the text as it was written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot.tokens import Token

Replaced = tuple[int, int, str]
"""The first and the last character of a part that goes, and the text that takes its place."""


def spliced(text: str, replaced: Sequence[Replaced]) -> str:
    """The text with parts replaced, which are in order."""
    parts, at = [], 0
    for first, last, new in replaced:
        parts += [text[at:first], new]
        at = last + 1
    return "".join([*parts, text[at:]])


@dataclass(frozen=True)
class RewrittenText:
    """`text` was made of `original`. `grown` has, in order, where a part of the text was replaced, and by how
    many characters it has grown."""

    original: str
    text: str
    grown: tuple[tuple[int, int], ...] = ()

    def replacing(self, replaced: Sequence[Replaced]) -> RewrittenText:
        """The text with more parts replaced."""
        if not replaced:
            return self
        new = [(first, len(text) - (last + 1 - first)) for first, last, text in replaced]
        earlier = [(at + sum(n for place, n in new if place < at), by) for at, by in self.grown]
        later, before = [], 0
        for at, by in new:
            later.append((at + before, by))
            before += by
        return RewrittenText(self.original, spliced(self.text, replaced), tuple(sorted([*earlier, *later])))

    def within(self, script: str, start: int) -> RewrittenText:
        """The same for a script that has the original from character `start` on."""
        before, after = script[:start], script[start + len(self.original) :]
        moved = tuple((at + start, by) for at, by in self.grown)
        return RewrittenText(script, f"{before}{self.text}{after}", moved)

    def offset(self, place: int) -> int:
        """The character of the original that stands at a place of the text; the first of a replaced part."""
        return place - sum(min(by, place - at) for at, by in self.grown if at < place)

    def placed(self, token: Token) -> Token:
        """The token of the text with the line and the column that its begin has in the original."""
        if not any(at < token.start for at, _ in self.grown):
            return token
        line, column = place_of(self.original, max(0, self.offset(token.start)))
        column += token.end - token.start
        return Token(token.token_type, token.text, line, column, token.start, token.end, token.comments)


def place_of(script: str, offset: int) -> tuple[int, int]:
    """Line and column of a character of the script."""
    return script.count("\n", 0, offset) + 1, offset - script.rfind("\n", 0, offset)
