"""Numbers of more digits than a word holds: over HTTP, and after a kill, from the log alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from service.settings.settings import Settings
from tests.service.client import Client, Process

SCHEMA = """
CREATE TABLE t (id INTEGER PRIMARY KEY, x NUMERIC(38, 2));
CREATE VIEW v AS SELECT sum(x) AS s, max(x) AS m, count(*) AS n FROM t;
CREATE VIEW o AS
SELECT id, x, sum(x) OVER (ORDER BY x, id) AS so_far, rank() OVER (ORDER BY x DESC) AS r FROM t
"""
ROWS = [
    {"insert": {"id": 1, "x": "123456789012345678901234567890.12"}},
    {"insert": {"id": 2, "x": "-999999999999999999999.99"}},
    {"insert": {"id": 3, "x": "5"}},
]
SUM = ("123456788012345678901234567895.13", "123456789012345678901234567890.12", 3)


def test_they_are_there_after_a_kill(settings: Settings, tmp_path: Path) -> None:
    process = Process(tmp_path, {})
    process.wait_ready()
    process.http.post("/v1/sql", json={"sql": SCHEMA})
    assert process.http.post("/v1/tables/t/deltas", json=ROWS).status_code == 200
    process.kill()
    with Client(replace(settings, data=tmp_path)) as client:
        assert client.rows("v") == [SUM]
        assert [row[0] for row in sorted(client.rows("o"), key=lambda row: row[3])] == [1, 3, 2]
        client.post("/v1/sql", {"sql": "UPDATE t SET x = x * -1 WHERE id = 2; DELETE FROM t WHERE id = 1"})
        assert client.rows("v") == [("1000000000000000000004.99", "999999999999999999999.99", 2)]
        where = client.get("/v1/tables/t/rows", where="x > 1000000000000000000")
        assert [row["id"] for row in where.json()["rows"]] == [2]
