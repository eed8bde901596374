"""ksqlDB's WINDOW: as views and ad hoc the same as TUMBLE, HOP and SESSION, while rows come and go."""

from __future__ import annotations

import random

import pytest

from tests.seeds import each_seed, few
from tests.service.client import Client

PAIRS = {
    "hours": (
        "SELECT page, WINDOWSTART, WINDOWEND, count(*) AS n FROM taps WINDOW TUMBLING (SIZE 1 HOUR) "
        "WHERE page <> 'c' GROUP BY page HAVING count(*) > 1",
        "SELECT page, window_start, window_end, count(*) FROM TUMBLE(taps, at, INTERVAL '1 hour') "
        "WHERE page <> 'c' GROUP BY page, window_start, window_end HAVING count(*) > 1",
    ),
    "hops": (
        "SELECT page AS p, windowstart AS s, sum(n) AS n FROM taps AS t "
        "WINDOW HOPPING (SIZE 60 MINUTES, ADVANCE BY 20 MINUTES) GROUP BY page ",
        "SELECT page, window_start, sum(n) FROM "
        "HOP(taps, at, INTERVAL '20 minutes', INTERVAL '60 minutes') GROUP BY page, window_start",
    ),
    "visits": (
        "SELECT page, windowstart, windowend, count(*) AS n FROM taps "
        "WINDOW SESSION (15 MINUTES) GROUP BY page",
        "SELECT page, window_start, window_end - INTERVAL '15 minutes', count(*) FROM TABLE(SESSION("
        "TABLE taps PARTITION BY page, DESCRIPTOR(at), INTERVAL '15' MINUTE)) "
        "GROUP BY page, window_start, window_end",
    ),
}


@each_seed(few(2))
def test_windows_are_those_of_the_calls(client: Client, seed: int) -> None:
    client.table("taps", {"id": "BIGINT", "page": "TEXT", "at": "TIMESTAMP", "n": "INTEGER"}, ["id"])
    for name, (sql, _) in PAIRS.items():
        client.view(name, sql)
    rng = random.Random(seed)
    for _ in range(6):
        changes = [
            {
                "upsert": {
                    "id": rng.randrange(30),
                    "page": rng.choice("abc"),
                    "at": f"2026-01-01T{rng.randrange(4):02}:{rng.randrange(60):02}:00",
                    "n": rng.randrange(5),
                }
            }
            for _ in range(8)
        ]
        gone = [{"delete": {"id": row[0]}} for row in client.rows("taps")[:4]]
        client.change("taps", *gone, *changes)
        for name, (sql, call) in PAIRS.items():
            asked, expected = (
                sorted(map(tuple, client.post("/v1/sql", {"sql": query}).json()["results"][0]["rows"]))
                for query in (sql, call)
            )
            assert sorted(client.rows(name)) == asked == expected, name


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("SELECT page FROM taps WINDOW TUMBLING (SIZE 1 HOUR)", "needs a GROUP BY"),
        ("SELECT page FROM taps WINDOW HOPPING (SIZE 1 HOUR) GROUP BY page", "takes other lengths"),
        (
            "SELECT page FROM taps WINDOW TUMBLING (SIZE 1 HOUR, GRACE PERIOD 1 DAY) GROUP BY page",
            "GRACE of a WINDOW",
        ),
        ("SELECT page FROM taps, taps b WINDOW TUMBLING (SIZE 1 HOUR) GROUP BY page", "those of one table"),
        ("SELECT page FROM taps WINDOW SESSION (1 HOUR) WHERE n > 1 GROUP BY page", "SESSION with WHERE"),
        ("SELECT n FROM taps WINDOW SESSION (1 HOUR) GROUP BY n + 1", "by an expression"),
        ("SELECT n FROM twice WINDOW TUMBLING (SIZE 1 HOUR) GROUP BY n", "has 2 columns of TIMESTAMP"),
    ],
)
def test_refusals(client: Client, sql: str, says: str) -> None:
    client.table("taps", {"page": "TEXT", "at": "TIMESTAMP", "n": "INTEGER"})
    client.table("twice", {"n": "INTEGER", "at": "TIMESTAMP", "seen": "TIMESTAMP"})
    for answer in (client.post("/v1/views", {"name": "v", "sql": sql}), client.post("/v1/sql", {"sql": sql})):
        assert answer.status_code == 422
        assert says in answer.json()["detail"], answer.text
