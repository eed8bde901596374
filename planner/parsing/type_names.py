"""Named types: where a type stands, the parser reads a name, and goes on with the type that it means.

'sad'::mood            as if 'sad'::ENUM('sad', 'happy') were written
CREATE TABLE t (m mood[])
"""

from __future__ import annotations

from typing import Any

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from planner.parsing.namespace import DEFAULT, Namespace
from planner.parsing.rewritten_text import Replaced
from planner.relation_names import full_name, schema_named

_NO_NAMES = (TokenType.STRING, TokenType.NUMBER)


class TypeNames:
    """A mixin that comes before a parser class among the bases."""

    names: Namespace = DEFAULT
    spelled: tuple[Replaced, ...] = ()
    """What stands for the names that were read, in their order."""

    def _parse_types(self: Any, check_func: bool = False, **more: Any) -> exp.Expr | None:
        if self.names.types and not check_func:  # with it, the place may be that of a value
            self._spell_out()
        return super()._parse_types(check_func=check_func, **more)  # type: ignore[misc, no-any-return]

    def _spell_out(self: Any) -> None:
        """Puts a type's definition into the place of a name that begins here. The tokens before it stay, so
        the parser may still go back to them."""
        begin = self._index
        end = _end_of_name(self._tokens, begin)
        named = self._tokens[begin:end]
        if not named or any(token.token_type in _NO_NAMES for token in named[::2]):
            return
        type = self.names.types.get(_full_name(named[::2], self.names))
        if type is None:
            return
        text, first = str(type), named[0]
        self.spelled = (*self.spelled, (first.start, named[-1].end, text))
        place = (first.line, first.col, first.start, first.end)
        meant = [Token(token.token_type, token.text, *place) for token in self.dialect.tokenize(text)]
        self._tokens = [*self._tokens[:begin], *meant, *self._tokens[end:]]
        self._tokens_size = len(self._tokens)
        self._advance(0)


def _end_of_name(tokens: list[Token], first: int) -> int:
    """The place after a name, which may have a database and a schema before it."""
    end = first + 1
    while end + 1 < len(tokens) and tokens[end].token_type is TokenType.DOT and end - first < 5:
        end += 2
    return end


def _full_name(parts: list[Token], names: Namespace) -> str:
    folded = [t.text if t.token_type == TokenType.IDENTIFIER else t.text.lower() for t in parts]
    *before, name = folded
    schema = schema_named(before)
    return names.meant(name, names.types) if schema is None else full_name(schema, name)
