"""Jobs over HTTP, with waiting; and the rows of a relation as Python values."""

from __future__ import annotations

import time
from collections.abc import Iterable

import duckdb
import pyarrow.ipc

from service.decoding.parsing import ARROW
from tests.service.client import Client

COLUMNS = {
    "id": "BIGINT",
    "flag": "BOOLEAN",
    "small": "SMALLINT",
    "whole": "INTEGER",
    "amount": "NUMERIC(12, 3)",
    "ratio": "DOUBLE PRECISION",
    "part": "REAL",
    "name": "TEXT",
    "day": "DATE",
    "at": "TIMESTAMP",
}
"""A table with a column of every type."""
ROWS = """
    SELECT i::BIGINT AS id, (CASE i % 3 WHEN 0 THEN true WHEN 1 THEN false END) AS flag,
        (i * 7 - 300)::SMALLINT AS small, (CASE WHEN i % 5 > 0 THEN i * 100003 END)::INTEGER AS whole,
        (CASE WHEN i % 4 > 0 THEN (i - 40) * 1.001 END)::DECIMAL(12, 3) AS amount,
        (CASE i WHEN 3 THEN 'nan' WHEN 4 THEN 'inf' WHEN 5 THEN '-inf' ELSE i / 7 END)::DOUBLE AS ratio,
        (i / 3)::FLOAT AS part,
        [NULL, '', 'plain', ' kept  ', 'a, "b"', 'naïve ✓', '\\N', 'NULL'][i % 8 + 1] AS name,
        DATE '1700-02-28' + (i * 1500)::INTEGER AS day,
        TIMESTAMP '1850-01-01 00:00:00.000001' + i * INTERVAL '1234567 minutes 13 microseconds' AS at
    FROM range(100) AS t (i)
"""
"""A hundred rows of every type, as DuckDB makes them."""


def begin(client: Client, kind: str, **request: object) -> str:
    """Begins a load or an export. Returns the path of its job. Fails if it is refused."""
    answer = client.post(f"/v1/{kind}", request)
    assert answer.status_code == 202, answer.text
    assert answer.json()["state"] == "running"
    return f"/v1/{kind}/{answer.json()['id']}"


def ended(client: Client, path: str, seconds: float = 300) -> dict:
    """The job at a path, once it has ended."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        job = client.get(path).json()
        if job["state"] != "running":
            return job
        time.sleep(0.05)
    raise TimeoutError(f"{path} still runs after {seconds} s")


def done(client: Client, kind: str, **request: object) -> dict:
    """Runs a job. Fails unless it is done."""
    job = ended(client, begin(client, kind, **request))
    assert job["state"] == "done", job
    assert job["progress"] == 1
    return job


def failed(client: Client, kind: str, **request: object) -> dict:
    """Runs a job. Returns its problem, and fails unless the job does."""
    job = ended(client, begin(client, kind, **request))
    assert job["state"] == "failed", job
    return job["error"]


def values(client: Client, path: str, **params: object) -> list[str]:
    """All rows at a path, as `ordered` returns them."""
    answer = client.get(path, accept=ARROW, **params)
    assert answer.status_code == 200, answer.text
    return ordered(
        tuple(row.values()) for row in pyarrow.ipc.open_stream(answer.content).read_all().to_pylist()
    )


def ordered(rows: Iterable[tuple]) -> list[str]:
    """Sorted rows as texts, so that NaN equals NaN."""
    return sorted(map(repr, rows))


def expected(duck: duckdb.DuckDBPyConnection, query: str = "FROM rows") -> list[str]:
    """DuckDB's rows, as `ordered` returns them."""
    return ordered(duck.execute(query).fetchall())
