"""Spans: the stretches of a query's text that an operator comes from.

sqlglot marks the tokens of names, literals and functions. The span of a node reaches from the first mark in
it to the last, and further until its parentheses are closed. A clause's keyword is not part of its span.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import inf
from types import MappingProxyType

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from engine.plan.nodes import Node
from planner.ir.provenance import Part
from planner.positions import tokens_of

_OPENING = {TokenType.L_PAREN: TokenType.R_PAREN, TokenType.L_BRACKET: TokenType.R_BRACKET}
_CLOSING = frozenset(_OPENING.values())


@dataclass(frozen=True, order=True)
class Span:
    """The characters from `start` up to, not including, `end`. They begin at `line` and `column`, both from
    1."""

    start: int
    end: int
    line: int
    column: int


Spans = Mapping[Node, tuple[Span, ...]]
"""Of each node of a plan, the parts of the text that it comes from, in order."""
NO_SPANS: Spans = MappingProxyType({})


def spans_of(parts: Mapping[Node, list[Part]], tree: exp.Expr) -> Spans:
    """The spans of nodes, given the parts of `tree` that they come from."""
    finder = _Finder(tree)
    found = {node: finder.spans(its) for node, its in parts.items()}
    return {node: spans for node, spans in found.items() if spans}


class _Finder:
    def __init__(self, tree: exp.Expr) -> None:
        self._tokens = tokens_of(tree)
        self._places = {token.start: place for place, token in enumerate(self._tokens)}
        self._spans: dict[int, Span | None] = {}

    def spans(self, parts: Iterable[Part]) -> tuple[Span, ...]:
        """The spans of parts, without those that hold another one."""
        found = {span for part in parts if isinstance(part, exp.Expr) and (span := self._span(part))}
        return tuple(reversed(list(_smallest(found))))

    def _span(self, part: exp.Expr) -> Span | None:
        if id(part) not in self._spans:
            self._spans[id(part)] = self._made(part)
        return self._spans[id(part)]

    def _made(self, part: exp.Expr) -> Span | None:
        starts = [node.meta["start"] for node in part.walk() if "start" in node.meta]
        places = [self._places[start] for start in starts if start in self._places]
        if not places:
            return None
        first, last = min(places), self._closed(min(places), max(places))
        token = self._tokens[first]
        column = token.col - (token.end - token.start)
        return Span(token.start, self._tokens[last].end + 1, token.line, column)

    def _closed(self, first: int, last: int) -> int:
        """The place of the token at which the parentheses are closed that are open behind `last`."""
        depth = sum(_step(token) for token in self._tokens[first : last + 1])
        end = last
        following = self._tokens[last + 1 : last + 2]
        if following and following[0].token_type in _OPENING and _calls(self._tokens[last]):
            depth += 1
            end += 1
        while depth > 0 and end + 1 < len(self._tokens):
            end += 1
            depth += _step(self._tokens[end])
        return end


def _calls(token: Token) -> bool:
    """Whether a parenthesis behind the token may belong to it."""
    return token.token_type not in (TokenType.STRING, TokenType.NUMBER)


def _step(token: Token) -> int:
    return (token.token_type in _OPENING) - (token.token_type in _CLOSING)


def _smallest(spans: Collection[Span]) -> Iterator[Span]:
    """The spans that hold no other one, the last first. A span meets those that it may hold before its own
    turn."""
    first_end = inf
    for span in sorted(spans, key=lambda span: (-span.start, span.end)):
        if span.end < first_end:
            yield span
            first_end = span.end
