"""SEARCH, CYCLE and USING KEY of a name of WITH RECURSIVE, kept on the name.

    name AS (query) [SEARCH DEPTH | BREADTH FIRST BY column, ... SET column]
                    [CYCLE column, ... SET column [TO value DEFAULT value] USING column]

    name [(column, ...)] USING KEY (column | aggregate(column), ...) AS (query)

sqlglot reads SEARCH and CYCLE after the last query alone, with one column, and keeps them on the WITH.
It reads no aggregates in USING KEY.
"""

from __future__ import annotations

from typing import Any

from sqlglot import exp
from sqlglot.generator import Generator

CLAUSES = ("search", "cycle")
"""The parts of a CTE that hold the clauses; each lists its columns as the expressions of a Tuple."""


class RecursionClauses:
    """A mixin that comes before a parser class among the bases."""

    def _parse_cte(self: Any) -> exp.Expr | None:
        cte = super()._parse_cte()  # type: ignore[misc]
        if isinstance(cte, exp.CTE):
            for part in CLAUSES:
                cte.set(part, _clause(self, part))
        return cte

    def _parse_wrapped_id_vars(self: Any, *args: Any, **kwargs: Any) -> list[exp.Expr]:
        """The list of USING KEY also has aggregates."""
        words = [token.text.upper() for token in self._tokens[max(0, self._index - 2) : self._index]]
        if words == ["USING", "KEY"]:
            return self._parse_wrapped_csv(self._parse_expression)
        return super()._parse_wrapped_id_vars(*args, **kwargs)  # type: ignore[misc]


def _clause(parser: Any, part: str) -> exp.RecursiveWithSearch | None:
    if not parser._match_text_seq(part.upper()):
        return None
    kind = "CYCLE"
    if part == "search":
        parser._match_texts(("DEPTH", "BREADTH"))
        kind = parser._prev.text.upper()
        if kind == "SEARCH" or not parser._match_text_seq("FIRST", "BY"):
            parser.raise_error("expected DEPTH FIRST BY or BREADTH FIRST BY")
    columns = exp.Tuple(expressions=parser._parse_csv(parser._parse_id_var))
    name = parser._match_text_seq("SET") and parser._parse_id_var()
    if not columns.expressions or not name:
        parser.raise_error("expected columns, SET and a name")
    clause = exp.RecursiveWithSearch(kind=kind, this=columns, expression=name)
    if part == "cycle":
        if parser._match_text_seq("TO"):
            clause.set("to", parser._parse_bitwise())
            if not parser._match_text_seq("DEFAULT"):
                parser.raise_error("expected DEFAULT")
            clause.set("default", parser._parse_bitwise())
        clause.set("using", parser._match_text_seq("USING") and parser._parse_id_var())
        if not clause.args["using"]:
            parser.raise_error("expected USING and a name")
    return clause


def clauses_text(generator: Generator, cte: exp.CTE) -> str:
    """The text of the clauses, to follow that of the CTE."""
    texts = [_text(generator, clause, part) for part in CLAUSES if (clause := cte.args.get(part)) is not None]
    return "".join(f" {text}" for text in texts)


def _text(generator: Generator, clause: exp.RecursiveWithSearch, part: str) -> str:
    columns = ", ".join(map(generator.sql, clause.this.expressions))
    name = generator.sql(clause, "expression")
    if part == "search":
        return f"SEARCH {clause.args['kind']} FIRST BY {columns} SET {name}"
    marks = ""
    if clause.args.get("to") is not None:
        marks = f" TO {generator.sql(clause, 'to')} DEFAULT {generator.sql(clause, 'default')}"
    return f"CYCLE {columns} SET {name}{marks} USING {generator.sql(clause, 'using')}"
