"""Statements that change many rows are made beside the writer, and anew if what they read has changed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import replace

import httpx
import pytest

from service.settings.settings import Settings
from service.writing.large_changes import LargeDraft
from tests.service.client import Client, code

LARGE = 20
SCRIPT = f"""
CREATE TABLE t (id BIGINT PRIMARY KEY, g BIGINT, name TEXT);
CREATE TABLE o (a BIGINT);
CREATE VIEW v AS SELECT g, count(*) AS n, max(name) AS most FROM t GROUP BY g;
INSERT INTO t SELECT i, i % 3, 'n' || i FROM generate_series(1, {LARGE}) AS s (i);
"""


class Pause:
    """Holds large drafts once they are computed; `times` counts how often that was."""

    def __init__(self) -> None:
        self.reached, self.go_on = threading.Event(), threading.Event()
        self.times = 0

    def compute(self, change: LargeDraft, *arguments) -> None:
        _compute(change, *arguments)
        self.times += 1
        self.reached.set()
        assert self.go_on.wait(240)


_compute = LargeDraft.compute


@pytest.fixture
def client(settings: Settings) -> Iterator[Client]:
    with Client(replace(settings, spark="never", large_changes=LARGE)) as client:
        assert client.post("/v1/sql", {"sql": SCRIPT}).status_code == 200
        yield client


@pytest.fixture
def pause(monkeypatch: pytest.MonkeyPatch, client: Client) -> Iterator[Pause]:
    pause = Pause()
    monkeypatch.setattr(LargeDraft, "compute", lambda *arguments: pause.compute(*arguments))
    yield pause
    pause.go_on.set()


def begun(client: Client, pause: Pause, script: str) -> Future[httpx.Response]:
    """Sends a script, and returns once its draft is computed."""
    sent = client.begin(client.http.post("/v1/sql", json={"sql": script}, timeout=None))
    assert pause.reached.wait(240)
    return sent


def ended(sent: Future[httpx.Response], pause: Pause) -> httpx.Response:
    pause.go_on.set()
    return sent.result(240)


def check(client: Client) -> None:
    """The view is right at every epoch."""
    for epoch in range(1, client.runtime.snapshot.upper):
        groups: dict[int, list[str]] = {}
        for _, g, name in client.rows("t", as_of=epoch):
            groups.setdefault(g, []).append(name)
        expected = [(g, len(names), max(names)) for g, names in sorted(groups.items())]
        assert client.rows("v", as_of=epoch) == expected, epoch


def test_small_requests_go_on(client: Client, pause: Pause) -> None:
    sent = begun(client, pause, "UPDATE t SET name = name || '!', g = g + 1")
    before = client.insert("o", {"a": 1})
    assert client.rows("t")[0] == (1, 1, "n1")
    answer = ended(sent, pause)
    assert answer.status_code == 200, answer.text
    (result,) = answer.json()["results"]
    assert result["count"] == LARGE
    assert result["epoch"] > before
    assert pause.times == 1
    assert client.rows("t")[0] == (1, 2, "n1!")
    check(client)


def test_what_was_read_has_changed(client: Client, pause: Pause) -> None:
    sent = begun(client, pause, "UPDATE t SET g = (SELECT count(*) FROM t)")
    client.insert("t", {"id": 100, "g": 0, "name": "new"})
    assert ended(sent, pause).status_code == 200
    assert pause.times == 2
    assert {g for _, g, _ in client.rows("t")} == {LARGE + 1}
    check(client)


def test_a_checkpoint_changes_nothing_that_was_read(client: Client, pause: Pause) -> None:
    sent = begun(client, pause, "DELETE FROM t WHERE id > 0")
    state = client.runtime._state
    directory, shards = state.directory, state.settings.shards
    client.runtime._leading.writer.call(lambda: state.engine.spill(directory, shards))
    assert ended(sent, pause).status_code == 200
    assert pause.times == 1
    assert client.rows("t") == []
    check(client)


def test_a_row_that_refers_to_one_that_goes(client: Client, pause: Pause) -> None:
    script = "CREATE TABLE c (id BIGINT REFERENCES t (id))"
    assert client.post("/v1/sql", {"sql": script}).status_code == 200
    sent = begun(client, pause, "DELETE FROM t WHERE id > 0")
    client.insert("c", {"id": 7})
    answer = ended(sent, pause)
    assert code(answer) == (409, "foreign_key_violated"), answer.text
    assert len(client.rows("t")) == LARGE
    check(client)


def test_what_never_rests_takes_the_turn_of_the_writer(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = iter(range(1_000, 10_000))

    def compute(change: LargeDraft, *arguments) -> None:
        _compute(change, *arguments)
        client.insert("t", {"id": next(numbers), "g": 0, "name": "new"})

    monkeypatch.setattr(LargeDraft, "compute", compute)
    answer = client.post("/v1/sql", {"sql": "UPDATE t SET g = 7"})
    assert answer.status_code == 200, answer.text
    assert next(numbers) == 1_005
    assert {g for _, g, _ in client.rows("t")} == {7}
    check(client)
