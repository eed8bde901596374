"""Statements that name rows by their key read these rows alone, and answer as if they had read all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from service.reading import picked_rows
from service.settings.settings import Settings
from service.sql import sight
from tests.service.client import Client

ROWS = 300
QUERIES = (
    "SELECT * FROM t WHERE id = 5",
    "SELECT * FROM t AS x WHERE x.id IN (5, 7, -1, 900) AND x.n > 0 ORDER BY id",
    "SELECT * FROM t WHERE 5 = id OR id = 6 ORDER BY id",
    "SELECT id + 1 AS id FROM t WHERE id = 5",
    "SELECT * FROM t WHERE id = 5 AND id = 6",
    "SELECT * FROM t WHERE id = '5'",
    "SELECT * FROM t WHERE id = 5.0",
    "SELECT count(*) FROM t WHERE id = 5 HAVING count(*) > 0",
    "SELECT id, row_number() OVER (ORDER BY id) FROM t WHERE id = 5",
    "SELECT t.id, u.k FROM t JOIN u ON u.id = t.id WHERE t.id = 5 AND u.k = 'k5'",
    "SELECT t.id, u.k FROM t LEFT JOIN u ON u.id = t.id WHERE t.id = 5",
    "SELECT t.id, u.k FROM t LEFT JOIN u ON u.id = t.id WHERE u.k = 'k6'",
    "SELECT t.id, u.k FROM t RIGHT JOIN u ON u.id = t.id WHERE u.k = 'k6'",
    "SELECT t.id, u.k FROM t FULL JOIN u ON u.id = t.id WHERE t.id = 5",
    "SELECT id, u.k FROM t FULL JOIN u USING (id) WHERE id = 5",
    "SELECT id FROM t NATURAL JOIN u WHERE k = 'k7'",
    "SELECT a.id, b.id FROM t AS a JOIN t AS b ON b.n = a.n WHERE a.id = 5 AND b.id = 6",
    "SELECT a.id FROM t AS a WHERE a.id = 5 AND EXISTS (SELECT 1 FROM t AS b WHERE b.id = 6)",
    "SELECT id FROM t WHERE id = 5 AND n < (SELECT max(n) FROM t)",
    "SELECT x.id FROM (SELECT * FROM t WHERE id = 5) AS x UNION ALL SELECT id FROM u WHERE k = 'k8'",
    "WITH RECURSIVE r AS (SELECT id FROM u WHERE k = 'k3' UNION SELECT u.id FROM r JOIN u ON u.id = r.id + 1"
    " WHERE u.k = 'k4') SELECT * FROM r ORDER BY 1",
    "SELECT x.p FROM t AS x (p, q) WHERE p = 5",
    "SELECT s.y, t.id FROM t CROSS JOIN LATERAL (SELECT t.n + 1 AS y) AS s WHERE t.id = 5",
    "SELECT * FROM big WHERE id = 5",
    "SELECT * FROM t VERSION AS OF 1 WHERE id = 5",
)
CHANGES = (
    "UPDATE t SET n = n + 1 WHERE id = 5 RETURNING *",
    "UPDATE t SET id = 1000 WHERE id = 6 RETURNING *",
    "UPDATE t SET n = u.id FROM u WHERE u.id = t.id AND t.id IN (7, 8) RETURNING t.id, n",
    "DELETE FROM t WHERE id = 9 RETURNING *",
    "DELETE FROM t USING u WHERE u.id = t.id AND u.k = 'k10' RETURNING t.id",
    "DELETE FROM bag WHERE x = 1 AND y = 'a' RETURNING *",
    "UPDATE bag SET y = 'z' WHERE x = 2 RETURNING *",
    "BEGIN; UPDATE t SET n = -1 WHERE id = 11; UPDATE t SET n = n - 1 WHERE id = 11;"
    " DELETE FROM t WHERE id = 12; INSERT INTO t VALUES (12, 12); UPDATE t SET n = 13 WHERE id = 12; COMMIT",
    "MERGE INTO t USING u ON t.id = u.id AND t.id = 13 WHEN MATCHED THEN UPDATE SET n = 0"
    " WHEN NOT MATCHED AND u.id = 1 THEN INSERT VALUES (2000, 1)",
)


def sql(client: Client, script: str) -> list[dict]:
    answer = client.post("/v1/sql", {"sql": script})
    assert answer.status_code == 200, answer.text
    return [{**result, "epoch": 0} for result in answer.json()["results"]]


@pytest.fixture
def client(settings: Settings) -> Iterator[Client]:
    with Client(replace(settings, spark="never")) as client:
        sql(client, "CREATE TABLE t (id BIGINT PRIMARY KEY, n BIGINT); CREATE TABLE u (id BIGINT, k TEXT)")
        sql(client, "CREATE TABLE bag (x BIGINT, y TEXT)")
        sql(client, f"INSERT INTO t SELECT i, i % 7 FROM generate_series(1, {ROWS}) AS g (i)")
        sql(client, "INSERT INTO u SELECT i, 'k' || i FROM generate_series(1, 20) AS g (i)")
        sql(client, "INSERT INTO bag VALUES (1, 'a'), (1, 'a'), (1, 'b'), (2, 'a'), (NULL, 'a')")
        sql(client, "CREATE VIEW big AS SELECT id, n FROM t WHERE n > 2")
        yield client


def test_answers_are_as_without_lookups(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    with_lookups = [sql(client, query) for query in QUERIES]
    with monkeypatch.context() as patch:
        patch.setattr(picked_rows, "find_rows", lambda *args: None)
        assert [sql(client, query) for query in QUERIES] == with_lookups
    assert sum(bool(answer[-1]["rows"]) for answer in with_lookups) >= 20


def test_changes_are_as_without_lookups(
    client: Client, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answers() -> list:
        found = [[it.get("rows") or it.get("count") for it in sql(client, change)] for change in CHANGES]
        return [*found, sorted(client.rows("t")), sorted(client.rows("bag"), key=str)]

    with_lookups = answers()
    assert all(with_lookups)
    sql(client, "TRUNCATE t; TRUNCATE bag")
    sql(client, f"INSERT INTO t SELECT i, i % 7 FROM generate_series(1, {ROWS}) AS g (i)")
    sql(client, "INSERT INTO bag VALUES (1, 'a'), (1, 'a'), (1, 'b'), (2, 'a'), (NULL, 'a')")
    monkeypatch.setattr(picked_rows, "find_rows", lambda *args: None)
    assert answers() == with_lookups


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT count(*) FROM t WHERE id = 5",
        "DELETE FROM t WHERE id = 5",
        "UPDATE t SET n = 0 WHERE id IN (5)",
    ],
)
def test_only_rows_of_the_key_are_read(
    client: Client, monkeypatch: pytest.MonkeyPatch, statement: str
) -> None:
    read: list[int] = []
    arrow_table = sight.arrow_table

    def counted(rows, *args):
        read.append(len(rows[1]))
        return arrow_table(rows, *args)

    monkeypatch.setattr(sight, "arrow_table", counted)
    sql(client, statement)
    assert read == [1]


def test_an_update_of_another_row_is_no_conflict(client: Client) -> None:
    """A draft that has found its row by the key stands although other rows of the table have changed."""
    runtime = client.runtime
    epochs = runtime._state.epochs

    def work(transaction):
        key = np.array([[5]], np.int64)
        rows, _ = transaction.snapshot.few_rows_between("t", key, key, None, 64)
        return rows

    draft = runtime.draft(work)
    sql(client, "UPDATE t SET n = 100 WHERE id = 6")
    assert draft.snapshot.is_still_so(runtime.snapshot)
    sql(client, "UPDATE t SET n = 100 WHERE id = 5")
    assert not draft.snapshot.is_still_so(runtime.snapshot)
    assert epochs.settle(draft) is not None  # it has changed nothing
