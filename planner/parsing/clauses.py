"""Checks the order of a SELECT's clauses, which sqlglot accepts in any order.

The check reads tokens: a pair of parentheses has the clauses of its own SELECT, and none without a SELECT
(`EXTRACT(year FROM x)`). A set operator, a pipe, RETURNING and ON CONFLICT end a SELECT.
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot.tokens import Token, TokenType

from planner.dialects.traits import Trait, has
from planner.errors import InvalidSyntax

_RANKS = {
    TokenType.SELECT: 0,
    TokenType.FROM: 1,
    TokenType.WHERE: 2,
    TokenType.GROUP_BY: 3,
    TokenType.HAVING: 4,
    TokenType.QUALIFY: 5,
    TokenType.ORDER_BY: 6,
    TokenType.LIMIT: 7,
}
_ENDS = frozenset(
    {TokenType.UNION, TokenType.INTERSECT, TokenType.EXCEPT, TokenType.SEMICOLON}
    | {TokenType.PIPE_GT, TokenType.RETURNING}
)
_BEFORE_NAMES = frozenset({TokenType.DOT, TokenType.ALIAS, TokenType.DISTINCT})
"""Tokens after which a clause's word is a name, or the FROM of IS DISTINCT FROM."""
_HINT = "the order is SELECT, FROM, WHERE, GROUP BY, HAVING, QUALIFY, ORDER BY, LIMIT"


def check_order(tokens: Iterable[Token], dialect: str) -> None:
    """Raise InvalidSyntax, with its place, for a clause that follows one that must come after it."""
    if has(dialect, Trait.CLAUSES_IN_ANY_ORDER):
        return
    last: list[Token | None] = [None]  # the latest clause of the SELECT in each open parenthesis
    before: Token | None = None
    for token in tokens:
        kind = token.token_type
        if kind is TokenType.L_PAREN:
            last.append(None)
        elif kind is TokenType.R_PAREN:
            del last[max(1, len(last) - 1) :]
        elif _ends(token, before):
            last[-1] = None
        elif kind is TokenType.SELECT:
            last[-1] = token
        elif kind in _RANKS and not (before and before.token_type in _BEFORE_NAMES):
            last[-1] = _next(last[-1], token)
        before = token


def _ends(token: Token, before: Token | None) -> bool:
    """Whether a SELECT ends here; `* EXCEPT (a)` does not end it."""
    if token.token_type in _ENDS:
        return before is None or before.token_type is not TokenType.STAR
    conflict = token.text.upper() == "CONFLICT"
    return conflict and before is not None and before.token_type is TokenType.ON


def _next(last: Token | None, clause: Token) -> Token | None:
    """The clause as the latest one, if there is a SELECT."""
    if last is not None and _RANKS[clause.token_type] < _RANKS[last.token_type]:
        raise InvalidSyntax(
            f"{clause.text.upper()} stands after {last.text.upper()}",
            _HINT,
            clause.line,
            clause.col - (clause.end - clause.start),
        )
    return None if last is None else clause
