"""Large requests are computed beside the writer: small ones go on, and each is one epoch or none."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from engine.runtime.engine import Engine
from engine.runtime.side_advance import ViewLost
from service.settings.settings import Settings
from service.writing.large_changes import LargeRequest
from tests.service import jobs
from tests.service.client import Client, code
from tests.service.hands import Hands

LARGE = 20
ROWS = [{"insert": {"id": i, "g": i % 3, "name": f"n{i % 5}"}} for i in range(100, 100 + LARGE)]
SCRIPT = """
CREATE TABLE t (id BIGINT PRIMARY KEY, g BIGINT, name TEXT);
CREATE TABLE o (g BIGINT, weight BIGINT);
CREATE VIEW v AS SELECT t.g, count(*) AS n, max(name) AS most, sum(weight) AS w
    FROM t JOIN o ON t.g = o.g GROUP BY t.g;
"""


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return replace(settings, large_changes=LARGE)


@pytest.fixture
def client(settings: Settings) -> Iterator[Client]:
    with Client(settings) as client:
        fill(client)
        yield client


def fill(client: Client) -> None:
    sql(client, SCRIPT)
    client.insert("o", *({"g": g, "weight": 10**g} for g in range(3)))
    client.insert("t", {"id": 1, "g": 0, "name": "a"}, {"id": 2, "g": 1, "name": "z"})


class Pause:
    """Holds large requests once they are computed; `times` counts how often that was."""

    def __init__(self) -> None:
        self.reached, self.go_on = threading.Event(), threading.Event()
        self.times = 0

    def compute(self, change: LargeRequest, *arguments) -> None:
        _compute(change, *arguments)
        self.times += 1
        self.reached.set()
        assert self.go_on.wait(240)


_compute = LargeRequest.compute


@pytest.fixture
def pause(monkeypatch: pytest.MonkeyPatch) -> Iterator[Pause]:
    pause = Pause()
    monkeypatch.setattr(LargeRequest, "compute", lambda *arguments: pause.compute(*arguments))
    yield pause
    pause.go_on.set()


def sql(client: Client, script: str) -> list:
    answer = client.post("/v1/sql", {"sql": script})
    assert answer.status_code == 200, answer.text
    return answer.json()["results"]


def begun(client: Client, pause: Pause, *changes: dict) -> Future[httpx.Response]:
    """Sends changes, and returns once they are computed."""
    sent = client.begin(client.http.post("/v1/tables/t/deltas", json=list(changes)))
    assert pause.reached.wait(240)
    return sent


def ended(sent: Future[httpx.Response], pause: Pause) -> httpx.Response:
    pause.go_on.set()
    return sent.result(240)


def from_scratch(client: Client, epoch: int | None = None) -> list[tuple]:
    """The rows of the view, from those of its tables."""
    at = {} if epoch is None else {"as_of": epoch}
    weights = dict(client.rows("o", **at))
    groups: dict[int, list[str]] = {}
    for _, g, name in client.rows("t", **at):
        groups.setdefault(g, []).append(name)
    return [(g, len(names), max(names), len(names) * weights[g]) for g, names in sorted(groups.items())]


def check(client: Client) -> None:
    """The view is right at every epoch."""
    for epoch in range(2, client.runtime.snapshot.upper):
        assert client.rows("v", as_of=epoch) == from_scratch(client, epoch), epoch


def test_small_requests_go_on(client: Client, pause: Pause) -> None:
    sent = begun(client, pause, *ROWS)
    before = client.insert("t", {"id": 3, "g": 2, "name": "zz"})
    client.change("o", {"delete": {"g": 1, "weight": 10}}, {"insert": {"g": 1, "weight": 7}})
    last = client.change("t", {"delete": {"id": 1}})
    assert client.rows("v") == from_scratch(client) == [(1, 1, "z", 7), (2, 1, "zz", 100)]
    epoch = ended(sent, pause).json()["epoch"]
    assert before < last < epoch
    assert len(client.rows("t")) == LARGE + 2
    check(client)
    client.change("t", {"delete": {"id": 100}}, {"delete": {"id": 3}})
    check(client)


def test_it_survives_a_crash(settings: Settings, pause: Pause, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.running.checkpoints.Checkpoints.finish", lambda self: None)
    with Client(settings) as client:
        fill(client)
        sent = begun(client, pause, *ROWS)
        client.insert("t", {"id": 3, "g": 2, "name": "new text"})
        ended(sent, pause)
        client.insert("t", {"id": 4, "g": 2, "name": "newer text"})
        expected = client.rows("t"), client.rows("v")
    with Client(settings) as again:
        assert (again.rows("t"), again.rows("v")) == expected
        check(again)


def test_a_row_that_another_request_has_changed(client: Client, pause: Pause) -> None:
    """The large request is judged again, so it comes later."""
    upserts = [{"upsert": {**change["insert"], "name": "large"}} for change in ROWS]
    sent = begun(client, pause, *upserts, {"upsert": {"id": 1, "g": 2, "name": "large"}})
    client.change("t", {"upsert": {"id": 1, "g": 1, "name": "small"}})
    assert ended(sent, pause).status_code == 200
    assert pause.times == 2
    assert (1, 2, "large") in client.rows("t")
    check(client)


def test_a_key_that_another_request_has_taken(client: Client, pause: Pause) -> None:
    sent = begun(client, pause, *ROWS)
    client.insert("t", {"id": 105, "g": 1, "name": "small"})
    answer = ended(sent, pause)
    assert code(answer) == (409, "key_exists")
    assert "id = 105" in answer.text
    assert len(client.rows("t")) == 3
    check(client)


def test_a_view_that_is_created_meanwhile(client: Client, pause: Pause) -> None:
    sent = begun(client, pause, *ROWS)
    client.view("w", "SELECT name, count(*) AS n FROM t GROUP BY name")
    assert ended(sent, pause).status_code == 200
    assert pause.times == 2
    assert sum(n for _, n in client.rows("w")) == LARGE + 2
    check(client)


def load(client: Client, path: Path) -> str:
    """Begins to load the large rows from a file; returns the load's address."""
    pq.write_table(pa.Table.from_pylist([change["insert"] for change in ROWS]), path)
    return jobs.begin(client, "loads", table="t", format="parquet", path=str(path))


def test_a_load_that_is_made_again(settings: Settings, pause: Pause, tmp_path: Path) -> None:
    """Its differences are made where its rows are, for one epoch and then for another."""
    with Client(replace(settings, load_roots=str(tmp_path))) as client:
        fill(client)
        job = load(client, tmp_path / "rows.parquet")
        assert pause.reached.wait(240)
        client.insert("t", {"id": 3, "g": 2, "name": "zz"})
        client.view("w", "SELECT name, count(*) AS n FROM t GROUP BY name")
        pause.go_on.set()
        assert jobs.ended(client, job)["state"] == "done"
        assert pause.times == 2
        assert len(client.rows("t")) == sum(n for _, n in client.rows("w")) == LARGE + 3
        check(client)
        client.change("t", *({"delete": {"id": change["insert"]["id"]}} for change in ROWS))
        assert len(client.rows("t")) == 3
        check(client)


def test_a_load_in_the_writers_turn(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def compute(change: LargeRequest, *arguments) -> None:
        _compute(change, *arguments)
        raise ViewLost("made again in the writer's turn")

    with Client(replace(settings, load_roots=str(tmp_path))) as client:
        fill(client)
        monkeypatch.setattr(LargeRequest, "compute", compute)
        assert jobs.ended(client, load(client, tmp_path / "rows.parquet"))["state"] == "done"
        assert len(client.rows("t")) == LARGE + 2
        check(client)


def test_a_table_that_is_dropped_meanwhile(client: Client, pause: Pause) -> None:
    sent = begun(client, pause, *ROWS)
    sql(client, "DROP TABLE t CASCADE; CREATE TABLE t (id BIGINT PRIMARY KEY, g BIGINT, name TEXT)")
    assert code(ended(sent, pause)) == (409, "table_changed")
    assert client.rows("t") == []


def test_a_table_that_never_rests(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """After some attempts the large request takes the writer's turn."""
    numbers = iter(range(10**6))

    def compute(change: LargeRequest, *arguments) -> None:
        _compute(change, *arguments)
        client.change("t", {"upsert": {"id": 1, "g": 1, "name": f"{next(numbers)}"}})

    monkeypatch.setattr(LargeRequest, "compute", compute)
    changes = [*ROWS, {"upsert": {"id": 1, "g": 2, "name": "large"}}]
    assert client.deltas("t", *changes).status_code == 200
    assert next(numbers) == 3
    assert (1, 2, "large") in client.rows("t")
    check(client)


def test_an_idempotency_key(client: Client, settings: Settings) -> None:
    answers = [client.deltas("t", *ROWS, Idempotency_Key="k").json() for _ in range(2)]
    assert answers[0] == answers[1]
    other = client.deltas("t", *ROWS[1:], *ROWS[:1], Idempotency_Key="k")
    assert code(other) == (422, "idempotency_key_reused")
    assert len(client.rows("t")) == LARGE + 2


def test_views_that_read_the_time(settings: Settings) -> None:
    now = datetime(2030, 1, 1, tzinfo=UTC)
    hands = Hands(now)
    with Client(settings, time=hands) as client:
        sql(
            client,
            """
            CREATE TABLE t (id BIGINT PRIMARY KEY, at TIMESTAMPTZ);
            CREATE VIEW recent AS SELECT id FROM t WHERE at > now() - INTERVAL '1 hour';
            CREATE VIEW counted AS SELECT count(*) AS n FROM recent;
            """,
        )
        for hour in range(3):
            rows = ({"id": 100 * hour + i, "at": hands.at.isoformat()} for i in range(LARGE))
            epoch = client.insert("t", *rows)
            assert client.rows("counted") == [(LARGE,)], hour
            assert client.runtime.snapshot.upper == epoch + 1
            hands.set(hands.at + timedelta(minutes=59), client)
            assert client.rows("counted") == [(LARGE,)], hour
            hands.set(hands.at + timedelta(minutes=2), client)
            assert client.rows("counted") == [(0,)], hour


def test_a_view_that_fails(client: Client) -> None:
    """The request takes the writer's turn, which makes it an epoch without the view."""
    sql(
        client,
        """
        CREATE VIEW doomed AS WITH RECURSIVE r(a) AS (
            SELECT id FROM t WHERE id > 99 UNION ALL SELECT a + 1 FROM r) SELECT count(*) AS n FROM r;
        """,
    )
    runtime = client.runtime
    assert client.deltas("t", *ROWS).status_code == 200
    assert runtime.failure("doomed") is not None
    assert len(client.rows("t")) == LARGE + 2
    check(client)


def test_constraints_between_rows(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such a request goes in the writer's turn, which judges it."""
    sql(client, "CREATE TABLE u (a BIGINT UNIQUE)")
    monkeypatch.setattr(Engine, "begin_aside", None)
    client.insert("u", *({"a": a} for a in range(LARGE)))
    assert code(client.deltas("u", *({"insert": {"a": a}} for a in range(LARGE)))) == (409, "unique_violated")


def test_a_constraint_that_comes_meanwhile(client: Client, pause: Pause) -> None:
    sent = begun(client, pause, *ROWS)
    sql(client, "ALTER TABLE t ADD CONSTRAINT one UNIQUE (name)")
    assert code(ended(sent, pause)) == (409, "table_changed")
    assert len(client.rows("t")) == 2


def test_the_service_ends_meanwhile(client: Client, settings: Settings, pause: Pause) -> None:
    sent = begun(client, pause, *ROWS)
    waits = client.begin(client.http.post("/v1/tables/t/deltas", json=ROWS))
    client.runtime._leading.large._closed = True
    assert code(ended(sent, pause)) == (503, "shutting_down")
    assert code(waits.result(240)) == (503, "shutting_down")
    assert len(client.rows("t")) == 2


def test_so_many_changes_wait(settings: Settings, pause: Pause) -> None:
    with Client(replace(settings, queue_changes=LARGE + 5)) as client:
        sql(client, SCRIPT)
        sent = begun(client, pause, *ROWS)
        assert code(client.deltas("t", *ROWS)) == (429, "overloaded")
        client.insert("t", {"id": 1, "g": 0, "name": "a"})
        assert ended(sent, pause).status_code == 200
