"""Schemas: created and dropped, names with a schema in every statement and path, and the search path."""

from __future__ import annotations

import pytest

from tests.service.client import Client


def refused(client: Client, sql: str, **options: object) -> dict:
    answer = client.post("/v1/sql", {"sql": sql, **options})
    assert answer.status_code >= 400, answer.text
    return answer.json()


def run(client: Client, sql: str, **options: object) -> list[dict]:
    answer = client.post("/v1/sql", {"sql": sql, **options})
    assert answer.status_code == 200, answer.text
    return answer.json()["results"]


@pytest.fixture
def shop(client: Client) -> Client:
    run(
        client,
        """CREATE SCHEMA analytics;
        CREATE TABLE orders (id BIGINT PRIMARY KEY, price BIGINT);
        CREATE TABLE analytics.orders (id BIGINT PRIMARY KEY, price BIGINT);
        INSERT INTO orders VALUES (1, 10);
        INSERT INTO analytics.orders VALUES (1, 100), (2, 200)""",
    )
    return client


def rows(client: Client, sql: str, **options: object) -> list:
    return run(client, sql, **options)[-1]["rows"]


@pytest.mark.parametrize(
    ("dialect", "name"),
    [
        ("postgres", "analytics.orders"),
        ("postgres", '"analytics"."orders"'),
        ("postgres", "ANALYTICS.Orders"),
        ("postgres", '"freshet"."analytics"."orders"'),
        ("postgres", "freshet.analytics.orders"),
        ("mysql", "`analytics`.`orders`"),
        ("bigquery", "`freshet.analytics.orders`"),
        ("tsql", "[analytics].[orders]"),
        ("duckdb", "analytics.orders"),
        ("snowflake", "freshet.analytics.orders"),
        ("spark", "`analytics`.orders"),
    ],
)
def test_a_name_with_a_schema_in_each_dialect(shop: Client, dialect: str, name: str) -> None:
    assert rows(shop, f"SELECT id, price FROM {name} ORDER BY id", dialect=dialect) == [[1, 100], [2, 200]]
