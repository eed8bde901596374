"""`12:00+00` and `13:00+01` are one instant, and two constants."""

from __future__ import annotations

from pathlib import Path

from service.settings.settings import Settings
from tests.service.client import Client
from tests.service.test_bit_columns import ask


def test_one_instant_in_two_zones_is_two_constants(tmp_path: Path) -> None:
    with Client(Settings(data=tmp_path)) as service:
        values = "(-5, '12:00+00'), (1, '13:00+01'), (2, '13:00+00')"
        ask(service, f"CREATE TABLE texts (id BIGINT, tt TIMETZ); INSERT INTO texts VALUES {values}")
        for numbers, condition in (
            ([-5], "tt = '12:00+00'"),
            ([1], "tt = '13:00+01'"),
            ([-5, 1], "tt IN ('12:00+00', '13:00+01')"),
            ([-5, 1], "tt IN ('14:00+02', '12:00+00', '13:00+01')"),
            ([1], "tt IN ('14:00+02', '15:00+03', '13:00+01')"),
            ([-5], "tt IN ('14:00+02', '15:00+03', '12:00+00')"),
            ([-5, 1], "tt = '14:00+02' OR tt = '12:00+00' OR tt = '13:00+01'"),
        ):
            ask(service, f"CREATE OR REPLACE VIEW zones AS SELECT id FROM texts WHERE {condition}")
            assert ask(service, "SELECT id FROM zones ORDER BY id") == [[number] for number in numbers], (
                condition
            )
        for text in ("12:00:00+00", "13:00:00+01"):
            ask(service, f"CREATE OR REPLACE VIEW zoned AS SELECT x FROM (VALUES ('{text}'::timetz)) AS t(x)")
            assert ask(service, "SELECT x FROM zoned") == [[text]]
        both = "SELECT '12:00+00'::timetz AS x UNION ALL SELECT '13:00+01'::timetz"
        ask(service, f"CREATE VIEW both_zones AS {both}")
        assert sorted(ask(service, "SELECT x::text FROM both_zones")) == [["12:00:00+00"], ["13:00:00+01"]]


def test_constants_of_one_moment_with_other_zones_are_two(client: Client) -> None:
    """To Python they are equal."""
    sql = (
        "SELECT v FROM (SELECT TIMETZ '12:00:00+00' AS v UNION SELECT TIMETZ '13:00:00+01') AS s",
        "SELECT 1 AS v WHERE TIMETZ '12:00:00+00' = TIMETZ '13:00:00+01'",
        "SELECT min(v) AS v FROM (SELECT TIMETZ '12:00+00' AS v UNION ALL SELECT TIMETZ '13:00+01') AS s",
    )
    for number, query in enumerate(sql):
        client.view(f"v{number}", query)
        view = client.post("/v1/sql", {"sql": f"SELECT * FROM v{number}"}).json()["results"][0]["rows"]
        asked = client.post("/v1/sql", {"sql": query}).json()["results"][0]["rows"]
        assert sorted(view) == sorted(asked)
    client.table("t", {"at": "TIMETZ"}, key=["at"])
    client.insert("t", {"at": "13:00:00+01"})
    for at, there in (("12:00:00+00", 0), ("13:00:00+01", 1)):
        made = client.post(
            "/v1/sql", {"sql": f"CREATE OR REPLACE VIEW w AS SELECT * FROM t WHERE at = TIMETZ '{at}'"}
        )
        assert made.status_code == 200, made.text
        assert len(client.get("/v1/views/w/rows").json()["rows"]) == there
