"""Large changes and new views, computed on one thread or on several, give the same rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from service.settings.settings import Settings
from tests.service.client import Client

CSV = {"Content-Type": "text/csv"}
ROWS, KEYS = 70_000, 40_000
"""Enough for every operator below to divide its work."""
TABLES = "CREATE TABLE t (k BIGINT, x BIGINT); CREATE TABLE u (k BIGINT, x BIGINT)"
VIEW = "SELECT t.k, count(*) AS n, sum(u.x) AS total FROM t JOIN u ON t.k = u.k GROUP BY t.k"


def ask(client: Client, script: str) -> None:
    answer = client.post("/v1/sql", {"sql": script})
    assert answer.status_code == 200, answer.text


def csv(rows: range) -> bytes:
    return "\n".join(["k,x", *(f"{row * 7919 % KEYS},{row}" for row in rows)]).encode()


@pytest.mark.parametrize("count", [1, 3])
def test_a_view_before_and_after_a_large_change(settings: Settings, count: int) -> None:
    with Client(replace(settings, spark="never", threads=count, build_rows_here=1, page_rows=KEYS)) as client:
        ask(client, f"{TABLES}; CREATE VIEW before AS {VIEW}")
        for table, rows in (("t", range(ROWS)), ("u", range(5, ROWS))):
            answer = client.post(f"/v1/tables/{table}/deltas", content=csv(rows), headers=CSV)
            assert answer.status_code == 200, answer.text
        ask(client, f"DELETE FROM t WHERE x < 35000; CREATE VIEW after AS {VIEW}")
        before, after = client.rows("before"), client.rows("after")
    left = Counter(row * 7919 % KEYS for row in range(35_000, ROWS))
    right: dict[int, list[int]] = {}
    for row in range(5, ROWS):
        right.setdefault(row * 7919 % KEYS, []).append(row)
    expected = [(k, n * len(right[k]), n * sum(right[k])) for k, n in sorted(left.items()) if k in right]
    assert before == after == expected
