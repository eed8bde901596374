"""sqlglot's parsers, made to tell apart what they would write down alike.

A comma between tables and a JOIN without a condition are the same node to sqlglot, although a comma binds
more weakly; and CROSS APPLY and OUTER APPLY look like commas too. Here a comma alone is a join without any
mark, a JOIN without a condition is a CROSS JOIN where its dialect has that, and an APPLY is the join with a
LATERAL that it means. Joins that stand behind a LATERAL, an UNNEST or VALUES in parentheses, or before a
second ON, which sqlglot refuses or does not write back, are those of a Table around it. Calls with formats
and date functions are kept as they are written (`planner.formats.format_calls` and
`planner.dialects.as_written`).
"""

from __future__ import annotations

from functools import cache
from typing import Any

from sqlglot import Dialect, exp
from sqlglot.parser import Parser
from sqlglot.tokens import Token, TokenType

from planner.dialects.as_written import keeping_dates
from planner.formats import keeping_formats

_UNCONDITIONAL = frozenset(
    {"clickhouse", "databricks", "doris", "hive", "mysql", "singlestore", "snowflake", "spark", "spark2"}
    | {"sqlite", "starrocks"}
)
"""Dialects in which a JOIN needs neither ON nor USING."""
_CONDITIONS = ("on", "using", "method", "match_condition")
"""Parts of a join that say which rows it pairs."""


def trees(text: str, dialect: str) -> list[exp.Expr | None]:
    """The trees of a text in a dialect, statement by statement; raises what sqlglot does."""
    return parser_of(dialect).parse(Dialect.get_or_raise(dialect).tokenize(text), text)


def parser_of(dialect: str) -> Parser:
    """A parser of the dialect's."""
    return _parser_class(dialect)(dialect=Dialect.get_or_raise(dialect))


@cache
def _parser_class(dialect: str) -> type[Parser]:
    base = keeping_formats(Dialect.get_or_raise(dialect).parser_class, dialect)
    base = keeping_dates(base, dialect)
    return type("Parser", (_Joins, base), {})


class _Joins:
    """Joins as they are written; to be put before a parser among a class's bases."""

    def _parse_join(self: Any, *args: Any, **kwargs: Any) -> exp.Join | None:
        start = self._curr
        join = super()._parse_join(*args, **kwargs)  # type: ignore[misc]
        if join is None or start.token_type is TokenType.COMMA:
            return join
        if isinstance(join.this, exp.Lateral) and join.this.args.get("cross_apply") is not None:
            return _applied(join)
        if isinstance(join.this, exp.Unnest) and not any(map(join.args.get, _CONDITIONS)):
            self._parse_late_condition(join)
        if any(is_comma(inner) for inner in join.this.args.get("joins") or ()):
            self.raise_error("a comma stands between a JOIN and its ON", start)
        if not any(map(join.args.get, _CONDITIONS)):
            self._pair_all(join, start)
        join.set("this", _with_joins(join.this))
        return join

    def _parse_late_condition(self: Any, join: exp.Join) -> None:
        """A condition behind more joins, which sqlglot looks for behind every table but an UNNEST."""
        index = self._index
        joins = list(self._parse_joins())
        if joins and self._match(TokenType.ON):
            join.set("on", self._parse_disjunction())
        elif joins and self._match(TokenType.USING):
            join.set("using", self._parse_using_identifiers())
        else:
            self._retreat(index)
            return
        join.this.set("joins", joins)

    def _pair_all(self: Any, join: exp.Join, start: Token) -> None:
        """Say of a join without a condition that it pairs all rows; a syntax error where it may not."""
        if join.kind not in ("", "INNER", "OUTER"):
            return
        makes_rows = isinstance(join.this, exp.Unnest | exp.Lateral)  # of the row that it is joined to
        if not makes_rows and type(self.dialect).__name__.lower() not in _UNCONDITIONAL:
            self.raise_error("a JOIN needs ON or USING", start)
        if join.side:
            join.set("on", exp.true())
        else:
            join.set("kind", "CROSS")

    def _parse_query_modifiers(self: Any, this: exp.Expr | None) -> exp.Expr | None:
        if not isinstance(this, exp.Lateral | exp.Unnest):
            return super()._parse_query_modifiers(this)  # type: ignore[misc]
        table = super()._parse_query_modifiers(exp.Table(this=this))  # type: ignore[misc]
        return table if table.args.get("joins") else this


def _with_joins(item: exp.Expr) -> exp.Expr:
    """The item of FROM, as a Table if it has joins of its own and is no other node that may have some."""
    joins = item.args.get("joins")
    if not joins or isinstance(item, exp.Table | exp.Subquery):
        return item
    item.set("joins", None)
    return exp.Table(this=item, joins=joins)


def is_comma(join: exp.Join) -> bool:
    """Whether the join is written as a comma."""
    return not any(join.args.get(part) for part in ("on", "using", "side", "kind", "method"))


def _applied(join: exp.Join) -> exp.Join:
    """The join that CROSS APPLY or OUTER APPLY is."""
    if join.this.args["cross_apply"]:
        join.set("kind", "CROSS")
    else:
        join.set("side", "LEFT")
        join.set("on", exp.true())
    join.this.set("cross_apply", None)
    return join
