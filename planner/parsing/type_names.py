"""Named types: where a type stands, the parser reads a name, and goes on with the type that it means.

'sad'::mood            as if 'sad'::ENUM('sad', 'happy') were written
CREATE TABLE t (m mood[])
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from planner.parsing.namespace import DEFAULT, Namespace
from planner.parsing.nesting import check_nesting
from planner.parsing.rewritten_text import Replaced, Spelled, spliced
from planner.parsing.script_tokens import tokens_in
from planner.parsing.whole_literals import with_numerals
from planner.relation_names import full_name, schema_named

_NO_NAMES = (TokenType.STRING, TokenType.NUMBER)


class TypeNames:
    """A mixin that comes before a parser class among the bases."""

    names = DEFAULT
    _called: Mapping[int, tuple] = MappingProxyType({})
    """By the place of a call of a function: its end, its last token, its first character, and its name."""
    spelled: dict[int, Spelled]
    """What was put into the text, by the first character of what it stands for."""

    def know(self: Any, names: Namespace, length: int) -> None:
        """Begins to read a text of so many characters with these names."""
        self._length_of_text = length
        self.names, self.spelled = names, {}
        self._bodies: dict[int, tuple] = {}  # by token: the functions in whose bodies it stands
        self._called = {}

    def meanings(self: Any) -> list[Replaced]:
        """What takes the places of names in the text as it was given, in order."""
        starts = sorted(self.spelled)

        def within(begin: int, end: int) -> Iterator[Replaced]:
            for first in starts[bisect_left(starts, begin) : bisect_left(starts, end)]:
                spelled = self.spelled[first]
                text, at = self.sql[spelled.begin : spelled.end], spelled.begin
                inner = [(a - at, b - at, new) for a, b, new in within(at, spelled.end)]
                yield first, spelled.last, spliced(text, inner) + spelled.behind

        return list(within(0, self._length_of_text))

    def _parse_types(self: Any, check_func: bool = False, **more: Any) -> exp.Expr | None:
        if self.names.types and not check_func:  # with it, the place may be that of a value
            self._spell_out()
        return super()._parse_types(check_func=check_func, **more)  # type: ignore[misc, no-any-return]

    def _spell_out(self: Any) -> None:
        """Puts a type's definition into the place of a name that begins here. The tokens before it stay, so
        the parser may still go back to them."""
        begin = self._index
        if begin >= len(self._tokens) or id(self._tokens[begin]) in self._bodies:
            return
        end, name = self._name_at(begin, self.names.types)
        if name not in self.names.types:
            return
        first, last = self._tokens[begin], self._tokens[end - 1].end
        _, at = self._put(begin, end, str(self.names.types[name]), first, ())
        self.spelled[first.start] = Spelled(last, at, len(self.sql))

    def _name_at(self: Any, begin: int, among: Any) -> tuple[int, str]:
        """The place after a name, which may have a database and a schema before it; and the full name that it
        means, empty for what is no name."""
        tokens, end = self._tokens, begin + 1
        while end + 1 < len(tokens) and tokens[end].token_type is TokenType.DOT and end - begin < 5:
            end += 2
        parts = tokens[begin:end:2]
        if any(part.token_type in _NO_NAMES for part in parts):
            return end, ""
        folded = [t.text if t.token_type is TokenType.IDENTIFIER else t.text.lower() for t in parts]
        schema = schema_named(folded[:-1])
        return end, self.names.meant(folded[-1], among) if schema is None else full_name(schema, folded[-1])

    def _put(self: Any, begin: int, end: int, text: str, at: Token, bodies: tuple) -> tuple[int, int]:
        """Puts a text into the place of tokens. Its lines and columns are those of one token; its characters
        are behind all others of the parser's text. Returns its end among the tokens, and its begin among the
        characters. It stands in the `bodies` of functions."""
        before, column = len(self.sql) + 1, at.col - (at.end - at.start)
        self.sql += f"\n{text}"
        read = with_numerals(tokens_in(text, self.dialect), type(self.dialect).__name__.lower())
        meant = [
            Token(t.token_type, t.text, at.line, column + t.end - t.start, before + t.start, before + t.end)
            for t in read
        ]
        check_nesting(meant)
        self._bodies.update((id(token), bodies) for token in meant)
        self._tokens = [*self._tokens[:begin], *meant, *self._tokens[end:]]
        self._tokens_size = len(self._tokens)
        self._advance(0)
        for place, (stop, *rest) in self._called.items():
            if place <= begin and end <= stop:
                self._called[place] = (stop + len(meant) - (end - begin), *rest)
        return begin + len(meant), before
