"""The structure of JSON text without its values: where brackets and commas stand, and how deep.

A parser makes an object of every value, which takes many times the text's bytes. The scanner takes a few
times the bytes of one window, and cuts a text into parts for a parser to take one after another. It also
finds marks in text that is not JSON; the parser reports that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

WINDOW = 1 << 18
"""Bytes that are scanned together."""

_QUOTE, _ESCAPE = ord('"'), ord("\\")
_OPEN, _CLOSE, _COMMA = 1, 2, 3
_KINDS = np.zeros(256, np.uint8)
_KINDS[[ord("["), ord("{")]] = _OPEN
_KINDS[[ord("]"), ord("}")]] = _CLOSE
_KINDS[ord(",")] = _COMMA
_STEPS = np.array([0, 1, -1, 0], np.int64)


@dataclass(frozen=True, eq=False)
class Marks:
    """Brackets and commas outside of strings, in order: their places and depths, int64[n] each.

    A bracket is as deep as what it encloses: the outermost brackets, and the commas in them, have depth 1.
    """

    at: np.ndarray
    depth: np.ndarray
    kind: np.ndarray

    def commas(self, depth: int) -> np.ndarray:
        """The places of the commas of a depth."""
        return self.at[(self.kind == _COMMA) & (self.depth == depth)]

    def opens(self, depth: int) -> np.ndarray:
        """The places of the opening brackets of a depth."""
        return self.at[(self.kind == _OPEN) & (self.depth == depth)]

    def closes(self, depth: int) -> np.ndarray:
        """The places of the closing brackets of a depth."""
        return self.at[(self.kind == _CLOSE) & (self.depth == depth)]


def marks(body: bytes, start: int = 0, stop: int | None = None) -> Iterator[Marks]:
    """The marks of the text `body[start:stop]`, a window at a time."""
    stop = len(body) if stop is None else stop
    inside, escaped, depth = False, False, 0
    for at in range(start, stop, WINDOW):
        window = np.frombuffer(body, np.uint8, min(WINDOW, stop - at), at)
        quotes = window == _QUOTE
        escapes = np.flatnonzero(window == _ESCAPE)
        if escaped or len(escapes):
            escaped = _unquote(quotes, escapes, escaped)
        within = np.bitwise_xor.accumulate(quotes.view(np.uint8))
        if inside:
            within ^= 1
        inside = bool(within[-1])
        kinds = _KINDS[window]
        kinds[within == 1] = 0
        places = np.flatnonzero(kinds)
        found = kinds[places]
        after = depth + np.cumsum(_STEPS[found])
        if len(after):
            depth = int(after[-1])
        yield Marks(places + at, after + (found == _CLOSE), found)


def _unquote(quotes: np.ndarray, escapes: np.ndarray, escaped: bool) -> bool:
    """Removes escaped quotes. Returns whether the first byte after the window is escaped.

    A run of escapes escapes the byte after it if the run's length is odd. `escaped` says so of the window's
    first byte.
    """
    if not len(escapes):
        quotes[0] = False
        return False
    begins = np.flatnonzero(np.diff(escapes, prepend=-2) != 1)
    first = escapes[begins]
    lengths = np.diff(begins, append=len(escapes))
    after = first + lengths
    if escaped and first[0] == 0:
        lengths[0] += 1
    elif escaped:
        quotes[0] = False
    followed = after[lengths % 2 == 1]
    if len(followed) and followed[-1] == len(quotes):
        quotes[followed[:-1]] = False
        return True
    quotes[followed] = False
    return False
