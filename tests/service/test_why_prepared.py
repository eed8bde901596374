"""Questions about rows are planned once, with parameters, and read only what they can use."""

from __future__ import annotations

import pytest

from planner.errors import Unsupported
from tests.service.client import Client, code
from tests.service.test_why import sql, why

ORDERS = """
CREATE TABLE orders (id BIGINT PRIMARY KEY, customer BIGINT, day DATE);
CREATE TABLE lines (id BIGINT, place BIGINT, amount BIGINT, PRIMARY KEY (id, place));
CREATE TABLE customers (id BIGINT PRIMARY KEY, name TEXT);
INSERT INTO customers SELECT i, 'c' || i FROM range(50) AS r(i);
INSERT INTO orders SELECT i, i % 50, DATE '2026-01-01' + CAST(i % 3 AS INTEGER) FROM range(200) AS r(i);
INSERT INTO lines SELECT i / 3, i % 3, i FROM range(600) AS r(i);
CREATE VIEW sums AS SELECT c.name, o.day, sum(l.amount) AS amount FROM customers c
    JOIN orders o ON o.customer = c.id JOIN lines l ON l.id = o.id GROUP BY c.name, o.day;
CREATE VIEW bare AS SELECT c.name FROM customers c WHERE NOT EXISTS
    (SELECT 1 FROM orders o JOIN lines l ON l.id = o.id WHERE o.customer = c.id AND l.amount > 550);
CREATE VIEW padded AS SELECT c.name, o.id FROM customers c
    LEFT JOIN orders o ON o.customer = c.id AND o.id > 170;
"""
REACH = """
CREATE TABLE roots (root TEXT PRIMARY KEY, node BIGINT); CREATE TABLE edges (a BIGINT, b BIGINT);
INSERT INTO roots VALUES ('x', 1), ('y', 7), ('z', 3);
INSERT INTO edges VALUES (1, 2), (2, 3), (3, 1), (7, 8), (8, 7), (8, 3), (3, 4);
CREATE VIEW reached AS WITH RECURSIVE r (root, node) AS (
    SELECT root, node FROM roots UNION SELECT r.root, e.b FROM r JOIN edges e ON e.a = r.node) SELECT * FROM r
"""


def test_the_next_question_plans_nothing(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other rows of the same view, and other roots of a recursion, are values of parameters."""
    sql(client, ORDERS)
    sql(client, REACH)
    views: dict[str, tuple[dict, dict]] = {
        "sums": ({"name": "c7"}, {"name": "c8"}),
        "bare": ({"name": "c1"}, {"name": "c2"}),
        "reached": ({"root": "x", "node": 2}, {"root": "y", "node": 8}),
    }
    for view, (first, _) in views.items():
        assert why(client, view, first).status_code == 200

    def never(*_: object) -> None:
        raise Unsupported("a query is planned again")

    for planning in ("goal_plan", "round_plans", "explainable"):
        monkeypatch.setattr(f"service.derivations.prepared_program.{planning}", never)
    found = {}
    for view, (_, second) in views.items():
        answer = why(client, view, second)
        assert answer.status_code == 200, answer.text
        found[view] = answer.json()["tables"]
    assert {row["name"] for row in found["sums"]["customers"]} == {"c8"}
    assert found["bare"] == {"customers": [{"id": 2, "name": "c2"}]}
    assert found["reached"] == {"roots": [{"root": "y", "node": 7}], "edges": [{"a": 7, "b": 8}]}
    monkeypatch.undo()
    for root, node, count in (("x", 4, 3), ("y", 4, 3), ("z", 2, 2), ("z", 4, 1)):
        tables = why(client, "reached", {"root": root, "node": node}).json()["tables"]
        assert [row["root"] for row in tables["roots"]] == [root]
        assert len(tables["edges"]) == count, (root, node)


def test_only_rows_that_can_matter_are_read(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those that share values with rows of others, and those that meet conditions of one table."""
    sql(client, ORDERS)
    monkeypatch.setattr("service.derivations.seen_rows.MOST_ROWS", 40)
    found = why(client, "sums", {"name": "c7", "day": "2026-01-02"}).json()
    assert [row["id"] for row in found["tables"]["orders"]] == [7, 157]
    assert len(found["tables"]["lines"]) == 6
    assert why(client, "padded", {"name": "c9"}).json()["tables"] == {"customers": [{"id": 9, "name": "c9"}]}
    assert len(why(client, "padded", {"id": 171}).json()["tables"]) == 2
    monkeypatch.setattr("service.derivations.seen_rows.MOST_ROWS", 4)
    assert code(why(client, "sums", {"name": "c7"})) == (422, "explanation_too_large")


def test_a_question_is_about_the_view_as_it_is_now(client: Client) -> None:
    sql(client, REACH)
    assert len(why(client, "reached", {"root": "x", "node": 4}).json()["tables"]["edges"]) == 3
    sql(client, "CREATE OR REPLACE VIEW reached AS SELECT root, node FROM roots")
    assert why(client, "reached", {"root": "x"}).json()["tables"] == {"roots": [{"root": "x", "node": 1}]}
    sql(
        client, "ALTER TABLE roots RENAME COLUMN node TO begins; UPDATE roots SET begins = 5 WHERE root = 'x'"
    )
    assert why(client, "reached", {"root": "x"}).json()["tables"] == {"roots": [{"root": "x", "begins": 5}]}


def test_few_programs_and_queries_are_kept(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was left out is prepared again."""
    monkeypatch.setattr("service.derivations.prepared_program._MOST_OPERATORS", 1)
    monkeypatch.setattr("service.derivations.prepared_program._MOST_QUERIES", 1)
    sql(client, REACH)
    sql(client, "CREATE VIEW nodes AS SELECT DISTINCT node FROM reached")
    for root, count in (("x", 3), ("y", 3), ("x", 3)):
        tables = why(client, "reached", {"root": root, "node": 4}).json()["tables"]
        assert len(tables["edges"]) == count
        assert why(client, "nodes", {"node": 2}).json()["tables"]["roots"]
