"""`as_of` beside the SQL: queries read an epoch where they name none themselves."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from service.settings.settings import Settings
from tests.service.client import Client, code


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with Client(Settings(data=tmp_path_factory.mktemp("data"))) as client:
        client.table("past", {"n": "BIGINT"})
        client.view("total", "SELECT sum(n) AS total FROM past")
        for n in range(1, 6):
            assert client.insert("past", {"n": n}) == n
        yield client


def asked(client: Client, sql: str, as_of: object) -> httpx.Response:
    return client.post("/v1/sql", {"sql": sql, "as_of": as_of})


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT count(*) FROM past", [[2]]),
        ("SELECT total FROM total", [[3]]),
        ("SELECT a.n, b.n FROM past AS a JOIN past AS b USING (n) ORDER BY 1", [[1, 1], [2, 2]]),
        ("WITH p AS (SELECT * FROM past) SELECT max(n) FROM p", [[2]]),
        ("SELECT (SELECT count(*) FROM past), total FROM total VERSION AS OF 4", [[2, 10]]),
        ("SELECT n FROM past WHERE n = 2", [[2]]),
        ("SELECT n FROM past WHERE n = 4", []),
        ("SELECT 1; SELECT count(*) FROM past", [[2]]),
    ],
)
def test_a_query_reads_the_epoch(client: Client, sql: str, rows: list[list[int]]) -> None:
    for as_of in (2, "2"):
        answer = asked(client, sql, as_of)
        assert answer.status_code == 200, answer.text
        assert answer.json()["results"][-1]["rows"] == rows


def test_a_time_is_an_epoch(client: Client) -> None:
    assert asked(client, "SELECT count(*) FROM past", "2100-01-01T00:00:00Z").json()["results"][0][
        "rows"
    ] == [[5]]


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO past VALUES (7)",
        "INSERT INTO past SELECT n + 10 FROM past",
        "DELETE FROM past",
        "TRUNCATE past",
        "CREATE VIEW v AS SELECT 1 AS a",
        "CREATE TABLE made AS SELECT * FROM past",
        "BEGIN; SELECT n FROM past; COMMIT",
        "DROP TABLE past",
    ],
)
def test_nothing_is_changed_as_of_an_epoch(client: Client, sql: str) -> None:
    answer = asked(client, sql, 2)
    assert code(answer) == (422, "invalid_query")
    assert "as of an epoch" in answer.json()["detail"] and answer.json()["position"] == {
        "line": 1,
        "column": 1,
    }
    assert len(client.rows("past")) == 5


def test_what_says_how_things_are_may_stand_beside(client: Client) -> None:
    for sql in ("SHOW TABLES", "EXPLAIN SELECT n FROM past", "DESCRIBE past"):
        assert asked(client, sql, 2).status_code == 200


@pytest.mark.parametrize("as_of", [99, "then", "2020-01-01", "1999-01-01T00:00:00Z", -1, 10**30])
def test_an_epoch_that_is_none(client: Client, as_of: object) -> None:
    answer = asked(client, "SELECT count(*) FROM past", as_of)
    assert 400 <= answer.status_code < 500, answer.text
