"""WITH MUTUALLY RECURSIVE, which sqlglot does not parse.

    WITH MUTUALLY RECURSIVE [(RETURN AT | ERROR AT RECURSION LIMIT n)]
        name (column type, ...) AS (query), ...
    SELECT ...

It becomes a WITH RECURSIVE that has a `Declaration`. The node can be copied, and `canonical_text` writes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlglot import exp
from sqlglot.tokens import TokenType

from engine.plan.nodes import OnLimit
from engine.schema import Type
from planner.sql_types import data_type

_META = "mutually_recursive"
_FORM = "WITH MUTUALLY RECURSIVE [(RETURN AT | ERROR AT RECURSION LIMIT n)] name (column type, ...) AS (...)"


@dataclass(frozen=True)
class Declaration:
    """The limit of rounds, and the declared column types of each name in order."""

    limit: int | None
    on_limit: OnLimit
    types: tuple[tuple[Type, ...], ...]


def declaration_of(with_: exp.With) -> Declaration | None:
    return with_.meta.get(_META)


class MutualRecursion:
    """Parses the clause. A mixin, which comes before a parser class among the bases of a dialect `name`."""

    name: str

    def _parse_with(self: Any, skip_with_token: bool = False) -> exp.With | None:
        if skip_with_token or not self._match_text_seq("WITH", "MUTUALLY", "RECURSIVE"):
            return super()._parse_with(skip_with_token)  # type: ignore[misc]
        limit, on_limit = self._parse_round_limit()
        bindings = self._parse_csv(self._parse_binding)
        with_ = exp.With(expressions=[cte for cte, _ in bindings], recursive=True)
        with_.meta[_META] = Declaration(limit, on_limit, tuple(types for _, types in bindings))
        return with_

    def _parse_round_limit(self: Any) -> tuple[int | None, OnLimit]:
        first = self._curr
        if not self._match(TokenType.L_PAREN):
            return None, OnLimit.ERROR
        on_limit = OnLimit.RETURN if self._match_text_seq("RETURN", "AT") else OnLimit.ERROR
        if on_limit is OnLimit.ERROR:
            self._match_text_seq("ERROR", "AT")
        has_limit = self._match_text_seq("RECURSION", "LIMIT") and self._match(TokenType.NUMBER)
        limit = int(self._prev.text) if has_limit and self._prev.text.isdigit() else 0
        if not limit or not self._match(TokenType.R_PAREN):
            self._refuse("the recursion limit is not valid", first)
        return limit, on_limit

    def _parse_binding(self: Any) -> tuple[exp.CTE, tuple[Type, ...]]:
        name = self._parse_id_var(any_token=False, tokens=self.ID_VAR_TOKENS)
        if name is None:
            self._refuse("a name is expected")
        if not self._match(TokenType.L_PAREN):
            self._refuse("the columns and their types are expected")
        columns = self._parse_csv(self._parse_typed_column)
        self._match_r_paren()
        if not self._match(TokenType.ALIAS):
            self._refuse("AS is expected")
        if not self._match(TokenType.L_PAREN, advance=False):
            self._refuse("a query in parentheses is expected")
        alias = exp.TableAlias(this=name, columns=[column for column, _ in columns])
        query = self._parse_wrapped(self._parse_statement)
        if isinstance(query, exp.Values):
            query = self._values_to_select(query)
        return exp.CTE(this=query, alias=alias), tuple(type for _, type in columns)

    def _parse_typed_column(self: Any) -> tuple[exp.Expr, Type]:
        column = self._parse_id_var(any_token=True)
        first = self._curr
        if column is None or self._match_set((TokenType.COMMA, TokenType.R_PAREN), advance=False):
            self._refuse("the column's type is expected")
        type = self._parse_types(schema=True, allow_identifiers=False)
        if type is None:
            self._refuse(f"{first.text} is not a type", first)
        return column, data_type(type, self.name)

    def _refuse(self: Any, what: str, *at: Any) -> None:
        self.raise_error(f"{what}: {_FORM}", *at)
