"""WITH MUTUALLY RECURSIVE, which sqlglot does not parse.

    WITH MUTUALLY RECURSIVE [(RETURN AT | ERROR AT RECURSION LIMIT n)]
        name (column type, ...) AS (query), ...
    SELECT ...

`blank_declarations` blanks out, in place, the parts that plain WITH RECURSIVE lacks, so that every other
character keeps its position. `Declaration` keeps the blanked parts, and `mark_declarations` puts it on the
parsed WITH. A marked node can be copied, and `sql_text` writes it back.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from sqlglot import Dialect, exp
from sqlglot.errors import SqlglotError
from sqlglot.generator import Generator
from sqlglot.generators.postgres import PostgresGenerator
from sqlglot.tokens import Token, TokenType

from engine.plan.nodes import OnLimit
from engine.schema import Type
from planner.errors import InvalidSyntax
from planner.parsing.hints import hint_text, priority_of
from planner.parsing.recursion_clauses import clauses_text
from planner.sql_types import data_type

META = "mutually_recursive"
_WORD = re.compile("MUTUALLY", re.IGNORECASE)
_HINT = "WITH MUTUALLY RECURSIVE [(RETURN AT | ERROR AT RECURSION LIMIT n)] name (column type, ...) AS (...)"


@dataclass(frozen=True)
class Declaration:
    """The limit of rounds, and the declared column types of each name in order."""

    limit: int | None
    on_limit: OnLimit
    types: tuple[tuple[Type, ...], ...]


def blank_declarations(sql: str, dialect: str) -> tuple[str, Mapping[int, Declaration]]:
    """`sql` with every MUTUALLY RECURSIVE made plain, and the declarations by the offset of their first
    name."""
    if not _WORD.search(sql):
        return sql, {}
    tokens = Dialect.get_or_raise(dialect).tokenize(sql)
    scanner = _Scanner(tokens, list(sql), dialect)
    declarations: dict[int, Declaration] = {}
    for index in range(len(tokens) - 2):
        words = [token.text.upper() for token in tokens[index : index + 3]]
        if words == ["WITH", "MUTUALLY", "RECURSIVE"]:
            scanner.index = index + 1
            scanner.blank(1)
            scanner.index += 1
            first, declaration = scanner.declaration()
            declarations[first] = declaration
    return "".join(scanner.text), declarations


def mark_declarations(tree: exp.Expression, declarations: Mapping[int, Declaration]) -> None:
    """Attach each declaration to the WITH whose first name stands at its offset."""
    for with_ in tree.find_all(exp.With):
        alias = with_.expressions[0].args["alias"].this
        declaration = declarations.get(alias.meta.get("start", -1))
        if declaration is not None:
            with_.meta[META] = declaration


def declaration_of(with_: exp.With) -> Declaration | None:
    return with_.meta.get(META)


class _Scanner:
    """Reads the parts between MUTUALLY RECURSIVE and the queries, and blanks them in `text`."""

    def __init__(self, tokens: list[Token], text: list[str], dialect: str) -> None:
        self.tokens = tokens
        self.text = text
        self.dialect = dialect
        self.index = 0

    def declaration(self) -> tuple[int, Declaration]:
        limit, on_limit = self._limit()
        first = self._peek().start
        types = [self._binding()]
        while self._at(","):
            self.index += 1
            types.append(self._binding())
        return first, Declaration(limit, on_limit, tuple(types))

    def blank(self, count: int) -> None:
        """Overwrite the next `count` tokens with spaces, keep line breaks, and step over the tokens."""
        for token in self.tokens[self.index : self.index + count]:
            for offset in range(token.start, token.end + 1):
                if self.text[offset] != "\n":
                    self.text[offset] = " "
        self.index += count

    def _limit(self) -> tuple[int | None, OnLimit]:
        if not self._at("("):
            return None, OnLimit.ERROR
        close = self._closing()
        words = [token.text.upper() for token in self.tokens[self.index + 1 : close]]
        on_limit = OnLimit.RETURN if words[:1] == ["RETURN"] else OnLimit.ERROR
        if words[:2] in (["RETURN", "AT"], ["ERROR", "AT"]):
            words = words[2:]
        if (
            len(words) != 3
            or words[:2] != ["RECURSION", "LIMIT"]
            or not words[2].isdigit()
            or int(words[2]) < 1
        ):
            raise self._error("the recursion limit is not valid")
        self.blank(close + 1 - self.index)
        return int(words[2]), on_limit

    def _binding(self) -> tuple[Type, ...]:
        if (
            self._peek().token_type not in (TokenType.VAR, TokenType.IDENTIFIER)
            and not self._peek().text.isidentifier()
        ):
            raise self._error("a name is expected")
        self.index += 1
        if not self._at("("):
            raise self._error("the columns and their types are expected")
        close = self._closing()
        self.index += 1
        types = []
        while self.index < close:
            self.index += 1
            types.append(self._type(close))
            self.index += 1
        self.index = close + 1
        if not self._at("AS"):
            raise self._error("AS is expected")
        self.index += 1
        if not self._at("("):
            raise self._error("a query in parentheses is expected")
        self.index = self._closing() + 1
        return tuple(types)

    def _type(self, close: int) -> Type:
        end, depth = self.index, 0
        while end < close and (depth or self.tokens[end].text != ","):
            depth += {"(": 1, ")": -1}.get(self.tokens[end].text, 0)
            end += 1
        if end == self.index:
            raise self._error("the column's type is expected")
        written = "".join(self.text[self.tokens[self.index].start : self.tokens[end - 1].end + 1])
        try:
            type = data_type(exp.DataType.build(written, dialect=self.dialect), self.dialect)
        except SqlglotError:
            raise self._error(f"{written} is not a type") from None
        self.blank(end - self.index)
        return type

    def _peek(self) -> Token:
        return self.tokens[min(self.index, len(self.tokens) - 1)]

    def _at(self, text: str) -> bool:
        return self.index < len(self.tokens) and self.tokens[self.index].text.upper() == text

    def _closing(self) -> int:
        """The index of the parenthesis that closes the one here."""
        depth = 0
        for index in range(self.index, len(self.tokens)):
            depth += {"(": 1, ")": -1}.get(self.tokens[index].text, 0)
            if depth == 0:
                return index
        raise self._error("the parenthesis is not closed")

    def _error(self, message: str) -> InvalidSyntax:
        token = self._peek()
        return InvalidSyntax(message, _HINT, token.line, token.col - (token.end - token.start))


class _Canonical(PostgresGenerator):
    """PostgreSQL's text, with the explicit recursion, the hints and the PIVOT that PostgreSQL lacks."""

    TRANSFORMS = {k: f for k, f in PostgresGenerator.TRANSFORMS.items() if k is not exp.Pivot}  # noqa: RUF012

    def select_sql(self, expression: exp.Select) -> str:
        priority = priority_of(expression)
        if priority is not None:
            expression.set("hint", exp.Hint(expressions=[priority.copy()]))
        return super().select_sql(expression)

    def hint_sql(self, expression: exp.Hint) -> str:
        return hint_text(self.sql(expression.expressions[0]))

    def cte_sql(self, expression: exp.CTE) -> str:
        return super().cte_sql(expression) + clauses_text(self, expression)

    def with_sql(self, expression: exp.With) -> str:
        declaration = declaration_of(expression)
        if declaration is None:
            return super().with_sql(expression)
        limit = ""
        if declaration.limit is not None:
            limit = f"({declaration.on_limit.value.upper()} AT RECURSION LIMIT {declaration.limit}) "
        bindings = (
            self._binding(cte, types)
            for cte, types in zip(expression.expressions, declaration.types, strict=True)
        )
        return f"WITH MUTUALLY RECURSIVE {limit}{', '.join(bindings)}"

    def _binding(self, cte: exp.CTE, types: tuple[Type, ...]) -> str:
        alias = cte.args["alias"]
        columns = ", ".join(
            f"{self.sql(column)} {type}" for column, type in zip(alias.columns, types, strict=True)
        )
        return f"{self.sql(alias.this)}({columns}) AS ({self.sql(cte.this)})"


def sql_text(tree: exp.Expression, copy: bool = True) -> str:
    """The canonical text of a statement: PostgreSQL's, with explicit recursion and without comments.

    Without a `copy` the tree is changed.
    """
    generator: Generator = _Canonical(dialect="postgres", comments=False)
    return generator.generate(tree, copy=copy)
