"""Calls of SQL functions: where one stands, the parser goes on with what stands for it.

SELECT gross(price)     as if (COALESCE((price) * 1.07, ...)) AS gross were written
FROM near(3)            as if (SELECT ...) AS near were
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sqlglot import exp
from sqlglot.tokens import Token, TokenType

from planner.errors import PlannerError
from planner.limits import check_text
from planner.parsing.column_names import NAMED
from planner.parsing.rewritten_text import Spelled
from planner.relation_names import own_name

_NAMES = (TokenType.IDENTIFIER, TokenType.VAR)
_OF_ROWS = ("FROM", "LATERAL", "APPLY")
"""Words after which a query in FROM sees what stands before it, or nothing stands there."""


@dataclass(frozen=True)
class FoundCall:
    """A call in a `text` of the function with the full name `name`, with the tokens between its parentheses.
    It is an item of FROM, or a value. `follows` is the word behind it. It stands in the `bodies` of
    functions."""

    text: str
    dialect: str
    name: str
    arguments: tuple[Token, ...]
    in_from: bool
    follows: str
    bodies: tuple


class KnownFunctions(Protocol):
    """The functions that may be called, by their full names."""

    def __contains__(self, name: str) -> bool: ...

    def replacement(self, call: FoundCall) -> tuple[str, tuple]:
        """The text that stands for a call, and the bodies in which that stands. Raises a PlannerError for a
        wrong call."""

    def are_named(self, text: str) -> bool:
        """Whether a text has the name of one of them."""


class FunctionCalls:
    """A mixin that comes before TypeNames among the bases."""

    _lists_columns = False
    """Whether the next expression is a whole item of a select list."""

    def _parse_unary(self: Any) -> exp.Expr | None:
        self._replace_call(self._index, False)
        return super()._parse_unary()  # type: ignore[misc, no-any-return]

    def _parse_table(self: Any, *args: Any, **kwargs: Any) -> exp.Expr | None:
        if not (kwargs.get("schema") or args[:1] == (True,)):
            self._replace_call(self._index, True)
        return super()._parse_table(*args, **kwargs)  # type: ignore[misc, no-any-return]

    def _parse_lateral(self: Any) -> exp.Lateral | None:
        words = [token.text.upper() for token in self._tokens[self._index : self._index + 2]]
        is_apply = words[1:] == ["APPLY"]
        if is_apply or words[:1] == ["LATERAL"]:
            self._replace_call(self._index + 1 + is_apply, True)
        return super()._parse_lateral()  # type: ignore[misc, no-any-return]

    def _parse_projections(self: Any) -> Any:
        return self._listing(super()._parse_projections)  # type: ignore[misc]

    def _parse_returning(self: Any) -> Any:
        return self._listing(super()._parse_returning)  # type: ignore[misc]

    def _listing(self: Any, parse: Any) -> Any:
        outer, self._lists_columns = self._lists_columns, True
        try:
            return parse()
        finally:
            self._lists_columns = outer

    def _parse_expression(self: Any) -> exp.Expr | None:
        """A call that is a whole column keeps the name that it would have had."""
        is_column, self._lists_columns = self._lists_columns, False
        begin = self._index
        try:
            found = super()._parse_expression()  # type: ignore[misc]
        finally:
            self._lists_columns = is_column
        end, last, first, name = self._called.get(begin, (0, None, 0, ""))
        if not is_column or end != self._index or last is not self._prev:
            return found  # type: ignore[no-any-return]
        self.spelled[first].behind = f" AS {name}"
        self._put(end, end, f"AS {name}", self._prev, ())
        return self._parse_alias(found)  # type: ignore[no-any-return]

    def _replace_call(self: Any, begin: int, in_from: bool) -> None:
        """Puts what stands for a call into its place, if one begins there."""
        functions, tokens = self.names.functions_called, self._tokens
        if functions is None or begin >= len(tokens):
            return
        opens, name = self._name_at(begin, functions)
        own = tokens[opens - 1]
        is_call = opens < len(tokens) and tokens[opens].token_type is TokenType.L_PAREN
        is_name = own.token_type in _NAMES or own.token_type in self.FUNC_TOKENS
        if not is_call or not is_name or name not in functions:
            return
        known = len(self.spelled)
        self._replace_arguments(opens + 1)
        tokens, last = self._tokens, closing(self._tokens, opens)
        if last is None:
            return
        first, dialect = tokens[begin], type(self.dialect).__name__.lower()
        next_token = tokens[last + 1] if last + 1 < len(tokens) else None
        kind = None if next_token is None else next_token.token_type
        follows = "" if next_token is None or kind is TokenType.IDENTIFIER else next_token.text.upper()
        bodies = self._bodies.get(id(first), ())
        call = FoundCall(self.sql, dialect, name, tuple(tokens[opens + 1 : last]), in_from, follows, bodies)
        try:
            text, bodies = functions.replacement(call)
        except PlannerError as error:
            raise error.at(first.line, first.col - (first.end - first.start)) from None
        shown = own_name(name)
        if not in_from and dialect not in NAMED:
            shown = self.sql[first.start : tokens[last].end + 1]
        quoted = exp.to_identifier(shown, quoted=True).sql(dialect)
        if in_from:
            before = tokens[begin - 1].text.upper() if begin else ""
            text = text if before in _OF_ROWS else f"LATERAL {text}"
            if kind is not TokenType.ALIAS and kind not in self.TABLE_ALIAS_TOKENS:
                text += f" AS {quoted}"
        text += "\n" * self.sql.count("\n", first.start, tokens[last].end)
        while len(self.spelled) > known:  # the text has what stands for calls in the arguments
            self.spelled.popitem()
        self._called = {at: called for at, called in self._called.items() if at <= begin < called[0]}
        end, at = self._put(begin, last + 1, text, own, bodies)
        check_text(self.sql)
        self.spelled[first.start] = Spelled(tokens[last].end, at, len(self.sql))
        self._called.setdefault(begin, (end, self._tokens[end - 1], first.start, quoted))

    def _replace_arguments(self: Any, begin: int) -> None:
        """Reads the arguments of a call, so that the calls in them are replaced, and goes back."""
        here = self._index
        self._advance(begin - here)
        self._try_parse(lambda: self._parse_csv(self._parse_lambda))
        self._retreat(here)


def closing(tokens: Sequence[Token], opens: int) -> int | None:
    """The place of the parenthesis that closes one."""
    depth = 0
    for place in range(opens, len(tokens)):
        kind = tokens[place].token_type
        depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
        if depth == 0:
            return place
    return None
