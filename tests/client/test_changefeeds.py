"""Changefeeds: every epoch once and in order, wherever a stream ends."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

import freshet
from freshet import Change, Connection
from freshet.contract.api_call import ApiAnswer, ApiCall
from freshet.contract.changefeed import EventReader, FeedPosition
from freshet.contract.descriptions import ColumnDescription
from freshet.errors import UnreachableError
from freshet.sending.retrying import Retries
from tests.seeds import SEED
from tests.service.client import Process
from tests.service.waiting import wait_until

COLUMNS = (ColumnDescription("n", "BIGINT"),)


def event(epoch: int) -> bytes:
    changes = [{"epoch": epoch, "diff": 1, "row": {"n": n}} for n in range(epoch % 3 + 1)]
    return b"id: %d\nevent: changes\ndata: %s\n\n" % (epoch, orjson.dumps(changes))


def cut(text: bytes, places: Sequence[int]) -> list[bytes]:
    bounds = [0, *sorted(place % (len(text) + 1) for place in places), len(text)]
    return [text[start:stop] for start, stop in pairwise(bounds)]


@given(st.lists(st.integers(0, 10**6), max_size=30))
def test_events_are_whole_however_they_are_cut(places: list[int]) -> None:
    text = b": alive\n\n".join(event(epoch) for epoch in range(1, 6))
    reader = EventReader()
    events = [event for piece in cut(text, places) for event in reader.events(piece)]
    assert [event.id for event in events] == ["1", "2", "3", "4", "5"]


class Streams:
    """A service whose streams have the epochs after the one that is asked for, and end anywhere."""

    def __init__(self, chance: random.Random, epochs: int) -> None:
        self._chance = chance
        self._epochs = epochs
        self.asked: list[int] = []

    def send(self, call: ApiCall[Any]) -> ApiAnswer:
        if call.path == "/v1/status":
            return ApiAnswer(200, {}, b'{"epoch": 0}')
        return ApiAnswer(200, {}, b'{"name": "t", "columns": [{"name": "n", "type": "BIGINT"}]}')

    def stream(self, call: ApiCall[Any]) -> Iterator[bytes]:
        since = int(call.query["since"])
        self.asked.append(since)
        again = max(0, since - self._chance.randrange(2))  # a service that repeats an epoch
        text = b"".join(event(epoch) for epoch in range(again + 1, self._epochs + 1))
        if len(self.asked) == 1 or self._chance.random() < 0.8:
            text = text[: self._chance.randrange(len(text) or 1)]
        yield from cut(text, [self._chance.randrange(10**6) for _ in range(5)])
        if self._chance.random() < 0.5:
            raise UnreachableError("lost", began=True)

    def close(self) -> None:
        pass


@pytest.mark.parametrize("case", range(10))
def test_no_epoch_is_lost_or_repeated(case: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("freshet.sending.following.time.sleep", lambda seconds: None)
    streams = Streams(random.Random(SEED + case), 20)
    feed = Connection(streams, Retries(1000)).table("t").follow()
    found = [next(feed) for _ in range(20)]
    assert [epoch.number for epoch in found] == list(range(1, 21))
    assert all(len(epoch) == epoch.number % 3 + 1 for epoch in found)
    assert feed.since == 20
    assert len(streams.asked) > 1


def test_a_feed_that_never_comes_gives_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("freshet.sending.following.time.sleep", lambda seconds: None)
    with pytest.raises(UnreachableError):
        next(Connection(Streams(random.Random(SEED), 0), Retries(3)).table("t").follow())


def test_a_problem_ends_a_feed() -> None:
    position = FeedPosition(0)
    position.begin(COLUMNS)
    problem = {"status": 404, "code": "unknown_name", "detail": "v was dropped", "hint": ""}
    text = event(1) + b"event: problem\ndata: " + orjson.dumps(problem) + b"\n\n"
    epochs = position.epochs(text)
    assert next(epochs).number == 1
    with pytest.raises(freshet.NotFoundError, match="v was dropped"):
        next(epochs)


def test_changes_of_a_view(db: Connection, name: str) -> None:
    table = db.table(name).create("id BIGINT, price NUMERIC(10, 2), doc JSON")
    view = db.create_view(f"{name}_v", f"SELECT price, doc FROM {name} WHERE id > 0")
    first = table.insert({"id": 1, "price": "1.5", "doc": {"a": 1}}).epoch
    second = table.delete({"id": 1, "price": 1.5, "doc": {"a": 1}}).epoch
    row = {"price": Decimal("1.50"), "doc": {"a": 1}}
    assert view.changes() == [Change(first, 1, row), Change(second, -1, row)]
    assert view.changes(first) == [Change(second, -1, row)]
    assert view.changes(until=first) == [Change(first, 1, row)]
    assert table.changes(first)[0].row["id"] == 1
    with view.follow(0) as feed:
        assert next(feed).changes == (Change(first, 1, row),)
        assert feed.since == first
    with view.follow(feed.since) as feed:
        assert [change.diff for change in next(feed)] == [-1]


def test_a_feed_begins_now_and_ends_with_its_view(db: Connection, name: str) -> None:
    table = db.table(name).create("id BIGINT")
    table.insert({"id": 1})
    feed = table.follow()
    told = table.insert({"id": 2})
    assert next(feed).number == told.epoch
    table.drop()
    with pytest.raises(freshet.NotFoundError):
        next(feed)


def test_a_feed_of_nothing_is_refused(db: Connection) -> None:
    with pytest.raises(freshet.NotFoundError):
        next(db.view("absent").follow())


def test_a_feed_survives_kills_of_the_service(start: Callable[..., Process]) -> None:
    """A reader adds up what it is told, through two kills: that is the view."""
    service = start()
    service.wait_ready()
    rows, totals, numbers = 60, dict[int, int](), list[int]()
    with freshet.connect(service.url, retries=1000) as db:
        table = db.table("t").create("id BIGINT")
        view = db.create_view("v", "SELECT id % 5 AS g, COUNT(*) AS n FROM t GROUP BY id % 5")

        def read() -> None:
            with freshet.connect(service.url, retries=1000) as other, other.view("v").follow(0) as feed:
                for epoch in feed:
                    numbers.append(epoch.number)
                    for change in epoch:
                        group = change.row["g"]
                        totals[group] = totals.get(group, 0) + change.diff * change.row["n"]
                    if sum(totals.values()) == rows:
                        return

        reader = threading.Thread(target=read)
        reader.start()
        running = service
        for number in range(rows):
            if number in (rows // 3, 2 * rows // 3):
                wait_until(lambda: len(numbers) > 5)
                running.kill()
                running = start(service.port)
            table.insert({"id": number})
        reader.join(600)
        assert not reader.is_alive()
        assert numbers == sorted(set(numbers))
        assert totals == {row["g"]: row["n"] for row in view.rows()}
