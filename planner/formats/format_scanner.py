"""Scanners: formats as sequences of parts, with the common ways in which dialects tell tokens from text.

A part is an element, or literal text. A scanner reads a format from left to right; UnknownToken names the
first unknown token and its offset.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from planner.formats.elements import Element


class UnknownToken(Exception):
    """A token at an offset of the format that its language lacks, or that is not supported."""

    def __init__(self, token: str, offset: int) -> None:
        super().__init__(token)
        self.token = token
        self.offset = offset


@dataclass(frozen=True)
class Part:
    """An element, or text; the format has `token` at `offset`."""

    token: str
    offset: int
    element: Element | None = None
    text: str = ""


Tokens = Mapping[str, Element | None]
"""Elements by token; None for tokens that are known not to be supported."""
Scan = Callable[[str], Iterator[Part]]


def longest(tokens: Mapping[str, object], form: str, start: int) -> str:
    """The longest of the tokens that `form` has at `start`; empty if there is none."""
    for width in range(max(map(len, tokens)), 0, -1):
        if form[start : start + width] in tokens and start + width <= len(form):
            return form[start : start + width]
    return ""


def percents(tokens: Tokens, others: str, short: Mapping[str, str]) -> Scan:
    """Languages whose tokens are a percent sign and the characters after it.

    `short` maps a token to the format that it abbreviates. `others` says what a percent sign before an
    unknown character means: "refused", or "itself" if the character stands for itself.
    """
    known = {**tokens, **dict.fromkeys(short)}

    def scan(form: str) -> Iterator[Part]:
        place = 0
        while place < len(form):
            if form[place] != "%":
                yield Part(form[place], place, text=form[place])
                place += 1
                continue
            token = longest(known, form, place + 1)
            element = known[token] if token else None
            if token in short:
                yield from (replace(part, offset=place) for part in scan(short[token]))
            elif token and element is not None:
                yield Part(f"%{token}", place, element)
            elif token or others == "refused" or place + 1 == len(form):
                raise UnknownToken(form[place : place + 1 + max(1, len(token))], place)
            else:
                token = form[place + 1]
                yield Part(f"%{token}", place, text=token)
            place += 1 + len(token)

    return scan


Letter = Callable[[int], Element | None]
"""The element for a letter repeated a number of times; None if the language lacks it."""


def letters(tokens: Mapping[str, Letter], quotes: str = "'", refused: str = "") -> Scan:
    """Languages whose tokens are one or more of the same letter; other letters are refused.

    Text stands between `quotes`; two quotes mean one. `refused` are signs with an unsupported meaning.
    """

    def scan(form: str) -> Iterator[Part]:
        place = 0
        while place < len(form):
            sign = form[place]
            count = len(form[place:]) - len(form[place:].lstrip(sign))
            if sign in quotes:
                length, words = _quoted(form, place)
                yield Part(form[place : place + length], place, text=words)
                place += length
            elif sign.isascii() and sign.isalpha():
                element = tokens[sign](count) if sign in tokens else None
                if element is None:
                    raise UnknownToken(sign * count, place)
                yield Part(sign * count, place, element)
                place += count
            elif sign in refused:
                raise UnknownToken(sign, place)
            else:
                yield Part(sign, place, text=sign)
                place += 1

    return scan


def _quoted(form: str, start: int) -> tuple[int, str]:
    """The length of the quoted text that begins at `start`, and its content."""
    quote = form[start]
    if form[start + 1 : start + 2] == quote:
        return 2, quote
    words = ""
    place = start + 1
    while place < len(form):
        if form[place] != quote:
            words += form[place]
            place += 1
        elif form[place + 1 : place + 2] == quote:
            words += quote
            place += 2
        else:
            return place + 1 - start, words
    raise UnknownToken(form[start:], start)
