"""Where a statement calls functions, by its tokens: a name with a parenthesis behind it is not always a call.

Tables, common table expressions, indexes, aliases and columns may have the name of a function.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from sqlglot.tokens import Token, TokenType

from planner.parsing.namespace import Namespace
from planner.relation_names import full_name, schema_named

_BEFORE_ITEM = frozenset({"SELECT", "DISTINCT", "ALL", "RETURNING", ","})
AFTER_ITEM = frozenset(
    {",", ")", ";", "FROM", "WHERE", "GROUP", "GROUP BY", "HAVING", "ORDER", "ORDER BY", "LIMIT", "OFFSET"}
    | {"FETCH", "UNION", "INTERSECT", "EXCEPT", "WINDOW", "QUALIFY", "INTO", "ON"}
)
"""Words after a column of a select list; a semicolon stands for the end."""
_ENDS_LIST = AFTER_ITEM - {",", ")"}
_WITH_FROM = frozenset({"EXTRACT", "OVERLAY", "SUBSTRING", "TRIM"})
"""Functions in whose parentheses FROM is no clause."""
_OF_FROM = frozenset({"FROM", "JOIN", "LATERAL", "APPLY", "USING"})
_BODIES = (["("], ["MATERIALIZED"], ["NOT"])
"""Words after the AS of a common table expression."""
_DEFINES = frozenset({"AS", "EXISTS", "INTO", "REFERENCES", "TABLE", "VIEW"})
"""Words before a name with parentheses that is no call."""


@dataclass(frozen=True)
class FoundCall:
    """Tokens `first` to `last` of a call of what is called `name`; its parenthesis opens at `opens`. It may
    be a whole column of a select list, as far as what stands before it tells, or an item of FROM."""

    first: int
    opens: int
    last: int
    name: str
    is_column: bool = False
    in_from: bool = False


class CallFinder:
    """Finds calls of `functions`, which are full names, in the tokens of a statement or of a part of one."""

    def __init__(self, tokens: Sequence[Token], functions: Collection[str], names: Namespace) -> None:
        self.tokens = tokens
        self.words = [
            "" if t.token_type in (TokenType.IDENTIFIER, TokenType.STRING) else t.text.upper() for t in tokens
        ]
        self._functions = functions
        self._names = names

    def word_after(self, call: FoundCall) -> str:
        """The word behind a call; empty for a quoted name, and a semicolon for the end."""
        return self.words[call.last + 1] if call.last + 1 < len(self.words) else ";"

    def outermost(self) -> Iterator[FoundCall]:
        """The calls that are in no other."""
        lists, froms, clauses = [False], [False], [True]
        after = 0
        for i, word in enumerate(self.words):
            if i < after:
                continue
            call = self._call(i, froms[-1])
            if call is not None:
                before = self.words[i - 1] if i else ""
                in_from = clauses[-1] and (before in _OF_FROM or (froms[-1] and before == ","))
                in_from = in_from and self.words[max(0, i - 2)] != "DISTINCT"  # IS DISTINCT FROM f(x)
                is_column = lists[-1] and before in _BEFORE_ITEM
                yield replace(call, is_column=is_column, in_from=in_from)
                after = call.last + 1
            elif word == "(":
                lists.append(False)
                froms.append(False)
                clauses.append(self.words[i - 1] not in _WITH_FROM)
            elif word == ")" and len(lists) > 1:
                lists.pop()
                froms.pop()
                clauses.pop()
            elif word in ("SELECT", "RETURNING"):
                lists[-1], froms[-1] = True, False
            elif word in _ENDS_LIST:
                lists[-1] = False
                froms[-1] = word == "FROM" or (froms[-1] and word == "ON")

    def _call(self, i: int, in_from: bool) -> FoundCall | None:
        """The call that begins with token `i`, which may stand in a FROM."""
        tokens, words = self.tokens, self.words
        before = words[i - 1] if i else ""
        if tokens[i].token_type in (TokenType.STRING, TokenType.NUMBER) or before in (".", *_DEFINES):
            return None
        if in_from and (before == ")" or tokens[i - 1].token_type in (TokenType.IDENTIFIER, TokenType.VAR)):
            return None  # the alias of a table, with names of its columns
        end = i + 1
        while end + 1 < len(tokens) and words[end] == "." and end - i < 5:
            end += 2
        is_name = tokens[end - 1].token_type in (TokenType.IDENTIFIER, TokenType.VAR)
        if end >= len(tokens) or words[end] != "(" or not is_name:
            return None
        name = self._meant(tokens[i:end:2])
        if name is None:
            return None
        depth = 0
        for last in range(end, len(tokens)):
            depth += {"(": 1, ")": -1}.get(words[last], 0)
            if depth == 0:
                is_cte = (
                    tuple(words[last + 1 : last + 2]) == ("AS",) and words[last + 2 : last + 3] in _BODIES
                )
                return None if is_cte else FoundCall(i, end, last, name)
        return None

    def _meant(self, parts: Sequence[Token]) -> str | None:
        """The full name of the function that a name means."""
        folded = [t.text if t.token_type == TokenType.IDENTIFIER else t.text.lower() for t in parts]
        *before, name = folded
        schema = schema_named(before)
        full = self._names.meant(name, self._functions) if schema is None else full_name(schema, name)
        return full if full in self._functions else None
