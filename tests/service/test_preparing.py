"""PREPARE and EXECUTE in scripts over HTTP."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from service.settings.settings import Settings
from tests.service.client import Client, code


@pytest.fixture
def client(settings: Settings) -> Iterator[Client]:
    with Client(settings) as client:
        run(
            client,
            "CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT, d DATE); INSERT INTO t VALUES (1, 'x', NULL)",
        )
        yield client


def run(client: Client, sql: str, **more: object) -> list[dict]:
    answer = client.post("/v1/sql", {"sql": sql, **more})
    assert answer.status_code == 200, answer.text
    return answer.json()["results"]


def test_a_statement_is_kept_for_its_script(client: Client) -> None:
    results = run(
        client,
        """PREPARE add (INTEGER, TEXT) AS INSERT INTO t VALUES ($1, $2, $3);
        PREPARE find AS SELECT b, d FROM t WHERE a = $1 OR b = $2 ORDER BY a;
        EXECUTE add (1 + 1, upper('y') || ',;)', '2026-01-02');
        BEGIN; EXECUTE add (3, NULL, NULL); EXECUTE find (3, 'x'); COMMIT;
        EXECUTE find(2, 'x');
        DEALLOCATE add; DEALLOCATE PREPARE ALL""",
    )
    assert [r["statement"] for r in results] == [
        *("PREPARE", "PREPARE", "INSERT", "BEGIN", "INSERT", "SELECT", "COMMIT", "SELECT"),
        *("DEALLOCATE", "DEALLOCATE ALL"),
    ]
    assert results[5]["rows"] == [["x", None], [None, None]]
    assert results[7]["rows"] == [["x", None], ["Y,;)", "2026-01-02"]]


@pytest.mark.parametrize("dialect", ["duckdb", "mysql"])
def test_question_marks_are_counted(client: Client, dialect: str) -> None:
    sql = "PREPARE f AS SELECT a + ? AS s FROM t WHERE b = ?; EXECUTE f(10, 'x')"
    assert run(client, sql, dialect=dialect)[1]["rows"] == [[11]]


@pytest.mark.parametrize(
    ("sql", "status", "told"),
    [
        ("EXECUTE nothing", 404, "no prepared statement called nothing"),
        ("PREPARE p AS SELECT $1::INT; EXECUTE p", 422, "0 values are given"),
        ("PREPARE p AS SELECT $1::INT; EXECUTE p(1, 2)", 422, "2 values are given"),
        ("PREPARE p AS SELECT 1; PREPARE p AS SELECT 2", 422, "called p already"),
        ("PREPARE p AS DROP TABLE t; EXECUTE p", 422, "PREPARE of DROP"),
        ("PREPARE p AS", 400, "a statement is expected"),
        ("PREPARE p (INT) AS SELECT $1; EXECUTE p((SELECT max(a) FROM t))", 422, "t"),
        ("PREPARE p AS SELECT $1; EXECUTE p(1", 400, "not closed"),
        ("PREPARE p (INT) AS SELECT $1; EXECUTE p('x')", 422, "x"),
        ("BEGIN; PREPARE p AS SELECT 1; COMMIT", 422, "inside a block"),
        ("DEALLOCATE p", 404, "called p"),
    ],
)
def test_what_cannot_be_executed_is_refused(client: Client, sql: str, status: int, told: str) -> None:
    answer = client.post("/v1/sql", {"sql": sql})
    assert answer.status_code == status and told in answer.json()["detail"], answer.text
    assert code(client.post("/v1/sql", {"sql": "EXECUTE p"}))[0] == 404  # the next script is another session
    assert len(client.rows("t")) == 1


def test_a_prepared_statement_may_name_a_type(client: Client) -> None:
    run(client, "CREATE TYPE mood AS ENUM ('low', 'high')")
    sql = "PREPARE p AS SELECT $1::mood > 'low'::mood AS o; EXECUTE p('high'); EXECUTE p('low')"
    assert [result.get("rows") for result in run(client, sql)] == [None, [[True]], [[False]]]
