"""Names of columns without one in PostgreSQL's dialect, against a list that PostgreSQL 15 gave.

`tests/postgres/test_column_names.py` compares the list with a server. Other dialects keep their names.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlglot import exp

from planner.parsing.parse import parse_query
from planner.parsing.script import split

TABLE = """CREATE TEMPORARY TABLE x (
    a integer, b integer, t text, f double precision, d date, ts timestamp, tz timestamptz, v boolean,
    l integer[], j jsonb, "Big" integer)"""
"""What the expressions of the list are about."""


def named() -> Iterator[tuple[str, str]]:
    """Each query of one column, with the column's name."""
    for line in Path(__file__).with_name("column_names.txt").read_text().splitlines():
        name, value = line.split("\t")
        yield f"SELECT {value} FROM x", name


def names(query: exp.Expression) -> list[str]:
    return [node.alias_or_name if not node.is_star else "*" for node in query.expressions]


def test_each_expression_has_postgresqls_name() -> None:
    found = {query: names(parse_query(query, "postgres", named=True)) for query, _ in named()}
    assert len(found) > 350
    assert {q: (found[q], name) for q, name in named() if found[q] != [name]} == {}


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("VALUES (1, 2), (3, 4)", 'SELECT * FROM (VALUES (1, 2), (3, 4)) AS "*VALUES*"(column1, column2)'),
        ("SELECT * FROM (VALUES (1)) AS v", "SELECT * FROM (VALUES (1)) AS v(column1)"),
        ("SELECT * FROM (VALUES (1, 2)) AS v(a)", "SELECT * FROM (VALUES (1, 2)) AS v(a, column2)"),
        (
            "WITH v AS (VALUES (1)) SELECT * FROM v",
            "WITH v AS (SELECT * FROM (VALUES (1)) AS _values(column1)) SELECT * FROM v",
        ),
        ("INSERT INTO t VALUES (1)", "INSERT INTO t VALUES (1)"),
        (
            "INSERT INTO t VALUES (1) RETURNING a, a + 1",
            'INSERT INTO t VALUES (1) RETURNING a, a + 1 AS "?column?"',
        ),
        ("SELECT a, x.b, * FROM x", "SELECT a, x.b, * FROM x"),
        ("SELECT lower(a) AS b FROM x", "SELECT LOWER(a) AS b FROM x"),
        (
            "SELECT count FROM (SELECT count(*) FROM x) AS y",
            'SELECT count FROM (SELECT COUNT(*) AS "count" FROM x) AS y',
        ),
    ],
)
def test_names_are_written_into_the_statement(sql: str, expected: str) -> None:
    (piece,) = split(sql)
    assert piece.parse().sql("postgres") == expected


@pytest.mark.parametrize("dialect", ["duckdb", "mysql", "bigquery", "snowflake", "spark"])
def test_other_dialects_keep_their_names(dialect: str) -> None:
    (piece,) = split("SELECT lower(a), 1 FROM x", dialect)
    assert names(piece.parse()) == ["", "1"] or not piece.parse().find(exp.Alias)


def test_a_name_that_a_user_sees_has_63_bytes() -> None:
    long = "ü" * 40
    (piece,) = split(f'SELECT "{long}"(1)')
    assert names(piece.parse()) == ["ü" * 31]
