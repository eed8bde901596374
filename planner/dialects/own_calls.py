"""Calls whose meaning is in the table of their dialect, and nodes that mean something else there.

A table has DuckDB's SQL, the name of an overload (`@reversed_of_any`), or a function that makes the SQL, by
the call: `HAVERSINE(a, b, c, d)` takes four arguments, `OBJECT_PICK(a, ...)` at least one. sqlglot's parsers
know none of these names, so that the call comes with its arguments in their order. A call with another number
of arguments is sqlglot's, or refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial

from sqlglot import exp
from sqlglot.parser import Parser
from sqlglot.tokens import TokenType

from planner.dialects.clickhouse.clickhouse_calls import CLICKHOUSE, clickhouse_node
from planner.dialects.date_tables import FAMILIES
from planner.dialects.dates import functions
from planner.dialects.overloads import PREFIX
from planner.dialects.signatures import Signature, signatures
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
from planner.native.kept_calls import keeping
from planner.native.templates import Args, Made, Meanings, call_of, sql
from planner.positions import refuse

_SYSTEMS: Mapping[str, tuple[Meanings, Callable[[exp.Expression], exp.Expression]]] = {
    **dict.fromkeys(RELATIVES, (POSTGRES, postgres_node)),
    "postgres": (POSTGRES_ALONE, postgres_node),
    "bigquery": (BIGQUERY, bigquery_node),
    "clickhouse": (CLICKHOUSE, clickhouse_node),
    "databricks": (SPARK, spark_node),
    "flink": (FLINK, flink_node),
    "materialize": (MATERIALIZE, materialize_node),
    "mysql": (MYSQL, mysql_node),
    "oracle": (ORACLE, oracle_node),
    "redshift": (REDSHIFT, redshift_node),
    "risingwave": (RISINGWAVE, risingwave_node),
    "snowflake": (SNOWFLAKE, snowflake_node),
    "spark": (SPARK, spark_node),
    "sqlite": (SQLITE, sqlite_node),
    "trino": (TRINO, trino_node),
    "tsql": (TSQL, tsql_node),
}
"""By dialect: the table of its calls, and the rules of its other nodes."""


def keeping_own(base: type[Parser], dialect: str) -> type[Parser]:
    """The dialect's parser, changed to keep the calls of its table as they are written."""
    own = _own(dialect)
    kept = keeping(base, {name: partial(_is_taken, forms) for name, forms in own.items()})
    tokens = base.FUNC_TOKENS | ({TokenType.NCHAR} if "NCHAR" in own else set())
    return type("Parser", (kept,), {"FUNC_TOKENS": tokens})


def _is_taken(forms: Sequence[Signature[str | Made]], args: Args) -> bool:
    return any(form.takes(len(args)) for form in forms)


def own_meaning(node: exp.Expression, dialect: str) -> exp.Expression:
    """The meaning of a node in its dialect's table or rules; the node itself if there is none."""
    if dialect not in _SYSTEMS:
        return node
    of_node = _SYSTEMS[dialect][1]
    forms = _own(dialect).get(node.name.upper(), ()) if isinstance(node, exp.Anonymous) else ()
    if not forms:
        return of_node(node)
    form = next((form for form in forms if form.takes(len(node.expressions))), None)
    if form is None and node.name.upper() in functions(FAMILIES.get(dialect, "")):
        return of_node(node)
    if form is None:
        what = f"{node.name.lower()} with {len(node.expressions)} arguments is not supported in {dialect}"
        refuse(node, what, "; ".join(f"{form} is" for form in forms))
    if not isinstance(form.meaning, str):
        return form.meaning(node.expressions)
    if form.meaning.startswith("@"):
        return call_of(PREFIX + form.meaning[1:], node.expressions, form.name.lower())
    return sql(form.meaning, node.expressions)


@cache
def _own(dialect: str) -> Mapping[str, tuple[Signature[str | Made], ...]]:
    """The calls of the dialect's table by name in upper case."""
    return signatures(_SYSTEMS[dialect][0] if dialect in _SYSTEMS else {})
