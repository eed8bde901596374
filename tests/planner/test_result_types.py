"""The types of results: views have those that DuckDB's functions have as a query calls them."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest

from engine.plan.nodes import Source
from engine.schema import (
    BIGINT,
    BOOLEAN,
    BYTEA,
    DATE,
    DOUBLE,
    INTEGER,
    INTERVAL,
    JSON,
    REAL,
    SMALLINT,
    TEXT,
    TIME,
    TIMESTAMP,
    TIMESTAMPTZ,
    UUID,
    Type,
    array_of,
    numeric,
)
from planner import Relation, plan_query
from planner.adhoc.translating import translate
from planner.allowed.open_functions import IN_VIEWS
from planner.errors import PlannerError
from planner.limits import PlanningLimits
from planner.sql_types import duckdb_type, from_duckdb
from tests.planner.samples import schema
from tests.seeds import third

COLUMNS: dict[str, tuple[str, Type]] = {
    "SMALLINT": ("s", SMALLINT),
    "INTEGER": ("i", INTEGER),
    "BIGINT": ("b", BIGINT),
    "DECIMAL": ("n", numeric(10, 2)),
    "FLOAT": ("r", REAL),
    "DOUBLE": ("d", DOUBLE),
    "VARCHAR": ("t", TEXT),
    "BOOLEAN": ("o", BOOLEAN),
    "DATE": ("da", DATE),
    "TIMESTAMP": ("ts", TIMESTAMP),
    "TIMESTAMP WITH TIME ZONE": ("tz", TIMESTAMPTZ),
    "TIME": ("ti", TIME),
    "INTERVAL": ("iv", INTERVAL),
    "BLOB": ("bl", BYTEA),
    "UUID": ("u", UUID),
    "JSON": ("j", JSON),
    "INTEGER[]": ("ai", array_of(INTEGER)),
}
"""A column for each of DuckDB's types."""
OF_ANY = {"ANY": "INTEGER", "T": "INTEGER", "ANY[]": "INTEGER[]", "T[]": "INTEGER[]", "HUGEINT": "BIGINT"}
SCHEMA = schema(**dict(COLUMNS.values()))
RELATIONS = {"r": Relation("r", SCHEMA, Source("r", SCHEMA))}
SUMS = frozenset({"sum", "sum_no_overflow"})
"""Their results are BIGINT in views, and larger in DuckDB."""


def calls(connection: duckdb.DuckDBPyConnection) -> Iterator[tuple[str, str]]:
    """A call of each function that DuckDB has and views may call, for each list of parameters."""
    asked = """
        SELECT DISTINCT function_name, parameter_types::VARCHAR[] FROM duckdb_functions()
        WHERE function_type IN ('scalar', 'aggregate') AND len(parameter_types) < 4 ORDER BY ALL
    """
    for name, types in connection.execute(asked).fetchall():
        wanted = [OF_ANY.get(type, type) for type in types]
        if name in IN_VIEWS and name.isidentifier() and all(type in COLUMNS for type in wanted):
            yield name, f"{name}({', '.join(COLUMNS[type][0] for type in wanted)})"


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        columns = ", ".join(f"{name} {duckdb_type(type)}" for name, type in COLUMNS.values())
        connection.execute(f"SET timezone = 'UTC'; CREATE TABLE r ({columns})")
        yield connection


def adhoc_type(connection: duckdb.DuckDBPyConnection, sql: str, dialect: str) -> str:
    found = translate(sql, dialect, PlanningLimits())
    for statement in found.before:
        connection.execute(statement)
    described = connection.execute(f"DESCRIBE {found.sql}").fetchall()
    return described[0][1]


def test_results_have_the_same_type_in_views_and_in_queries(connection: duckdb.DuckDBPyConnection) -> None:
    others, compared = [], 0
    for name, call in third(list(calls(connection))):
        sql = f"SELECT {call} AS x FROM r"
        try:
            ours = plan_query(sql, RELATIONS, "duckdb").schema.types[0]
        except PlannerError:
            continue
        compared += 1
        found = adhoc_type(connection, sql, "duckdb")
        if name in SUMS and found == "HUGEINT":
            continue
        if from_duckdb(found) != ours:
            others.append(f"{call}: {ours} in a view, {found} in a query")
    assert others == []
    assert compared > 150


@pytest.mark.parametrize("dialect", ["postgres", "duckdb"])
@pytest.mark.parametrize(
    "sql",
    [
        "regr_count(d, d) - CAST(2 AS UINTEGER)",
        "regr_count(d, d) FILTER (WHERE o) - CAST(2 AS UINTEGER)",
        "regr_count(d, d) OVER (PARTITION BY o) - CAST(2 AS UINTEGER)",
        "CAST(array_unique(ai) AS TEXT) || 'x'",
    ],
)
def test_a_count_is_a_bigint_whatever_stands_around_it(
    connection: duckdb.DuckDBPyConnection, sql: str, dialect: str
) -> None:
    sql = f"SELECT {sql} AS x FROM r"
    ours = plan_query(sql, RELATIONS, dialect).schema.types[0]
    assert from_duckdb(adhoc_type(connection, sql, dialect)) == ours
    assert connection.execute(translate(sql, dialect, PlanningLimits()).sql).fetchall() is not None


def test_fewer_than_none_is_below_zero(connection: duckdb.DuckDBPyConnection) -> None:
    found = translate("SELECT regr_count(1, 1) - CAST(2 AS UINTEGER) AS x", "duckdb", PlanningLimits())
    assert connection.execute(found.sql).fetchall() == [(-1,)]
