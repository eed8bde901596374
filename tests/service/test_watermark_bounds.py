"""The times that a watermark follows, and rows that would move it so far that every other row is late."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from engine.kernels.words import NULL
from planner.relation import Watermark
from service.changes.lateness import Lateness
from tests.service.client import Client, code
from tests.service.test_watermarks import ask

TABLE = (
    "CREATE TABLE clicks (page TEXT, at TIMESTAMP, WATERMARK FOR at AS at - INTERVAL '5 minutes') APPEND ONLY"
)
HOPS = (
    "SELECT window_end, count(*) AS n FROM HOP(clicks, at, INTERVAL '20 minutes', INTERVAL '1 hour') "
    "GROUP BY window_end EMIT ON WINDOW CLOSE"
)
NOW = "2026-01-01T10:00:00"


def test_the_least_times_make_nothing_late() -> None:
    delay = 5
    newest = np.array([NULL + 1, NULL + 3, NULL + 6, NULL + 7, 0, 2**63 - 1])
    assert Watermark("at", delay).after(newest).tolist() == [
        NULL + 1, NULL + 1, NULL + 1, NULL + 2, -5, 2**63 - 6
    ]  # fmt: skip
    times = np.array([[NULL, NULL + 1, NULL + 2, 0]])
    rows = np.zeros(4, np.int64), np.ones(4, np.bool_)
    assert not Lateness(0, Watermark("at", delay), NULL + 4).late(times, *rows).any()
    assert Lateness(0, Watermark("at", delay), NULL + 4).mark == NULL + 1
    assert Lateness(0, Watermark("at", delay), 5).late(times, *rows).tolist() == [False, True, True, False]
    assert Lateness(0, Watermark("at", delay), NULL).mark is None


@pytest.mark.parametrize(
    "moment", ["infinity", "-infinity", "294246-12-31 23:59:59", "-290308-12-22 00:00:00"]
)
def test_times_of_no_calendar_are_refused(client: Client, moment: str) -> None:
    """In SQL, as changes and as a file, with the row and the column; and what comes afterwards is taken."""
    ask(client, TABLE)
    client.view("hops", HOPS)
    refused = client.post("/v1/sql", {"sql": f"INSERT INTO clicks VALUES ('a', '{NOW}'), ('b', '{moment}')"})
    assert code(refused) == (422, "time_too_far")
    assert (
        "change 1 has" in refused.json()["detail"] and "column at of table clicks" in refused.json()["detail"]
    )
    if "infinity" in moment:
        rows = [{"insert": {"page": "a", "at": at}} for at in (NOW, NOW, moment)]
        answer = client.post("/v1/tables/clicks/deltas", rows)
        assert code(answer) == (422, "time_too_far") and "change 2" in answer.json()["detail"]
    selected = client.post("/v1/sql", {"sql": f"INSERT INTO clicks SELECT 'a', TIMESTAMP '{moment}'"})
    assert code(selected) == (422, "time_too_far")
    assert client.get("/v1/tables/clicks").json()["watermark"]["at"] is None
    ask(client, f"INSERT INTO clicks VALUES ('a', '{NOW}'), ('b', NULL)")
    ask(client, "INSERT INTO clicks VALUES ('a', '2026-01-01 12:00')")
    assert sorted(client.rows("hops")) == [
        ("2026-01-01T10:20:00", 1),
        ("2026-01-01T10:40:00", 1),
        ("2026-01-01T11:00:00", 1),
    ]


def test_the_first_and_the_last_year(client: Client) -> None:
    """A delay that is longer than all time there is makes nothing late; a longer one yet is refused."""
    ask(client, TABLE.replace("5 minutes", "3652500 days"))
    for moment in ("0001-01-01", "9999-12-31 23:59:59.999999", "0001-01-01"):
        assert ask(client, f"INSERT INTO clicks VALUES ('a', '{moment}')")["count"] == 1
    longer = TABLE.replace("5 minutes", "3652501 days").replace("clicks", "others")
    assert code(client.post("/v1/sql", {"sql": longer})) == (422, "unsupported_sql")


def test_a_check_by_the_clock_judges_a_row_once(client: Client) -> None:
    """When it comes, or when the check is added: no alteration fails because time has gone on."""
    soon = (datetime.now(UTC) + timedelta(seconds=3)).replace(tzinfo=None)
    ask(client, "CREATE TABLE deadlines (id BIGINT PRIMARY KEY, at TIMESTAMP CHECK (at > now()))")
    ask(client, f"INSERT INTO deadlines VALUES (1, '{soon}'), (2, NULL)")
    time.sleep(3)
    ask(client, "ALTER TABLE deadlines RENAME at TO due; ALTER TABLE deadlines ADD COLUMN more INTEGER")
    ask(client, "ALTER TABLE deadlines ADD CONSTRAINT old CHECK (due < now())")
    added = client.post("/v1/sql", {"sql": "ALTER TABLE deadlines ADD CHECK (due > now())"})
    assert code(added) == (422, "check_violated")
    updated = client.post("/v1/sql", {"sql": "UPDATE deadlines SET more = 1"})
    assert code(updated) == (422, "check_violated")


def test_a_check_bounds_how_far_ahead_a_time_is(client: Client) -> None:
    """By the clock at the time of the change, which an alteration keeps."""
    ask(client, TABLE.replace(") APPEND", ", CHECK (at <= now() + INTERVAL '1 hour')) APPEND"))

    def insert(ahead: timedelta) -> object:
        at = (datetime.now(UTC) + ahead).replace(tzinfo=None).isoformat()
        return client.post("/v1/tables/clicks/deltas", [{"insert": {"page": "a", "at": at}}])

    for _ in range(2):
        assert insert(timedelta(minutes=58)).status_code == 200
        refused = insert(timedelta(minutes=62))
        assert code(refused) == (422, "check_violated") and "clicks_at_check" in refused.json()["detail"]
        assert code(client.post("/v1/sql", {"sql": "INSERT INTO clicks VALUES ('a', '9999-01-01')"})) == (
            422,
            "check_violated",
        )
        ask(client, "ALTER TABLE clicks ADD COLUMN more INTEGER")
        ask(client, "ALTER TABLE clicks DROP COLUMN more")
    assert client.get("/v1/tables/clicks").json()["watermark"]["late"] == 0
