"""Joins are planned by the sizes that tables had when a view was made, also after a restart."""

from __future__ import annotations

from service.settings.settings import Settings
from tests.service.client import Client

TABLES = """
CREATE TABLE facts (a INTEGER, b INTEGER);
CREATE TABLE big (a INTEGER, x INTEGER);
CREATE TABLE small (b INTEGER, y INTEGER)
"""
QUERY = "SELECT x, y FROM facts JOIN big ON big.a = facts.a JOIN small ON small.b = facts.b"


def _fill(client: Client, table: str, columns: tuple[str, str], rows: int) -> None:
    changes = [{"insert": {columns[0]: i, columns[1]: i % 50}} for i in range(rows)]
    assert client.post(f"/v1/tables/{table}/deltas", changes).status_code == 200


def _plan(client: Client, view: str) -> str:
    return client.get(f"/v1/views/{view}/plan").text


def _explained(client: Client) -> str:
    (result,) = client.post("/v1/sql", {"sql": f"EXPLAIN OPTIMIZED {QUERY}"}).json()["results"]
    return "\n".join(row[0] for row in result["rows"])


def test_a_view_is_planned_for_the_sizes_that_tables_had(settings: Settings) -> None:
    with Client(settings) as client:
        client.post("/v1/sql", {"sql": TABLES})
        client.post("/v1/views", {"name": "early", "sql": QUERY})
        _fill(client, "facts", ("a", "b"), 5_000)
        _fill(client, "big", ("a", "x"), 5_000)
        _fill(client, "small", ("b", "y"), 200)
        client.post("/v1/views", {"name": "late", "sql": QUERY})
        plans = {view: _plan(client, view) for view in ("early", "late")}
        assert plans["early"] != plans["late"]
        assert client.rows("early") == client.rows("late")
        assert _explained(client).strip() == plans["late"].strip()
    with Client(settings) as client:
        assert {view: _plan(client, view) for view in plans} == plans
        assert client.rows("early") == client.rows("late")
