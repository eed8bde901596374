"""The canary: a view with a recursion and a join, which is compared with DuckDB's answer from scratch."""

from __future__ import annotations

import duckdb
import httpx
import orjson
import pyarrow as pa

from tests.hostile.door import Door

TABLES = ("edges", "ticks")
NAME = "canary"
KEPT = frozenset({*TABLES, NAME})
SQL = """
    WITH RECURSIVE reach (a, b) AS (
        SELECT a, b FROM edges UNION SELECT reach.a, edges.b FROM reach JOIN edges ON edges.a = reach.b
    )
    SELECT reach.a, count(*) AS n, sum(ticks.id) AS total
    FROM reach JOIN ticks ON ticks.node = reach.b GROUP BY reach.a
"""
SETUP = (
    "CREATE TABLE edges (id BIGINT PRIMARY KEY, a BIGINT NOT NULL, b BIGINT NOT NULL)",
    "CREATE TABLE ticks (id BIGINT PRIMARY KEY, node BIGINT NOT NULL)",
    f"CREATE VIEW {NAME} AS {SQL}",
)


def wrong(door: Door) -> str:
    """What is wrong with the canary at the newest epoch, in a sentence; nothing if it is right."""
    try:
        with httpx.Client(base_url=door.url, timeout=door.patience, verify=False, trust_env=False) as http:
            epoch = http.get("/v1/status").raise_for_status().json()["epoch"]
            tables = {table: _rows(http, f"/v1/tables/{table}/rows", epoch) for table in TABLES}
            found = _sorted(_rows(http, f"/v1/views/{NAME}/rows", epoch))
    except (httpx.HTTPError, KeyError) as error:
        return f"the canary cannot be read: {error!r}"
    with duckdb.connect() as duck:
        for table, rows in tables.items():
            if not rows:
                return f"{table} is empty at epoch {epoch}: nothing is compared"
            duck.register(table, pa.Table.from_pylist(rows))
        expected = _sorted([dict(zip("ant", row, strict=True)) for row in duck.sql(SQL).fetchall()])
    return "" if found == expected else f"at epoch {epoch} the canary is {found}, not {expected}"


def _rows(http: httpx.Client, path: str, epoch: int) -> list[dict]:
    answer = http.get(path, params={"as_of": epoch}, headers={"Accept": "application/x-ndjson"})
    return [orjson.loads(line) for line in answer.raise_for_status().content.splitlines()]


def _sorted(rows: list[dict]) -> list[tuple[int, ...]]:
    return sorted(tuple(int(value) for value in row.values()) for row in rows)
