"""Views that change as time passes: the epochs that the service makes, and a restart."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from service.settings.settings import Settings
from tests.service.client import Client
from tests.service.hands import Hands

START = datetime(2024, 2, 28, 12, tzinfo=UTC)
LIVE = "SELECT id FROM t WHERE ts > now() - INTERVAL '1 hour' AND ts <= now()"


@pytest.fixture
def hands() -> Hands:
    return Hands(START)


@pytest.fixture
def timed(settings: Settings, hands: Hands) -> Iterator[Client]:
    with Client(settings, time=hands) as client:
        yield client


def sql(client: Client, text: str) -> list[dict]:
    answer = client.post("/v1/sql", {"sql": text})
    assert answer.status_code == 200, answer.text
    return answer.json()["results"]


def table(client: Client, view: str = f"CREATE VIEW live AS {LIVE}") -> None:
    sql(client, f"CREATE TABLE t (id BIGINT, ts TIMESTAMP); {view}")


def insert(client: Client, *rows: tuple[int, timedelta]) -> int:
    """Inserts rows with times at these distances from the start. Returns their epoch."""
    lines = ", ".join(f"({id}, '{(START + at).replace(tzinfo=None).isoformat()}')" for id, at in rows)
    return sql(client, f"INSERT INTO t VALUES {lines}")[0]["epoch"]


def passed(client: Client, hands: Hands, time: timedelta) -> None:
    """Sets the clock to this time after the start."""
    hands.set(START + time, client)


def live(client: Client, **parameters: object) -> list[int]:
    answer = client.get("/v1/views/live/rows", **parameters)
    assert answer.status_code == 200, answer.text
    return sorted(row["id"] for row in answer.json()["rows"])


def epoch(client: Client) -> int:
    return client.runtime.snapshot.upper - 1


MINUTE = timedelta(minutes=1)


def test_rows_come_and_go_though_nothing_else_happens(timed: Client, hands: Hands) -> None:
    table(timed)
    first = insert(timed, (1, timedelta(0)), (2, 30 * MINUTE), (3, -70 * MINUTE))
    assert live(timed) == [1]
    passed(timed, hands, 30 * MINUTE)
    assert live(timed) == [1, 2]
    passed(timed, hands, 59 * MINUTE)
    assert epoch(timed) == first + 1, "nothing was due"
    passed(timed, hands, 60 * MINUTE)
    assert live(timed) == [2]
    passed(timed, hands, 900 * MINUTE)
    assert live(timed) == []
    last = epoch(timed)
    passed(timed, hands, 9000 * MINUTE)
    assert epoch(timed) == last, "nothing will ever be due again"
    assert [live(timed, as_of=at) for at in range(first, last + 1)] == [[1], [1, 2], [2], []]
    moment = (START + 45 * MINUTE).isoformat().replace("+00:00", "Z")
    assert live(timed, as_of=moment) == [1, 2]


def test_epochs_by_time_alone_are_an_interval_apart(timed: Client, hands: Hands) -> None:
    table(timed)
    hour = 60 * MINUTE
    first = insert(timed, *((n, timedelta(milliseconds=n) - hour) for n in range(1, 5)))
    passed(timed, hands, timedelta(milliseconds=2))
    assert (epoch(timed), live(timed)) == (first, [1, 2, 3, 4])
    passed(timed, hands, timedelta(milliseconds=1000))
    assert (epoch(timed), live(timed)) == (first + 1, [])


def test_an_epoch_of_a_client_has_its_time(timed: Client, hands: Hands) -> None:
    table(timed)
    first = insert(timed, (1, timedelta(0)))
    hands.at = START + 61 * MINUTE
    assert live(timed, as_of=insert(timed, (2, 61 * MINUTE))) == [2]
    assert live(timed, as_of=first) == [1]


def test_views_over_views_and_dates(timed: Client, hands: Hands) -> None:
    table(timed)
    sql(timed, "CREATE VIEW many AS SELECT count(*) AS c, current_date AS today FROM live GROUP BY 2")
    insert(timed, (1, timedelta(0)), (2, 11 * 60 * MINUTE + 30 * MINUTE))
    passed(timed, hands, 11 * 60 * MINUTE + 40 * MINUTE)
    passed(timed, hands, 12 * 60 * MINUTE + 10 * MINUTE)
    assert sql(timed, "SELECT * FROM many")[0]["rows"] == [[1, "2024-02-29"]]


def test_without_such_views_no_epoch_is_made(timed: Client, hands: Hands) -> None:
    table(timed, "CREATE VIEW v AS SELECT id FROM t")
    first = insert(timed, (1, timedelta(0)))
    passed(timed, hands, timedelta(days=3))
    sql(timed, f"CREATE VIEW live AS {LIVE}")
    assert live(timed, as_of=first) == [1]
    passed(timed, hands, timedelta(days=3, seconds=2))
    assert live(timed) == []
    sql(timed, "DROP VIEW live")
    insert(timed, (2, timedelta(days=3)))
    last = epoch(timed)
    passed(timed, hands, timedelta(days=9))
    assert epoch(timed) == last
    assert sql(timed, "SHOW TABLES")[0]["rows"][0][0] == "t"
    assert len(sql(timed, "SHOW TABLES")[0]["rows"]) == 1


def test_a_new_service_can_begin_with_a_date(timed: Client, hands: Hands) -> None:
    sql(timed, "CREATE VIEW days AS SELECT current_date AS today")
    passed(timed, hands, timedelta(0))
    assert sql(timed, "SELECT * FROM days")[0]["rows"] == [["2024-02-28"]]


@pytest.mark.parametrize("checkpoint", [1, 20_000])
def test_a_restart_goes_on_where_it_was(settings: Settings, hands: Hands, checkpoint: int) -> None:
    settings = Settings(data=settings.data, checkpoint_commits=checkpoint)
    with Client(settings, time=hands) as client:
        table(client)
        first = insert(client, (1, timedelta(0)), (2, 30 * MINUTE), (3, 200 * MINUTE))
        passed(client, hands, 40 * MINUTE)
        before = [live(client, as_of=at) for at in range(first, epoch(client) + 1)]
    hands.at = START + 65 * MINUTE
    with Client(settings, time=hands) as client:
        assert [live(client, as_of=at) for at in range(first, first + 2)] == before == [[1], [1, 2]]
        passed(client, hands, 65 * MINUTE)
        assert live(client) == [2]
        passed(client, hands, 200 * MINUTE)
        assert live(client) == [3]
        sql(client, "CREATE VIEW late AS SELECT id FROM t WHERE ts < now()")
        assert [row["id"] for row in client.get("/v1/views/late/rows", as_of=first).json()["rows"]] == []


def test_a_crash_loses_nothing(settings: Settings, hands: Hands, tmp_path) -> None:
    """The log alone is enough: the last manifest is removed."""
    with Client(settings, time=hands) as client:
        table(client)
        first = insert(client, (1, timedelta(0)), (2, 30 * MINUTE))
        passed(client, hands, 40 * MINUTE)
        client.runtime._leading.checkpoints.finish = lambda: None
    with Client(settings, time=hands) as client:
        assert [live(client, as_of=at) for at in range(first, first + 2)] == [[1], [1, 2]]
        passed(client, hands, 61 * MINUTE)
        assert live(client) == [2]


def test_a_crash_after_a_checkpoint_loses_no_time(settings: Settings, hands: Hands) -> None:
    """The first epoch of the log, behind a manifest, has its own time again."""
    with Client(settings, time=hands) as client:
        table(client)
        insert(client, (1, timedelta(0)))
    hands.at = START + 40 * MINUTE
    with Client(settings, time=hands) as client:
        second = insert(client, (2, 30 * MINUTE))
        before = [live(client, as_of=at) for at in (second - 1, second)]
        client.runtime._leading.checkpoints.finish = lambda: None
    with Client(settings, time=hands) as client:
        assert [live(client, as_of=at) for at in (second - 1, second)] == before == [[1], [1, 2]]


def test_statements_may_write_the_time(timed: Client) -> None:
    """Names that DuckDB would read as columns if a select list has such columns."""
    sql(timed, "CREATE TABLE log (id BIGINT, at TIMESTAMP, d DATE)")
    sql(timed, "INSERT INTO log SELECT 1, now(), current_date; UPDATE log SET at = now() + INTERVAL '1 hour'")
    sql(timed, "INSERT INTO log SELECT 2, localtimestamp, current_date")
    rows = sql(timed, "SELECT count(at), count(d), max(at) > now() AS ahead FROM log")[0]["rows"]
    assert rows == [[2, 2, True]]
