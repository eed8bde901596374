"""What refusals of types, constants and functions say to write instead."""

from __future__ import annotations

import pytest

from planner.errors import PlannerError
from tests.planner.samples import planned


@pytest.mark.parametrize(
    ("dialect", "sql", "hint"),
    [
        ("postgres", "SELECT a::money FROM t", "write DECIMAL(19, 4)"),
        ("tsql", "SELECT CAST(b AS XML) FROM t", "write"),
        ("duckdb", "SELECT a::UHUGEINT FROM t", "write DECIMAL(38, 0)"),
        ("postgres", "SELECT b::citext FROM t", "write TEXT"),
        ("redshift", "SELECT 'NaN'::numeric FROM t", "write DOUBLE PRECISION"),
        ("postgres", "SELECT '-Infinity'::numeric(8, 2) FROM t", "a NUMERIC without digits has it"),
        ("postgres", "SELECT isnull(b, 'x') FROM t", "T-SQL's isnull is COALESCE(b, 'x') here"),
        ("postgres", "SELECT curdate() FROM t", "MySQL's curdate is CURRENT_DATE here"),
        (
            "postgres",
            "SELECT iff(a > 1, b, 'x') FROM t",
            "Snowflake's iff is CASE WHEN a > 1 THEN b ELSE 'x' END here",
        ),
        ("postgres", "SELECT foo_bar(a) FROM t", "the SQL reference lists the supported functions"),
        ("postgres", 'SELECT a FROM t WHERE b = "paid"', "a text is written 'paid'"),
    ],
)
def test_a_refusal_says_what_to_write(dialect: str, sql: str, hint: str) -> None:
    with pytest.raises(PlannerError) as caught:
        planned(sql, dialect)
    assert hint in caught.value.hint, caught.value


@pytest.mark.parametrize(
    ("dialect", "sql", "type"),
    [
        ("tsql", "SELECT CAST(a AS BIT) AS x FROM t", "BOOLEAN"),
        ("clickhouse", "SELECT CAST(b AS LowCardinality(String)) AS x FROM t", "TEXT"),
        ("mysql", "SELECT CAST(a AS UNSIGNED) AS x FROM t", "UBIGINT"),
    ],
)
def test_other_names_of_types(dialect: str, sql: str, type: str) -> None:
    assert str(planned(sql, dialect).schema.types[0]) == type
