"""Clients' text reaches DuckDB in several places; functions that are not open are refused in all of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from service.settings.settings import Settings
from tests.service.client import Client

STATEMENTS = [
    "SELECT {}",
    "SELECT a FROM t WHERE {} IS NULL",
    "SELECT a FROM t ORDER BY {}",
    "SELECT a FROM t LIMIT {}",
    "WITH c AS (SELECT {}) TABLE c",
    "INSERT INTO t SELECT 1, {}",
    "INSERT INTO t VALUES (1, {})",
    "INSERT INTO t VALUES (2, 'x') RETURNING {}",
    "INSERT INTO t VALUES (1, 'x') ON CONFLICT (a) DO UPDATE SET b = {}",
    "UPDATE t SET b = {}",
    "UPDATE t SET b = 'x' WHERE {} IS NOT NULL",
    "UPDATE t SET b = 'x' RETURNING {}",
    "DELETE FROM t WHERE {} IS NULL",
    "DELETE FROM t RETURNING {}",
    "MERGE INTO t USING u ON t.a = u.a WHEN MATCHED THEN UPDATE SET b = {}",
    "MERGE INTO t USING (SELECT 1 AS a, {} AS b) s ON t.a = s.a WHEN NOT MATCHED THEN INSERT VALUES (2, b)",
    "CREATE TABLE x AS SELECT {} AS y",
    "CREATE TABLE x (a BIGINT, b TEXT DEFAULT {})",
    "CREATE TABLE x (a BIGINT, b TEXT CHECK ({} IS NULL))",
    "CREATE TABLE x (a BIGINT, b TEXT GENERATED ALWAYS AS ({}) STORED)",
    "CREATE VIEW v AS SELECT {} AS y FROM t",
    "CREATE VIEW v AS SELECT a FROM t LIMIT {}",
    "CREATE VIEW v AS SELECT string_agg(b, {}) AS y FROM t",
    "CREATE VIEW v AS SELECT sum(a) OVER (ORDER BY {}) AS y FROM t",
    "CREATE VIEW v AS SELECT t.a FROM t JOIN u ON {} IS NULL",
    "EXPLAIN SELECT {} AS y FROM t",
]  # fmt: skip


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with Client(Settings(data=tmp_path_factory.mktemp("doors"))) as client:
        script = "CREATE TABLE t (a BIGINT PRIMARY KEY, b TEXT); CREATE TABLE u (a BIGINT, b TEXT);"
        assert client.post("/v1/sql", {"sql": script + "INSERT INTO t VALUES (1, 'x')"}).status_code == 200
        yield client


@pytest.mark.parametrize("call", ["current_query()", "getvariable('x')", "write_log('x')"])
@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_closed_function_is_refused_in_every_statement(door: Client, statement: str, call: str) -> None:
    answer = door.post("/v1/sql", {"sql": statement.format(call)})
    assert answer.status_code == 422, answer.text
    problem = answer.json()
    assert problem["code"] == "unsupported_sql", problem
    assert call.partition("(")[0] in problem["detail"], problem
    assert problem["position"]["line"] == 1, problem


@pytest.mark.parametrize(
    "source",
    [
        "enable_logging('QueryLog', storage = 'file', storage_path = '/tmp/x')",
        "duckdb_logs()",
        "query('SELECT 1')",
    ],
)
def test_a_closed_table_function_is_refused(door: Client, source: str) -> None:
    for statement in (
        "SELECT * FROM {}",
        "INSERT INTO t SELECT * FROM {}",
        "SELECT (SELECT count(*) FROM {})",
    ):
        answer = door.post("/v1/sql", {"sql": statement.format(source), "dialect": "duckdb"})
        assert (answer.status_code, answer.json()["code"]) == (422, "unsupported_sql"), answer.text
        assert source.partition("(")[0] in answer.json()["detail"]
    assert door.post("/v1/sql", {"sql": "SELECT 1"}).status_code == 200


@pytest.mark.parametrize("clause", ["where", "order_by"])
@pytest.mark.parametrize(
    "call", ["version()", "txid_current()", "now()", "current_user", "list_aggregate([1], b)"]
)
def test_reads_call_what_follows_from_the_row(door: Client, clause: str, call: str) -> None:
    text = f"{call} IS NULL" if clause == "where" else call
    answer = door.get("/v1/tables/t/rows", **{clause: text})
    assert answer.status_code in (400, 422), answer.text
    assert answer.json()["code"] in ("invalid_clause", "unsupported_sql"), answer.text
