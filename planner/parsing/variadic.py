"""VARIADIC ARRAY[a, b] among the arguments of a call, read as the arguments a, b."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot.tokens import Token

_OPENING, _CLOSING = ("(", "[", "{"), (")", "]", "}")


def without_variadic(tokens: list[Token]) -> list[Token]:
    """The tokens without VARIADIC and the brackets of the array behind it, if nothing follows these."""
    left_out: set[int] = set()
    for place in range(len(tokens)):
        words = [each.text.upper() for each in tokens[place : place + 3]]
        if words[:1] == ["VARIADIC"] and words[1:] == ["ARRAY", "["]:
            end = _end(tokens, place + 2)
            if end is not None and tokens[end + 1 : end + 2] and tokens[end + 1].text == ")":
                left_out |= {place, place + 1, place + 2, end}
    return [token for place, token in enumerate(tokens) if place not in left_out] if left_out else tokens


def _end(tokens: Sequence[Token], start: int) -> int | None:
    """The place of the bracket that closes the one at `start`."""
    depth = 0
    for place in range(start, len(tokens)):
        depth += (tokens[place].text in _OPENING) - (tokens[place].text in _CLOSING)
        if depth == 0:
            return place
    return None
