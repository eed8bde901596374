"""The canonical text of a statement: PostgreSQL's, with the explicit recursion, the hints and the PIVOT that
PostgreSQL lacks, and without comments; and the same in DuckDB's SQL."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.generator import Generator
from sqlglot.generators.duckdb import DuckDBGenerator
from sqlglot.generators.postgres import PostgresGenerator

from engine.schema import Type
from planner.parsing.hints import hint_text, priority_of
from planner.parsing.mutually import declaration_of
from planner.parsing.recursion_clauses import clauses_text


class _OwnClauses(Generator):
    """The clauses that are ours. A mixin that comes before a system's generator among the bases."""

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

    def version_sql(self, expression: exp.Version) -> str:
        """A version with two ends has words between them, not a tuple."""
        ends = expression.expression
        if not isinstance(ends, exp.Tuple):
            return super().version_sql(expression).rstrip()
        first, last = (self.sql(end) for end in ends.expressions)
        middle = "TO" if expression.args["kind"] == "FROM" else "AND"
        return f"FOR {expression.name} {expression.args['kind']} {first} {middle} {last}"

    def tomap_sql(self, expression: exp.ToMap) -> str:
        """A map by its keys and values: a key that is no text cannot be the name of a field."""
        entries = expression.this.expressions if isinstance(expression.this, exp.Struct) else []
        if not entries or not all(isinstance(entry, exp.PropertyEQ) for entry in entries):
            return f"MAP {self.sql(expression, 'this')}"
        pairs = (f"{self.sql(entry, 'this')}: {self.sql(entry, 'expression')}" for entry in entries)
        return f"MAP {{{', '.join(pairs)}}}"

    def _binding(self, cte: exp.CTE, types: tuple[Type, ...]) -> str:
        alias = cte.args["alias"]
        columns = ", ".join(
            f"{self.sql(column)} {type}" for column, type in zip(alias.columns, types, strict=True)
        )
        return f"{self.sql(alias.this)}({columns}) AS ({self.sql(cte.this)})"


class _Canonical(_OwnClauses, PostgresGenerator):
    TRANSFORMS = {k: f for k, f in PostgresGenerator.TRANSFORMS.items() if k not in (exp.Pivot, exp.ToMap)}  # noqa: RUF012


class _InDuckDB(_OwnClauses, DuckDBGenerator):
    """DuckDB's SQL with our clauses."""


def sql_text(tree: exp.Expression, copy: bool = True) -> str:
    """The canonical text of a statement. Without a `copy` the tree is changed."""
    generator: Generator = _Canonical(dialect="postgres", comments=False)
    return generator.generate(tree, copy=copy)


def duckdb_text(tree: exp.Expression) -> str:
    """A statement of DuckDB's functions, over several lines."""
    return _InDuckDB(dialect="duckdb", comments=False, pretty=True).generate(tree)
