"""Constant texts without a type, and decimals of different digits: views and queries answer as PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal

import psycopg
import pytest

from service.settings.settings import Settings
from tests.postgres.server import Server
from tests.service.client import Client, code

TABLE = """CREATE TABLE k (id INT, n NUMERIC(30, 5), m NUMERIC(38, 0), p NUMERIC(10, 2), s TEXT, t TIMESTAMP,
d DATE, f FLOAT8, b BOOLEAN)"""
ROWS = """INSERT INTO k VALUES (1, 1234567890.12345, 12345678901234567890, 2.25, 'x', '2024-01-31 10:00:00',
'2024-01-31', 1.5, true), (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)"""
ALIKE = (
    "SELECT coalesce(n, m) AS a FROM k",
    "SELECT CASE WHEN id = 1 THEN n ELSE m END AS a FROM k",
    "SELECT greatest(n, m) AS a FROM k",
    "SELECT n AS a FROM k UNION ALL SELECT m FROM k",
    "SELECT m AS a FROM k UNION SELECT 0.5",
    "SELECT * FROM (SELECT p, m FROM k UNION ALL SELECT 1.125, 0.5) AS v (p, m)",
    "SELECT m AS a FROM k INTERSECT SELECT n FROM k",
    "SELECT coalesce(m, 0.00001) AS a FROM k",
    "SELECT coalesce(p, '7.125') AS a FROM k",
    "SELECT coalesce(p, m) AS a FROM k",
    "SELECT coalesce(sum(p), 0.00001) AS a FROM k WHERE id = 2",
    "SELECT coalesce(x.p, y.m) AS a FROM k AS x FULL JOIN k AS y ON x.p = y.m",
    "SELECT id FROM k WHERE m - 12345678901234567888 IN (SELECT p FROM k)",
    "SELECT id FROM k WHERE p IN (SELECT m - 12345678901234567888 FROM k)",
    "SELECT coalesce(p, 0.0000001) + 0.0000001 AS a FROM k",
    "SELECT ARRAY[m, n, 0.125] AS a FROM k WHERE id = 1",
    "SELECT coalesce(b, 'of') AS a FROM k",
    "SELECT 1 AS a UNION ALL SELECT '2'",
    "SELECT '2' AS a UNION ALL SELECT 1",
    "SELECT 1 AS a UNION ALL SELECT '2' UNION ALL SELECT '3'",
    "SELECT a + 1 AS a FROM (SELECT id AS a FROM k UNION SELECT '2') AS v",
    "SELECT t AS a FROM k UNION ALL SELECT '2024-01-31 04:05 PM'",
    "SELECT d AS a FROM k EXCEPT SELECT 'January 31, 2024'",
    "SELECT s AS a FROM k UNION ALL SELECT '2024-01-31 04:05 PM'",
    "SELECT coalesce(t, '2024-01-31 04:05 PM') AS a FROM k",
    "SELECT coalesce(d, 'January 8, 1999') AS a FROM k",
    "SELECT coalesce(s, 'January 8, 1999') AS a FROM k",
    "SELECT CASE WHEN id = 1 THEN '2024-01-31 04:05 PM' ELSE t END AS a FROM k",
    "SELECT CASE WHEN id = 1 THEN id ELSE '7' END + 1 AS a FROM k",
    "SELECT id FROM k WHERE t > '2024-01-31 04:05 PM'",
    "SELECT id FROM k WHERE t BETWEEN 'January 8, 1999' AND '2024-01-31 10:00 AM'",
    "SELECT id FROM k WHERE t IN ('2024-01-31 10:00 AM', '2020-01-01')",
    "SELECT id FROM k WHERE coalesce(t, '2020-01-01') < '2024-01-31 11:00 PM'",
    "SELECT id FROM k WHERE p = '2.254'",
    "SELECT id FROM k WHERE p < '2.254'",
    "SELECT id FROM k WHERE p IN ('2.250', '2.254')",
    "SELECT id FROM k WHERE m > '12345678901234567889.5'",
    "WITH c AS (SELECT s AS t FROM k) SELECT t FROM c WHERE t > 'January 8, 1999'",
)
OF_VIEWS = (
    "SELECT id FROM k WHERE b = 'tr'",
    "SELECT a FROM (VALUES ('2024-01-31 04:05 PM'), (TIMESTAMP '2020-01-01')) AS v (a)",
)
"""What ad-hoc queries refuse, because DuckDB does."""


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """One service for all tests of this file."""
    with Client(Settings(data=tmp_path_factory.mktemp("data"))) as client:
        assert sql(client, f"{TABLE}; {ROWS}").status_code == 200
        yield client


@pytest.fixture(scope="module")
def connection(postgres: Server) -> Iterator[psycopg.Connection]:
    """PostgreSQL with the same table."""
    with postgres.connect() as connection:
        connection.execute("DROP TABLE IF EXISTS k")
        connection.execute(TABLE)
        connection.execute(ROWS)
        yield connection
        connection.execute("DROP TABLE k")


def sql(client: Client, text: str):
    return client.post("/v1/sql", {"sql": text})


def plain(value: object) -> object:
    """A value of any of the three in one form."""
    match value:
        case list():
            return [plain(each) for each in value]
        case datetime() | date():
            return value.isoformat()
        case Decimal():
            return format(value.normalize(), "f")
        case int() if not isinstance(value, bool):
            return str(value)
        case str() if value.replace(".", "", 1).isdecimal() and "." in value:
            return value.rstrip("0").rstrip(".")
    return value


def ordered(rows: list) -> list[str]:
    return sorted(repr([plain(value) for value in row]) for row in rows)


def of_view(client: Client, text: str) -> list[str]:
    client.view("v", text)
    try:
        return ordered(client.rows("v"))
    finally:
        assert client.delete("/v1/views/v").status_code == 204


@pytest.mark.parametrize("text", ALIKE)
def test_views_and_queries_are_postgresqls(client: Client, connection: psycopg.Connection, text: str) -> None:
    expected = ordered(connection.execute(text).fetchall())
    assert of_view(client, text) == expected
    answer = sql(client, text)
    assert answer.status_code == 200, answer.text
    assert ordered(answer.json()["results"][0]["rows"]) == expected


@pytest.mark.parametrize("text", OF_VIEWS)
def test_views_alone(client: Client, connection: psycopg.Connection, text: str) -> None:
    assert of_view(client, text) == ordered(connection.execute(text).fetchall())
    assert sql(client, text).status_code == 422


@pytest.mark.parametrize("text", ["x", "1.5"])
def test_a_text_that_is_no_value_is_refused(client: Client, text: str) -> None:
    view = {"name": "v", "sql": f"SELECT id FROM k UNION SELECT '{text}'"}
    assert code(client.post("/v1/views", view)) == (422, "type_mismatch")


def test_a_number_with_too_many_digits_is_an_error(client: Client) -> None:
    """No digit is rounded: 20 digits before the point and 19 behind it are more than there are."""
    text = "SELECT coalesce(m, 0.0000000000000000001) AS a FROM k"
    client.view("v", text)
    assert code(client.get("/v1/views/v/rows")) == (409, "view_has_errors")
    assert client.delete("/v1/views/v").status_code == 204
    assert sql(client, text).status_code == 422


def test_duckdb_rounds(client: Client) -> None:
    view = {"name": "r", "sql": "SELECT coalesce(n, m) AS a FROM k WHERE id = 1", "dialect": "duckdb"}
    assert client.post("/v1/views", view).status_code == 201
    assert client.rows("r") == [("1234567890",)]


def test_changes_and_predicates(client: Client) -> None:
    client.table("c", {"id": "INT", "t": "TIMESTAMP", "p": "NUMERIC(10, 2)"}, key=["id"])
    client.insert("c", {"id": 1, "t": "2024-01-31T10:00:00", "p": "2.25"})
    for change in (
        "DELETE FROM c WHERE t > '2024-01-31 04:05 PM'",
        "DELETE FROM c WHERE p = '2.254'",
        "UPDATE c SET p = 9 WHERE t BETWEEN '2024-01-31 10:00 PM' AND '2024-01-31 11:00 PM'",
    ):
        assert sql(client, change).json()["results"][0]["count"] == 0, change
    assert sql(client, "INSERT INTO c SELECT id + 1, '2024-01-31 04:05 PM', p FROM c").status_code == 200
    assert client.rows("c", where="t > '2024-01-31 04:00 PM'") == [(2, "2024-01-31T16:05:00", "2.25")]
    assert client.rows("c", where="p = '2.254'") == []
    assert client.rows("c", order_by="coalesce(t, '2024-01-31 04:00 PM') DESC")[0][0] == 2
