"""PIVOT whose values come from data: an ad-hoc query has the columns that DuckDB's own statement has."""

from __future__ import annotations

import duckdb
import pytest

from tests.service.client import Client

TABLE = "CREATE TABLE sold (k INTEGER, s TEXT, x INTEGER)"
ROWS = "INSERT INTO sold VALUES (10, 'a', 1), (2, 'b', 2), (NULL, 'c', 3), (2, NULL, 5), (30, 'it''s \"', 4)"
STATEMENTS = [
    "PIVOT sold ON k USING sum(x)",
    "PIVOT sold ON k USING sum(x) GROUP BY s ORDER BY s LIMIT 2",
    "PIVOT sold ON k, s USING sum(x) AS a, count(*) AS n",
    "PIVOT sold ON s",
    "PIVOT sold ON k IN (2) USING sum(x)",
    "PIVOT (FROM sold WHERE k > 2) ON k || '_' || s USING first(x)",
    "PIVOT sold ON (k, s) USING sum(x)",
    "PIVOT (FROM sold WHERE k > 100) ON k USING sum(x)",
    "FROM (PIVOT sold ON k USING sum(x)) AS p JOIN sold ON sold.s = p.s",
    "FROM (PIVOT sold ON k USING sum(x)) WHERE s = 'a'",
    "WITH q AS (SELECT k, x FROM sold) PIVOT q ON k USING sum(x)",
    "WITH q AS (FROM sold), r AS (FROM (PIVOT q ON k USING sum(x))) "
    "FROM r, (WITH c AS (FROM sold) PIVOT c ON s USING count(*)) AS d",
    "UNPIVOT sold ON k, x INTO NAME n VALUE v ORDER BY v, n LIMIT 3",
]


@pytest.mark.parametrize("statement", STATEMENTS)
def test_statements_answer_as_duckdb_does(client: Client, statement: str) -> None:
    referee = duckdb.connect()
    for sql in (TABLE, ROWS):
        referee.execute(sql)
        assert client.post("/v1/sql", {"sql": sql}).status_code == 200
    expected = referee.execute(statement)
    names = [column[0] for column in expected.description]
    answer = client.post("/v1/sql", {"sql": statement, "dialect": "duckdb"})
    assert answer.status_code == 200, answer.text
    result = answer.json()["results"][-1]
    assert [column["name"] for column in result["columns"]] == names
    assert sorted(map(repr, result["rows"])) == sorted(repr(list(row)) for row in expected.fetchall())


def test_a_new_value_is_a_new_column(client: Client) -> None:
    for sql in (TABLE, ROWS, "INSERT INTO sold VALUES (7, 'a', 1)"):
        client.post("/v1/sql", {"sql": sql})
    statement = "SELECT * FROM sold PIVOT (sum(x) FOR k IN ({})) ORDER BY s"
    for values, columns in (
        ("ANY ORDER BY k DESC", ["s", "30", "10", "7", "2"]),
        ("SELECT k FROM sold WHERE x = 1", ["s", "10", "7"]),
    ):
        answer = client.post("/v1/sql", {"sql": statement.format(values), "dialect": "snowflake"})
        assert [column["name"] for column in answer.json()["results"][0]["columns"]] == columns


def test_lists_are_held_to_what_a_query_may_call(client: Client) -> None:
    client.post("/v1/sql", {"sql": TABLE})
    for key, code in (("getenv('HOME')", "unknown_function"), ("nope", "unknown_column")):
        answer = client.post("/v1/sql", {"sql": f"PIVOT sold ON {key} USING sum(x)", "dialect": "duckdb"})
        assert answer.json()["code"] == code


def test_a_pivot_has_a_limit_of_columns(client: Client) -> None:
    many = "PIVOT (SELECT unnest(range({})) AS k, 1 AS x) ON k USING sum(x)"
    answer = client.post("/v1/sql", {"sql": many.format(300), "dialect": "duckdb"})
    assert len(answer.json()["results"][0]["columns"]) == 300
    refused = client.post("/v1/sql", {"sql": many.format(100_000), "dialect": "duckdb"}).json()
    assert (refused["code"], refused["detail"]) == ("invalid_query", "a PIVOT has at most 2000 columns")
