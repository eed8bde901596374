"""Errors of scripts: places count from the start of the text that was sent."""

from __future__ import annotations

import pytest

from tests.service.client import Client

SCRIPT = """\
CREATE TABLE orders (id BIGINT PRIMARY KEY, customer TEXT, total NUMERIC(12, 2));
CREATE VIEW totals AS
  SELECT customer, sum(total) AS spent FROM orders GROUP BY customer;
"""


@pytest.mark.parametrize(
    ("sql", "code", "place", "hint"),
    [
        ("SELECT 1;\nSELECT custmer FROM orders", "unknown_column", (2, 8), "did you mean"),
        ("SELECT 1;  SELECT * FROM ordes", "unknown_table", (1, 26), "did you mean orders?"),
        ("SELECT 1;\n CREATE VIEW v AS\n  SELECT custmer\n  FROM orders", "unknown_column", (3, 10),
         "did you mean orders.customer?"),
        ("CREATE VIEW v (a) AS SELECT totl FROM orders", "unknown_column", (1, 29),
         "did you mean orders.total?"),
        ("CREATE VIEW v AS SELECT * FROM total", "unknown_table", (1, 32), "did you mean totals?"),
        ("EXPLAIN\nSELECT totl FROM orders", "unknown_column", (2, 8), "did you mean orders.total?"),
        ("EXPLAIN ANALYZE\nSELECT totl FROM orders", "unknown_column", (2, 8), "did you mean orders.total?"),
        ("INSERT INTO orders (id, totl) VALUES (1, 2)", "unknown_column", (1, 25), "did you mean total?"),
        ("INSERT INTO ordes VALUES (1)", "unknown_table", (1, 13), "did you mean orders?"),
        ("UPDATE orders SET\n  totl = 1", "unknown_column", (2, 3), "did you mean total?"),
        ("DELETE FROM orders\nWHERE custmer = 'a'", "unknown_column", (2, 7), ""),
        ("BEGIN;\nDELETE FROM ordes;\nCOMMIT", "unknown_table", (2, 13), "did you mean orders?"),
        ("SELECT 1;\nCREATE VIEW v AS SELECT lenght(customer) FROM orders", "unknown_function", (2, 25),
         "did you mean length?"),
        ("SELECT 1;\n\nFROBNICATE orders", "syntax_error", (3, 1), ""),
        ("DROP VIEW total", "unknown_name", None, "did you mean totals?"),
        ("ALTER TABLE orders DROP COLUMN totl", "unknown_column", None, "did you mean total?"),
        ("ALTER TABLE orders DROP CONSTRAINT orders_pky", "unknown_constraint", None, ""),
    ],
)  # fmt: skip
def test_places_and_hints(
    client: Client, sql: str, code: str, place: tuple[int, int] | None, hint: str
) -> None:
    client.post("/v1/sql", {"sql": SCRIPT})
    problem = client.post("/v1/sql", {"sql": sql}).json()
    assert problem["code"] == code, problem
    assert problem["hint"].startswith(hint), problem
    if place is not None:
        assert problem["position"] == {"line": place[0], "column": place[1]}, problem


REFUSED_IN_BOTH = [
    ("SELECT id FROM orders WHERE id > true", "BIGINT and BOOLEAN cannot be compared"),
    ("SELECT id FROM orders WHERE id BETWEEN false AND true", "BIGINT and BOOLEAN cannot be compared"),
    ("SELECT id FROM orders WHERE customer = true", "TEXT and BOOLEAN cannot be compared"),
    ("SELECT id FROM orders WHERE customer > 1", "TEXT and INTEGER cannot be compared"),
    ("SELECT id FROM orders WHERE id", "WHERE is BIGINT, not BOOLEAN"),
    ("SELECT id FROM orders WHERE total > 1 AND NOT id", "the operand of NOT is BIGINT, not BOOLEAN"),
    ("SELECT CASE WHEN id THEN 1 END AS n FROM orders", "the condition of CASE is BIGINT, not BOOLEAN"),
    ("SELECT upper(value => customer) AS u FROM orders", "upper does not take arguments by name"),
    ("SELECT make_time(hour => 1, minute => 2, sec => 3) AS t", "the function takes other arguments"),
]


@pytest.mark.parametrize(("query", "said"), REFUSED_IN_BOTH)
def test_queries_are_refused_as_views_are(client: Client, query: str, said: str) -> None:
    client.post("/v1/sql", {"sql": SCRIPT})
    asked = client.post("/v1/sql", {"sql": query}).json()
    defined = client.post("/v1/views", {"name": "v", "sql": query}).json()
    assert asked["detail"] == defined["detail"] == said
    assert asked["hint"] == defined["hint"]


def test_a_boolean_beside_a_number_is_duckdbs_in_its_own_dialect(client: Client) -> None:
    client.post("/v1/sql", {"sql": f"{SCRIPT}; INSERT INTO orders VALUES (1, 'a', 1), (2, 'b', 2)"})
    answer = client.post("/v1/sql", {"sql": "SELECT id FROM orders WHERE id > true", "dialect": "duckdb"})
    assert answer.json()["results"][0]["rows"] == [[2]]


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("SELECT n FROM generate_series(1, 2) AS g(n) WHERE (n > 1) = true", [[2]]),
        ("SELECT relname FROM pg_class WHERE relname = 'totals' AND NOT relispartition", [["totals"]]),
        ("SELECT count(*) FROM orders AS o WHERE NOT EXISTS (SELECT 1 FROM totals) OR true", [[0]]),
    ],
)
def test_conditions_that_hold_are_answered(client: Client, query: str, rows: list[list[object]]) -> None:
    client.post("/v1/sql", {"sql": SCRIPT})
    assert client.post("/v1/sql", {"sql": query}).json()["results"][0]["rows"] == rows


@pytest.mark.parametrize(
    ("query", "hint"),
    [
        ("SELECT getdate()", "T-SQL's getdate is CURRENT_TIMESTAMP here"),
        ("SELECT isnull(customer, 'x') FROM orders", "T-SQL's isnull is COALESCE(customer, 'x') here"),
        ("SELECT to_varchar(id) FROM orders", "Snowflake's to_varchar is CAST(id AS TEXT) here"),
        ("SELECT proctime()", "a row has the times of its columns"),
    ],
)
def test_functions_of_other_systems_are_named_as_the_dialect_has_them(
    client: Client, query: str, hint: str
) -> None:
    client.post("/v1/sql", {"sql": SCRIPT})
    problem = client.post("/v1/sql", {"sql": query}).json()
    assert problem["code"] == "unknown_function"
    assert problem["hint"].startswith(hint)


def test_times_take_their_parts_by_name(client: Client) -> None:
    query = (
        "SELECT make_time(sec => 1.5, hour => 2, min => id::int) AS t, "
        "make_timestamp(2026, 1, mday => 3, hour => 4, min => 5, sec => 6) AS at FROM orders"
    )
    client.post("/v1/sql", {"sql": f"{SCRIPT}; INSERT INTO orders VALUES (7, 'a', 1)"})
    client.post("/v1/views", {"name": "v", "sql": query})
    rows = [["02:07:01.500000", "2026-01-03T04:05:06"]]
    assert client.post("/v1/sql", {"sql": query}).json()["results"][0]["rows"] == rows
    assert [list(row.values()) for row in client.get("/v1/views/v/rows").json()["rows"]] == rows
