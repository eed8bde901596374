"""Constant texts without a type, and decimals of different digits: views and queries answer as PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from service.settings.settings import Settings
from tests.postgres.alike import Alike, ordered
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
    "SELECT id FROM k WHERE b = 'tr'",
    "SELECT a FROM (VALUES ('2024-01-31 04:05 PM'), (TIMESTAMP '2020-01-01')) AS v (a)",
    "SELECT (t - '2024-01-01 01:00 AM')::text AS a FROM k",
    "SELECT id FROM w WHERE p = ANY(ARRAY[2.4])",
    "SELECT id FROM w WHERE p <> ALL(ARRAY[2.4])",
    "SELECT id FROM w WHERE p < ANY(ARRAY[2.4])",
    "SELECT id FROM w WHERE p > ALL(ARRAY[1.6])",
    "SELECT w.id FROM w, w AS x WHERE w.p = ANY(ARRAY[x.q])",
    "SELECT w.id FROM w, w AS x WHERE w.p = ANY(x.qs)",
    "SELECT id FROM k WHERE id = ANY(ARRAY[1.4]) OR p = ANY(ARRAY[2.254])",
    "SELECT id FROM w WHERE p IN (2.4, 2.5)",
    "SELECT id FROM w WHERE p IN (SELECT q FROM w)",
    "SELECT id FROM w WHERE p NOT IN (SELECT q FROM w WHERE q IS NOT NULL)",
    "SELECT id FROM w WHERE p = ANY(SELECT q FROM w)",
    "SELECT id FROM w WHERE p < ANY(SELECT q FROM w)",
    "SELECT id FROM w WHERE p >= ALL(SELECT q FROM w WHERE q < 3)",
    "SELECT id FROM w WHERE (p, 1) IN (SELECT q, id FROM w)",
    "SELECT id FROM w WHERE (p, id) = (2.4, 1)",
    "SELECT id FROM w WHERE p IN (VALUES (2.4), (7.2))",
    "SELECT id FROM k WHERE id IN (VALUES (1.4), (2.0))",
    "SELECT id FROM w WHERE p BETWEEN 1.6 AND 2.45",
    "SELECT p = 2.4 AS x, p IS DISTINCT FROM 2.4 AS y, p < 2.4 AS z, p >= q AS u FROM w",
    "SELECT CASE p WHEN 2.4 THEN 1 WHEN 2.0 THEN 2 END AS x, nullif(p, 2.4) AS y FROM w",
    "SELECT a FROM (VALUES (12345678901234567890123456::numeric(38, 0)), (2.4)) AS v (a)",
    "SELECT coalesce(p::numeric(38, 0), 2.4) AS a FROM w",
    "SELECT lag(p, 1, 2.4) OVER (ORDER BY id) AS a FROM w",
    "SELECT lead(id, 1, 2.5) OVER (ORDER BY id) AS a, lag(p, 1, 0.125) OVER (ORDER BY id) AS b FROM k",
    "SELECT ARRAY[p] || 2.4 AS a, 2.4 || ARRAY[p] AS b, ARRAY[p] || ARRAY[q] AS c FROM w",
    "SELECT ARRAY[p] = ARRAY[2.4] AS a, ARRAY[p] @> ARRAY[2.4] AS b, ARRAY[2.4] <@ ARRAY[p] AS c FROM w",
    "SELECT p % 2.4 AS a, p % 3 AS b, q % p AS c FROM w WHERE p <> 0",
    "SELECT sum(id::bigint) % 2.4 AS a FROM w",
    "SELECT p FROM w FULL JOIN (SELECT q AS p FROM w) AS x USING (p)",
    "SELECT * FROM (SELECT p FROM w) AS y FULL JOIN (SELECT q AS p FROM w) AS x USING (p)",
    "SELECT p + 1 AS a FROM (SELECT p FROM w) AS y NATURAL FULL JOIN (SELECT q AS p FROM w) AS x WHERE p > 2",
    "SELECT p, count(*) AS n FROM w FULL JOIN (SELECT q AS p FROM w) AS x USING (p) GROUP BY p HAVING p > 2",
    "SELECT DISTINCT p FROM w FULL JOIN (SELECT q AS p FROM w) AS x USING (p) ORDER BY p",
    "WITH RECURSIVE r(n) AS (SELECT 1.5 UNION ALL SELECT n + 0.25 FROM r WHERE n < 3) SELECT n FROM r",
    "WITH RECURSIVE r(n, k) AS (VALUES (1.5, 1) UNION SELECT n + 0.25, 2 FROM r WHERE n < 3) SELECT n FROM r",
)
WIDE = "CREATE TABLE w (id INT, p NUMERIC(38, 0), q NUMERIC(30, 10), qs NUMERIC(30, 10)[])"
WIDE_ROWS = """INSERT INTO w VALUES (1, 2, 2.4, '{2.4}'), (2, 7, 2.0000000001, '{1, 7.0}'),
(3, 12345678901234567890123456, 7, '{}'), (4, NULL, NULL, NULL)"""


@pytest.fixture(scope="module")
def alike(tmp_path_factory: pytest.TempPathFactory, postgres: Server) -> Iterator[Alike]:
    """One service for all tests of this file, and PostgreSQL, with the same tables."""
    with Client(Settings(data=tmp_path_factory.mktemp("data"))) as client, postgres.connect() as connection:
        for text in (TABLE, WIDE):
            name = text.split()[2]
            connection.execute(f"DROP TABLE IF EXISTS {name}")
            connection.execute(text)
        connection.execute(f"{ROWS}; {WIDE_ROWS}")
        assert client.post("/v1/sql", {"sql": f"{TABLE}; {WIDE}; {ROWS}; {WIDE_ROWS}"}).status_code == 200
        yield Alike(client, connection)
        connection.execute("DROP TABLE k; DROP TABLE w")


@pytest.fixture(scope="module")
def client(alike: Alike) -> Client:
    return alike.client


@pytest.mark.parametrize("text", ALIKE)
def test_views_and_queries_are_postgresqls(alike: Alike, text: str) -> None:
    alike.check(text)


def test_what_is_merged_twice_is_refused_outside_of_views(alike: Alike) -> None:
    twice = "(SELECT q AS p FROM w) AS x USING (p) FULL JOIN (SELECT p FROM k) AS y USING (p)"
    text = f"SELECT p FROM w FULL JOIN {twice}"
    assert alike.of_view(text) == ordered(alike.connection.execute(text).fetchall())
    assert code(alike.sql(text)) == (422, "unsupported_sql")


@pytest.mark.parametrize("step", ["n / 2 FROM r WHERE n > 0.1", "n * 1.5 FROM r WHERE n < 9"])
def test_a_recursion_without_a_type_for_all_rows_is_refused(client: Client, step: str) -> None:
    text = f"WITH RECURSIVE r(n) AS (SELECT 1.5 UNION ALL SELECT {step}) SELECT n FROM r"
    assert code(client.post("/v1/sql", {"sql": text})) == (422, "type_mismatch")
    assert code(client.post("/v1/views", {"name": "v", "sql": text})) == (422, "type_mismatch")


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
    assert client.post("/v1/sql", {"sql": text}).status_code == 422


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
        assert client.post("/v1/sql", {"sql": change}).json()["results"][0]["count"] == 0, change
    insert = "INSERT INTO c SELECT id + 1, '2024-01-31 04:05 PM', p FROM c"
    assert client.post("/v1/sql", {"sql": insert}).status_code == 200
    assert client.rows("c", where="t > '2024-01-31 04:00 PM'") == [(2, "2024-01-31T16:05:00", "2.25")]
    assert client.rows("c", where="p = '2.254'") == []
    assert client.rows("c", order_by="coalesce(t, '2024-01-31 04:00 PM') DESC")[0][0] == 2
