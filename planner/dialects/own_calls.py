"""Calls whose meaning is in the table of their dialect, and nodes that mean something else there.

A table has DuckDB's SQL, or a function that makes it, by the call: `HAVERSINE(a, b, c, d)` takes four
arguments, `OBJECT_PICK(a, ...)` at least one. sqlglot's parsers know none of these names, so that the call
comes with its arguments in their order. A call with another number of arguments is sqlglot's, or refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from inspect import signature

from sqlglot import Dialect, exp
from sqlglot.parser import Parser
from sqlglot.tokens import TokenType

from planner.dialects.clickhouse.clickhouse_calls import CLICKHOUSE, clickhouse_node
from planner.dialects.date_tables import FAMILIES
from planner.dialects.dates import functions
from planner.dialects.systems.bigquery import BIGQUERY, bigquery_node
from planner.dialects.systems.flink import FLINK, flink_node
from planner.dialects.systems.materialize import MATERIALIZE, materialize_node
from planner.dialects.systems.mysql import MYSQL, mysql_node
from planner.dialects.systems.oracle_calls import ORACLE, oracle_node
from planner.dialects.systems.postgresql import POSTGRES, POSTGRES_ALONE, RELATIVES, postgres_node
from planner.dialects.systems.redshift import REDSHIFT, redshift_node
from planner.dialects.systems.risingwave import RISINGWAVE, risingwave_node
from planner.dialects.systems.snowflake import SNOWFLAKE, snowflake_node
from planner.dialects.systems.spark import SPARK, spark_node
from planner.dialects.systems.sqlite import SQLITE, sqlite_node
from planner.dialects.systems.trino import TRINO, trino_node
from planner.dialects.systems.tsql import TSQL, tsql_node
from planner.errors import Unsupported
from planner.native.templates import sql
from planner.positions import fail

Args = Sequence[exp.Expression]
Builder = Callable[..., exp.Expression]
Meaning = str | Callable[[Args], exp.Expression]

_TABLES: Mapping[str, Mapping[str, Meaning]] = {
    "bigquery": BIGQUERY,
    "clickhouse": CLICKHOUSE,
    **dict.fromkeys(RELATIVES, POSTGRES),
    "postgres": POSTGRES_ALONE,
    "materialize": MATERIALIZE,
    "risingwave": RISINGWAVE,
    "databricks": SPARK,
    "flink": FLINK,
    "mysql": MYSQL,
    "oracle": ORACLE,
    "redshift": REDSHIFT,
    "snowflake": SNOWFLAKE,
    "spark": SPARK,
    "sqlite": SQLITE,
    "trino": TRINO,
    "tsql": TSQL,
}
_NODES: Mapping[str, Callable[[exp.Expression], exp.Expression]] = {
    "bigquery": bigquery_node,
    "clickhouse": clickhouse_node,
    **dict.fromkeys(RELATIVES, postgres_node),
    "materialize": materialize_node,
    "risingwave": risingwave_node,
    "databricks": spark_node,
    "flink": flink_node,
    "mysql": mysql_node,
    "oracle": oracle_node,
    "redshift": redshift_node,
    "snowflake": snowflake_node,
    "spark": spark_node,
    "sqlite": sqlite_node,
    "trino": trino_node,
    "tsql": tsql_node,
}


@dataclass(frozen=True)
class _Own:
    """A call of a table, with the least number of its arguments, and the most; None if there is no most."""

    written: str
    least: int
    most: int | None
    meaning: Meaning

    def takes(self, count: int) -> bool:
        return self.least <= count and (self.most is None or count <= self.most)


def keeping_own(base: type[Parser], dialect: str) -> type[Parser]:
    """The dialect's parser, changed to keep the calls of its table as they are written."""
    names = _own(dialect)
    functions = {
        **base.FUNCTIONS,
        **{name: _kept(name, names[name], base.FUNCTIONS.get(name)) for name in names},
    }
    parsers = {name: parse for name, parse in base.FUNCTION_PARSERS.items() if name not in names}
    tokens = base.FUNC_TOKENS | ({TokenType.NCHAR} if "NCHAR" in names else set())
    return type(
        "Parser", (base,), {"FUNCTIONS": functions, "FUNCTION_PARSERS": parsers, "FUNC_TOKENS": tokens}
    )


def _kept(name: str, forms: Sequence[_Own], build_known: Builder | None) -> Builder:
    """A builder that makes a plain call for the numbers of arguments of these forms, and sqlglot's node for
    others."""

    def build(args: list, dialect: Dialect) -> exp.Expression:
        if build_known is None or any(form.takes(len(args)) for form in forms):
            return exp.Anonymous(this=name, expressions=args)
        if "dialect" in signature(build_known).parameters:
            return build_known(args, dialect=dialect)
        return build_known(args)

    return build


def own_meaning(node: exp.Expression, dialect: str) -> exp.Expression:
    """The meaning of a node in its dialect's table or rules; the node itself if there is none."""
    if dialect not in _TABLES:
        return node
    forms = _own(dialect).get(node.name.upper(), ()) if isinstance(node, exp.Anonymous) else ()
    if not forms:
        return _NODES[dialect](node)
    form = next((form for form in forms if form.takes(len(node.expressions))), None)
    if form is None and node.name.upper() in functions(FAMILIES.get(dialect, "")):
        return _NODES[dialect](node)
    if form is None:
        what = f"{node.name.lower()} with {len(node.expressions)} arguments is not supported in {dialect}"
        fail(Unsupported(what, "; ".join(f"{form.written.lower()} is" for form in forms)), node)
    if isinstance(form.meaning, str):
        return sql(form.meaning, node.expressions)
    return form.meaning(node.expressions)


@cache
def _own(dialect: str) -> Mapping[str, tuple[_Own, ...]]:
    """The calls of the dialect's table by name in upper case."""
    found: dict[str, tuple[_Own, ...]] = {}
    for written, meaning in _TABLES.get(dialect, {}).items():
        name, _, rest = written.removesuffix(")").partition("(")
        places = [place.strip() for place in rest.split(",") if place.strip()]
        is_open = "..." in places
        count = len(places) - is_open
        form = _Own(written, count, None if is_open else count, meaning)
        found[name] = (*found.get(name, ()), form)
    return found
