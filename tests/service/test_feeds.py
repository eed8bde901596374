"""Changefeeds of many clients: pages are shared; a client that does not read costs little and is cut off."""

from __future__ import annotations

import asyncio
import gc
import json
import random
import socket
import time
import weakref
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import httpx
import numpy as np
import orjson
import pytest

from engine.plan.nodes import Source, project
from engine.runtime.engine import Engine
from engine.schema import BIGINT, TEXT, Column, Schema
from service.changes.constraints import Bonds
from service.definitions.definition import Definition
from service.definitions.known_relations import KnownRelations
from service.definitions.readable import Readable
from service.http import feeds
from service.http.feeds import Feeds
from service.reading.feed_pages import PAGE, PIECE_BYTES, FeedPages, event_pieces
from service.reading.lanes import Lane
from service.running.pulse import Pulse
from service.running.runtime import Runtime
from service.running.timeline import Timeline
from tests.seeds import each_seed, few
from tests.service.client import Process, code
from tests.service.test_changes import Events
from tests.service.waiting import wait_until

SCHEMA = Schema((Column("a", BIGINT), Column("t", TEXT)))
EVENTS = {"Accept": "text/event-stream"}


class House:
    """An engine with a bag and a view of it, as much of a runtime as feeds need."""

    def __init__(self) -> None:
        self.engine = Engine()
        self.engine.create_source("t", SCHEMA)
        self.engine.create_view("v", project(Source("t", SCHEMA), (0, 1)))
        self.dictionary = self.engine.dictionary
        self.name = ""
        self.definition = cast(
            Definition, SimpleNamespace(id=1, name="v", schema=SCHEMA, failure=None, is_view=True)
        )
        self.pulse = Pulse()
        self.closing = False
        self.settings = SimpleNamespace(feeds=100)
        self.accounts = SimpleNamespace(is_current=lambda principal: True)
        self.pages = FeedPages(self.dictionary, Lane("test", 2))
        self.feeds = Feeds(cast(Runtime, self), self.pages)

    @property
    def readable(self) -> Readable:
        return Readable(self.engine.snapshot, KnownRelations({"v": self.definition}, {}, Bonds()))

    def change(self, *rows: tuple[int, str, int]) -> None:
        epoch = self.engine.snapshot.upper
        words = [(a, self.dictionary.word(t), epoch, diff) for a, t, diff in rows]
        delta = np.array(words, np.int64).reshape(-1, 4).T
        self.engine.stage({"t": delta}, epoch + 1).publish()
        self.pulse.beat()

    def feed(self, since: int = 0) -> AsyncIterator[bytes]:
        feed = self.feeds.response(cast(Timeline, self), self.definition, since, False).body_iterator
        return cast(AsyncIterator[bytes], feed)


def events_of(text: bytes) -> list[tuple[int, list]]:
    """The id and data of each event."""
    events = []
    for event in text.decode().split("\n\n")[:-1]:
        id, name, data = event.split("\n")
        assert name == "event: changes"
        events.append((int(id.removeprefix("id: ")), orjson.loads(data.removeprefix("data: "))))
    return events


@each_seed(few(4))
def test_pieces_are_small_and_make_one_event_an_epoch(seed: int) -> None:
    rng, house = random.Random(seed), House()
    longest = rng.choice((5, 300, 20_000))
    expected: list[tuple[int, list]] = []
    for epoch in range(1, 8):
        rows = [(a, "x" * rng.randrange(longest), 1) for a in range(rng.choice((0, 1, 40, 700)))]
        house.change(*rows)
        changes = [{"epoch": epoch, "diff": 1, "row": {"a": a, "t": t}} for a, t, _ in rows]
        if changes:
            expected.append((epoch, changes))
    pieces = list(event_pieces(house.engine.snapshot.changes("v", 0, 7), SCHEMA, house.dictionary))
    assert events_of(b"".join(pieces)) == expected
    assert max(map(len, pieces)) < PIECE_BYTES + longest + 100
    assert list(event_pieces(house.engine.snapshot.changes("v", 7, 7), SCHEMA, house.dictionary)) == []


@each_seed(few(4))
def test_a_stretch_ends_where_the_next_epoch_would_be_too_much(seed: int) -> None:
    rng, house = random.Random(seed), House()
    for _ in range(40):
        house.change(*((rng.randrange(9), "x", 1) for _ in range(rng.choice((0, 1, 3, 50)))))
    relation = house.engine.snapshot.relations["v"]
    epochs = np.concatenate([layer.rows[:, -2] for layer in relation.layers])
    for _ in range(200):
        since = rng.randrange(0, 40)
        until, most = rng.randrange(since + 1, 41), rng.choice((1, 4, 60, 10_000))
        stop = relation.stretch(since, until, most)

        def count(epoch: int, since: int = since) -> int:
            return int(((epochs > since) & (epochs <= epoch)).sum())

        assert since < stop <= until
        assert count(stop) <= most or stop == since + 1
        assert stop == until or count(stop + 1) > most


async def read(feed: AsyncIterator[bytes], until: int, text: bytes = b"") -> list[tuple[int, list]]:
    """The events up to epoch `until`; `text` is what has been read of them before."""
    async for piece in feed:
        text += piece
        events = events_of(text) if text.endswith(b"]\n\n") else []
        if events and events[-1][0] >= until:
            return events
    return []


def test_feeds_share_their_pages() -> None:
    house, made = House(), []
    run = house.pages.lane.run

    async def counted(call, *arguments):  # type: ignore[no-untyped-def]
        made.append(call)
        return await run(call, *arguments)

    house.pages.lane.run = counted  # type: ignore[method-assign]

    async def follow() -> None:
        feeds = [house.feed() for _ in range(30)]
        for epoch in range(1, 6):
            house.change((epoch, "x", 1))
            found = await asyncio.gather(*(read(feed, epoch) for feed in feeds))
            expected = [{"epoch": epoch, "diff": 1, "row": {"a": epoch, "t": "x"}}]
            assert found == [[(epoch, expected)]] * 30
        for feed in feeds:
            await feed.aclose()  # type: ignore[attr-defined]

    asyncio.run(follow())
    assert len(made) == 5
    assert not house.pulse._waiters


def test_a_feed_that_is_behind_sends_every_epoch_once() -> None:
    house = House()
    sizes = [1, 0, PAGE // 2, PAGE - 1, 2, 3 * PAGE, 1, 1]
    for size in sizes:
        house.change(*((a, "text", 1) for a in range(size)))

    async def follow() -> list[tuple[int, list]]:
        return await read(house.feed(), len(sizes))

    events = asyncio.run(follow())
    assert [(id, len(data)) for id, data in events] == [
        (epoch, size) for epoch, size in enumerate(sizes, 1) if size
    ]


def test_a_feed_is_alive_while_only_others_change(monkeypatch: pytest.MonkeyPatch) -> None:
    """A client of a view that never changes would give up, as in a bank whose total never departs."""
    monkeypatch.setattr(feeds, "KEEP_ALIVE", 0.05)

    async def scenario() -> None:
        house = House()
        house.engine.create_source("other", SCHEMA)
        feed = house.feed()

        async def others() -> None:
            while True:
                delta = np.array([(1, 0, house.engine.snapshot.upper, 1)], np.int64).T
                house.engine.stage({"other": delta}, house.engine.snapshot.upper + 1).publish()
                house.pulse.beat()
                await asyncio.sleep(0.005)

        changing = asyncio.create_task(others())
        async with asyncio.timeout(240):
            assert [await anext(feed) for _ in range(3)] == [b": alive\n\n"] * 3
        changing.cancel()

    asyncio.run(scenario())


def test_a_feed_that_waits_holds_no_snapshot() -> None:
    house = House()

    async def follow() -> None:
        blocked, idle = house.feed(), house.feed(2)
        house.change(*((a, "text", 1) for a in range(4 * PAGE)))
        house.change((1, "x", 1))
        begun = await anext(blocked)  # in the midst of the first epoch
        waiting = asyncio.create_task(anext(idle))  # type: ignore[arg-type]
        while not house.pulse._waiters:
            await asyncio.sleep(0.01)
        held = weakref.ref(house.engine.snapshot), weakref.ref(house.engine.snapshot.relations["v"])
        house.change((2, "x", 1))
        assert b"id: 3" in await waiting
        gc.collect()
        assert [found() for found in held] == [None, None]
        events = await read(blocked, 3, begun)
        assert [(id, len(data)) for id, data in events] == [(1, 4 * PAGE), (2, 1), (3, 1)]
        await idle.aclose()  # type: ignore[attr-defined]

    asyncio.run(follow())


# Over connections


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    limits = {
        "FRESHET_SPARK": "never",
        "FRESHET_FEEDS": "3",
        "FRESHET_READ_SECONDS": "1",
        "FRESHET_LOG_LEVEL": "info",
    }
    process = Process(tmp_path_factory.mktemp("feeds") / "data", limits, fresh=True)
    try:
        process.wait_ready()
        sql = "CREATE TABLE t (a BIGINT, t TEXT); CREATE VIEW v AS SELECT a, t FROM t"
        assert process.http.post("/v1/sql", json={"sql": sql}).status_code == 200
        yield process
        written = process.finish()
        assert "Traceback" not in written, written
        assert "Task exception" not in written, written
    finally:
        process.kill()


def insert(service: Process, rows: int, width: int) -> int:
    body = [{"insert": {"a": a, "t": "x" * width}} for a in range(rows)]
    answer = service.http.post("/v1/tables/t/deltas", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()["epoch"]


def silent(service: Process, path: str, accept: str, room: int = 4096) -> socket.socket:
    """A connection that asks and does not read."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
    connection.settimeout(240)
    connection.connect(("127.0.0.1", service.port))
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept: {accept}\r\n\r\n".encode())
    return connection


def is_cut(connection: socket.socket) -> bool:
    """Whether the connection ends, once all is read that was sent, before the response does."""
    received = b""
    try:
        while piece := connection.recv(1 << 20):
            received += piece
    except ConnectionError:
        pass
    return b"0\r\n\r\n" not in received[-5:]


def cuts(service: Process) -> int:
    """How many connections the service has cut, because the client does not read."""
    return service.output().count("it does not read")


def resident(service: Process) -> int:
    return int(Path(f"/proc/{service.pid}/statm").read_text().split()[1]) * 4096


def test_only_so_many_feeds_are_open(service: Process) -> None:
    newest = insert(service, 1, 1)
    with ExitStack() as stack, httpx.Client(base_url=service.url, timeout=240) as http:
        path = f"/v1/views/v/changes?since={newest - 1}"
        feeds = [stack.enter_context(http.stream("GET", path, headers=EVENTS)) for _ in range(3)]
        streams = [Events(feed) for feed in feeds]
        assert [next(stream)[0] for stream in streams] == [str(newest)] * 3
        refused = http.get(path, headers=EVENTS)
        assert code(refused) == (429, "too_many_feeds")
        assert refused.headers["retry-after"] == "1"
        assert http.get(path).status_code == 200
    wait_until(lambda: opens(service, newest))


def opens(service: Process, newest: int) -> bool:
    """Whether three feeds can be open."""
    with ExitStack() as stack, httpx.Client(base_url=service.url, timeout=240) as http:
        path = f"/v1/views/v/changes?since={newest - 1}"
        feeds = [stack.enter_context(http.stream("GET", path, headers=EVENTS)) for _ in range(3)]
        return all(feed.status_code == 200 for feed in feeds)


def test_feeds_that_do_not_read_are_cut_and_cost_little(service: Process) -> None:
    since = insert(service, 1, 1)
    wait_until(lambda: opens(service, since))
    before, cut = resident(service), cuts(service)
    feeds = [silent(service, f"/v1/views/v/changes?since={since}", "text/event-stream") for _ in range(3)]
    for _ in range(10):
        insert(service, 100, 20_000)  # 2 MB each, for each feed
    assert resident(service) - before < 60 << 20
    wait_until(lambda: cuts(service) == cut + 3)
    assert all(map(is_cut, feeds))
    wait_until(lambda: opens(service, since))
    for feed in feeds:
        feed.close()


def test_a_large_response_that_nobody_reads_is_cut(service: Process) -> None:
    insert(service, 200, 20_000)
    cut = cuts(service)
    connection = silent(service, "/v1/tables/t/rows", "application/x-ndjson")
    wait_until(lambda: cuts(service) == cut + 1)
    assert is_cut(connection)
    connection.close()


def test_a_client_that_reads_slowly_gets_everything(service: Process) -> None:
    since = insert(service, 1, 1)
    newest = insert(service, 30, 20_000)
    connection = silent(service, f"/v1/views/v/changes?since={since}", "text/event-stream", 1 << 16)
    received = b""
    begin = time.monotonic()
    while f'"epoch":{newest}'.encode() not in received or b"]\n\n" not in received:
        received += connection.recv(1 << 14)
        time.sleep(0.04)
    assert time.monotonic() - begin > 1
    assert json.dumps({"a": 29})[1:-1].replace(" ", "") in received.decode()
    connection.close()
