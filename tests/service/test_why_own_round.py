"""Why a recursion has a row, where its definitions read names of the same round."""

from __future__ import annotations

from tests.service.client import Client
from tests.service.test_why import sql, why

TABLE = "CREATE TABLE t (k BIGINT PRIMARY KEY, v BIGINT); INSERT INTO t VALUES (1, 2), (2, 3), (5, 9);"


def test_definitions_that_are_read_twice(client: Client) -> None:
    """So they are shared, one reads the other, and there is no second round."""
    sql(
        client,
        f"{TABLE} CREATE VIEW pairs AS WITH MUTUALLY RECURSIVE (RETURN AT RECURSION LIMIT 1)"
        "  a (k BIGINT, v BIGINT) AS (SELECT k, v FROM t),"
        "  b (k BIGINT, v BIGINT) AS ("
        "    WITH w AS (SELECT k, v FROM a WHERE v > 1),"
        "         x AS (SELECT l.k, r.v FROM w AS l JOIN w AS r ON l.v = r.k)"
        "    SELECT l.k, r.v FROM x AS l LEFT JOIN x AS r ON l.k = r.k)"
        " SELECT k, v FROM b",
    )
    assert client.rows("pairs") == [(1, 3)]
    found = why(client, "pairs", {"k": 1}).json()
    assert found["facts"][0]["rule"] == "b, round 1"
    assert found["tables"] == {"t": [{"k": 1, "v": 2}, {"k": 2, "v": 3}]}
    assert "no row" not in why(client, "pairs", {"k": 1}, format="text").text
    rounds = client.get("/v1/views/pairs/rounds", name="b").json()
    assert rounds["rounds"] == [{"round": 1, "came": 1, "went": 0}]


def test_a_recursion_in_a_definition(client: Client) -> None:
    """It is inside another one, of which it reads a name."""
    sql(
        client,
        f"{TABLE} CREATE VIEW ends AS WITH MUTUALLY RECURSIVE (RETURN AT RECURSION LIMIT 1)"
        "  a (k BIGINT, v BIGINT) AS (SELECT k, v FROM t WHERE v < 9),"
        "  b (k BIGINT, v BIGINT) AS ("
        "    WITH RECURSIVE p (k, v) AS ("
        "      SELECT k, v FROM a UNION SELECT p.k, a.v FROM p JOIN a ON p.v = a.k)"
        "    SELECT l.k, r.v FROM p AS l JOIN p AS r ON l.k = r.k AND l.v < r.v)"
        " SELECT k, v FROM b",
    )
    assert client.rows("ends") == [(1, 3)]
    found = why(client, "ends", {"k": 1}).json()
    assert sorted(row["k"] for row in found["tables"]["t"]) == [1, 2]
    assert "no row" not in why(client, "ends", {"k": 1}, format="text").text
