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
