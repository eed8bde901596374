"""Memory follows what is live: nothing that the service holds grows with the number of changes.

`make soak` sends a hundred times as many changes.
"""

from __future__ import annotations

import gc
import os
import time
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from engine.errors import EngineError
from engine.state.dictionary import WORTH
from service.decoding.parsing import parse
from service.reading.reads import Query
from service.reading.row_formats import json_rows
from service.settings.budget import Budget
from service.settings.settings import Settings
from tests.service.client import Client

CHANGES = int(os.environ.get("FRESHET_CHURN", "10000"))
POSTS = 25
"""Posts between two looks."""
LOOKS = 4
ROWS = 400
FORGOTTEN = 1
"""Seconds after which history may go."""
BUDGET = Budget(1000, 1 << 20)
VIEWS = {
    "totals": "SELECT g, count(*) AS n, sum(a) AS total FROM t GROUP BY g",
    "few": "SELECT id, upper(s) AS s FROM t WHERE a % 4 = 0",
    "first": "SELECT id, s FROM t ORDER BY s, id LIMIT 10",
    "numbers": "SELECT id, CAST(s AS BIGINT) AS n FROM t WHERE id < 40",
}


@pytest.fixture
def churned(settings: Settings) -> Iterator[Client]:
    with Client(replace(settings, history_seconds=FORGOTTEN)) as client:
        yield client


def checkpoint(client: Client) -> None:
    """Forget what is old enough, and write a checkpoint."""
    runtime = client.runtime
    runtime._leading.writer.call(runtime._leading.checkpoints.finish)


def look(client: Client) -> tuple[dict[str, int], Counter]:
    """What the service holds by kind once old history is gone, and the objects of each type."""
    for _ in range(2):
        time.sleep(FORGOTTEN + 0.1)
        client.change("t", {"upsert": {"id": 0, "g": 0, "a": 1, "s": "the last"}})
        checkpoint(client)
    held = client.get("/v1/status").json()["held"]
    gc.collect()
    objects = Counter(type(it).__qualname__ for it in gc.get_objects())
    return held, objects


def churn(client: Client, first: int, count: int, posts: int, view: Callable[[int], None]) -> None:
    for post in range(posts):
        start = first + post * count
        lines = [
            {"upsert": {"id": n * 7 % ROWS, "g": n % 20, "a": n, "s": f"the text of change {n}"}}
            for n in range(start, start + count)
        ]
        client.change("t", *lines)
        view(post)
        if post % 10 == 9:
            checkpoint(client)


def test_nothing_grows_with_the_number_of_changes(churned: Client) -> None:
    churned.table("t", {"id": "BIGINT", "g": "BIGINT", "a": "BIGINT", "s": "TEXT"}, key=["id"])
    for name, sql in VIEWS.items():
        churned.view(name, sql)

    def read(post: int) -> None:
        for name in ("t", "few", "first"):
            churned.rows(name)

    count = CHANGES // (POSTS * LOOKS)
    looks = []
    for number in range(LOOKS):
        churn(churned, number * count * POSTS, count, POSTS, read)
        looks.append(look(churned))
    (early, few), (late, many) = looks[1], looks[-1]
    # A collection waits for as many new texts as are worth it, and keeps those of the readable past.
    assert late["texts"] < 3 * ROWS + 3 * WORTH, looks
    for kind in ("history_bytes", "trace_bytes", "mapped_bytes", "differences", "log_bytes", "log_commits"):
        assert late[kind] <= 1.2 * early[kind] + 1_000_000, (kind, [held for held, _ in looks])
    assert late["dictionary_bytes"] <= 2 * early["dictionary_bytes"] + 2_000_000, looks
    grown = {kind: (few[kind], n) for kind, n in many.items() if n > few[kind] + 500}
    assert not grown
    assert len(churned.rows("t")) == len({n * 7 % ROWS for n in range(ROWS)})


def test_messages_of_failed_rows_go_with_their_history(churned: Client) -> None:
    churned.table("t", {"id": "BIGINT", "s": "TEXT"}, key=["id"])
    churned.view("numbers", "SELECT id, CAST(s AS BIGINT) AS n FROM t")
    for number in range(200):
        churned.change("t", {"upsert": {"id": 1, "s": f"number {number}"}})
    churned.change("t", {"upsert": {"id": 1, "s": "7"}})
    for _ in range(2):
        time.sleep(FORGOTTEN + 0.1)
        churned.change("t", {"upsert": {"id": 2, "s": "8"}})
        checkpoint(churned)
    assert churned.rows("numbers") == [(1, 7), (2, 8)]
    assert churned.get("/v1/status").json()["held"]["differences"] < 100


def collect(client: Client) -> None:
    """Forget all but the newest rows, and collect texts."""
    dictionary = client.runtime.dictionary
    for _ in range(2):
        time.sleep(FORGOTTEN + 0.1)
        client.change("t", {"upsert": {"id": 9, "s": "the last"}})
        dictionary._after_collection = -1
        checkpoint(client)


@pytest.fixture
def texts(churned: Client, monkeypatch: pytest.MonkeyPatch) -> Client:
    """A service that collects whenever it is asked to, with two rows of a table."""
    monkeypatch.setattr("engine.state.dictionary.WORTH", -(1 << 40))
    churned.table("t", {"id": "BIGINT", "s": "TEXT"}, key=["id"])
    churned.change("t", {"insert": {"id": 1, "s": "a text"}}, {"insert": {"id": 2, "s": "other"}})
    return churned


def test_a_request_keeps_its_texts_while_it_waits(texts: Client) -> None:
    """The writer does not come to it before the text is gone from the table and from the dictionary."""
    runtime = texts.runtime
    definition = runtime.definition("t")
    with runtime.dictionary.holding():
        changes = parse(
            b'[{"upsert":{"id":1,"s":"a text"}}]', "application/json", definition, runtime.dictionary, BUDGET
        )
        texts.change("t", {"delete": {"id": 1}})
        collect(texts)
        word = int(changes.words[1, 0])
        assert word not in runtime.dictionary.store.words[: len(runtime.dictionary)].tolist()
        texts.run(runtime.apply({"t": changes}))
    assert texts.rows("t", where="id = 1") == [(1, "a text")]
    collect(texts)
    assert texts.rows("t", where="id = 1") == [(1, "a text")]


def test_a_request_whose_text_is_gone_is_refused(texts: Client) -> None:
    runtime = texts.runtime
    changes = parse(
        b'[{"upsert":{"id":1,"s":"a text"}}]',
        "application/json",
        runtime.definition("t"),
        runtime.dictionary,
        BUDGET,
    )
    texts.change("t", {"delete": {"id": 1}})
    collect(texts)
    newest = texts.get("/v1/status").json()["epoch"]
    with pytest.raises(EngineError, match="refers to a text that is gone"):
        texts.run(runtime.apply({"t": changes}))
    assert texts.get("/v1/status").json()["epoch"] == newest
    assert texts.rows("t", where="id = 1") == []


def test_a_reading_keeps_its_texts_and_the_cache_of_readings_does_not(texts: Client) -> None:
    runtime, reader = texts.runtime, texts.app.state.reader
    definition, snapshot = runtime.definition("t"), runtime.snapshot
    reading = reader.read(definition, snapshot, snapshot.upper - 1, Query())
    del snapshot
    texts.change("t", {"upsert": {"id": 1, "s": "another text"}})
    collect(texts)
    rows = json_rows(reading.part(0, 2), reading.schema, runtime.dictionary)
    assert rows == [{"id": 1, "s": "a text"}, {"id": 2, "s": "other"}]
    generation = weakref.ref(reading.texts)
    del reading
    assert generation() is None
    assert texts.rows("t", where="id < 9") == [(1, "another text"), (2, "other")]


def test_what_was_collected_is_gone_from_the_files(texts: Client, settings: Settings) -> None:
    texts.change("t", {"delete": {"id": 1}}, {"upsert": {"id": 2, "s": "a newer text"}})
    collect(texts)
    found = b"".join(path.read_bytes() for path in settings.state.glob("*.texts"))
    assert b"a newer text" in found
    assert b"other" not in found
