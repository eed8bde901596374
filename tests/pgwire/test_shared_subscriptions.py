"""Many who follow one relation: what is new is computed and written once, and everybody gets all of it."""

from __future__ import annotations

import asyncio
import gc
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from service.postgres.copy_sending import CopyMessages
from service.postgres.copy_texts import HEAD
from service.postgres.subscription_pages import SubscriptionForm
from service.reading.lanes import Lane
from service.reading.shared_work import SharedWork
from service.settings.settings import Settings
from tests.pgwire.door import PostgresDoor, Raw, refused
from tests.service.waiting import wait_until

FOLLOWERS = 8
EPOCHS = 5


def lines(door: PostgresDoor, sql: str, ready: threading.Barrier) -> list[bytes]:
    """The data of a COPY of changes, which ends by itself."""
    raw = door.raw()
    raw.start()
    raw.send(b"Q", sql.encode() + b"\0")
    assert raw.message()[0] == b"H"  # type: ignore[index]
    ready.wait(60)
    return [body for type, body in raw.until(b"Z") if type == b"d"]


def test_a_page_is_made_once_for_all(
    door: PostgresDoor, connection: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: dict[str, list] = {"pages": [], "bytes": []}
    changes, messages = SubscriptionForm.changes, CopyMessages.of

    def noting_page(form: SubscriptionForm, snapshot, since: int, limit: int):  # type: ignore[no-untyped-def]
        made["pages"].append((since, limit))
        return changes(form, snapshot, since, limit)

    def noting_bytes(made_by: CopyMessages, rows, start: int, stop: int) -> bytes:  # type: ignore[no-untyped-def]
        made["bytes"].append(rows.answer)
        return messages(made_by, rows, start, stop)

    monkeypatch.setattr(SubscriptionForm, "changes", noting_page)
    monkeypatch.setattr(CopyMessages, "of", noting_bytes)
    connection.execute("CREATE TABLE popular (id INT PRIMARY KEY, name TEXT)")
    begin = door.runtime.snapshot.upper - 1
    since = f"WITH (SNAPSHOT = false) AS OF {begin} UP TO {begin + EPOCHS + 1}"
    sql = f"COPY (SUBSCRIBE TO popular {since}) TO STDOUT"
    ready = threading.Barrier(FOLLOWERS + 1)
    with ThreadPoolExecutor(FOLLOWERS) as pool:
        followers = [pool.submit(lines, door, sql, ready) for _ in range(FOLLOWERS)]
        ready.wait(60)
        for number in range(EPOCHS):
            connection.execute(f"INSERT INTO popular VALUES ({number}, 'row {number}')")
        found = [follower.result(60) for follower in followers]
    assert found[0] == [f"{begin + n + 1}\t1\t{n}\trow {n}\n".encode() for n in range(EPOCHS)]
    assert all(other == found[0] for other in found)
    assert len(set(made["pages"])) == len(made["pages"])
    assert len({id(answer) for answer in made["bytes"]}) == len(made["bytes"])


def test_moments_are_told_in_each_follower_s_zone(door: PostgresDoor, connection: psycopg.Connection) -> None:
    connection.execute("CREATE TABLE timed (id INT PRIMARY KEY, at TIMESTAMPTZ)")
    begin = door.runtime.snapshot.upper - 1
    sql = f"COPY (SUBSCRIBE TO timed WITH (SNAPSHOT = false) AS OF {begin} UP TO {begin + 2}) TO STDOUT"
    connection.execute("INSERT INTO timed VALUES (1, '2024-07-01 12:00:00+00')")
    found = []
    for zone in ("UTC", "Europe/Paris", "UTC"):
        with door.connect(options=f"-c TimeZone={zone}") as follower, follower.cursor().copy(sql) as copy:
            found.append(b"".join(bytes(part) for part in copy).split(b"\t")[-1].strip())
    assert found == [b"2024-07-01 12:00:00+00", b"2024-07-01 14:00:00+02", b"2024-07-01 12:00:00+00"]


@contextmanager
def copying(door: PostgresDoor, sql: str, number: int) -> Iterator[list[Raw]]:
    """So many clients of a COPY that has begun."""
    clients, before = [], door.app.state.feeds.open
    for _ in range(number):
        raw = door.raw()
        raw.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
        raw.start()
        raw.send(b"Q", sql.encode() + b"\0")
        assert raw.message()[0] == b"H"  # type: ignore[index]
        clients.append(raw)
    try:
        yield clients
    finally:
        for raw in clients:
            raw.close()
    wait_until(lambda: door.app.state.feeds.open == before)


def taken(raw: Raw, rows: int) -> list[bytes]:
    """The next rows of a COPY."""
    found = []
    while len(found) < rows:
        message = raw.message()
        assert message is not None and message[0] == b"d", message
        found.append(message[1])
    return found


def test_a_slow_reader_delays_nobody_and_misses_nothing(
    door: PostgresDoor, connection: psycopg.Connection
) -> None:
    connection.execute("CREATE TABLE wide (id INT PRIMARY KEY, name TEXT)")
    sql = "COPY (SUBSCRIBE TO wide WITH (SNAPSHOT = false)) TO STDOUT"
    with copying(door, sql, 3) as quick, copying(door, sql, 1) as (slow,):
        for number in range(100):
            connection.execute("INSERT INTO wide VALUES (%s, repeat('x', 100000))", (number,))
            for raw in quick:
                assert taken(raw, 1)[0].split(b"\t")[2] == b"%d" % number
        sent = {feed.feed.since for feed in door.app.state.feeds.all}
        assert len(sent) == 2  # the slow one is behind the others
        assert [row.split(b"\t")[2] for row in taken(slow, 100)] == [b"%d" % n for n in range(100)]
        connection.execute("INSERT INTO wide VALUES (100, 'last')")
        assert {taken(raw, 1)[0].split(b"\t")[3] for raw in (slow, *quick)} == {b"last\n"}


def test_an_epoch_that_is_too_large_for_one_message_comes_whole(
    door: PostgresDoor, connection: psycopg.Connection
) -> None:
    connection.execute("CREATE TABLE many (id INT PRIMARY KEY)")
    sql = "COPY (SUBSCRIBE TO many WITH (SNAPSHOT = false)) TO STDOUT"
    with copying(door, sql, 3) as clients:
        connection.execute("INSERT INTO many SELECT * FROM generate_series(1, 25000)")
        connection.execute("DELETE FROM many WHERE id > 24999")
        for raw in clients:
            rows = [tuple(map(int, row.split(b"\t")[1:])) for row in taken(raw, 25_001)]
            assert sorted(rows[:-1]) == [(1, id) for id in range(1, 25_001)]
            assert rows[-1] == (-1, 25_000)


def test_progress_is_told_to_all(door: PostgresDoor, connection: psycopg.Connection) -> None:
    connection.execute("CREATE TABLE told (id INT PRIMARY KEY)")
    connection.execute("CREATE TABLE untold (id INT PRIMARY KEY)")
    newest = door.runtime.snapshot.upper - 1
    sql = f"COPY (SUBSCRIBE TO told WITH (PROGRESS, SNAPSHOT = false) AS OF {newest}) TO STDOUT"
    with copying(door, sql, 3) as clients:
        connection.execute("INSERT INTO told VALUES (1)")
        for raw in clients:
            assert taken(raw, 2) == [
                b"%d\tf\t1\t1\n" % (newest + 1),
                b"%d\tt\t\\N\t\\N\n" % (newest + 2),
            ]
        connection.execute("INSERT INTO untold VALUES (1)")
        for raw in clients:
            assert taken(raw, 1) == [b"%d\tt\t\\N\t\\N\n" % (newest + 3)]


def test_the_head_of_binary_copies_comes_with_their_first_row(
    door: PostgresDoor, connection: psycopg.Connection
) -> None:
    connection.execute("CREATE TABLE bits (id INT PRIMARY KEY)")
    sql = "COPY (SUBSCRIBE TO bits WITH (SNAPSHOT = false)) TO STDOUT (FORMAT binary)"
    with copying(door, sql, 2) as (first, second):
        connection.execute("INSERT INTO bits VALUES (1)")
        (headed,), (same,) = taken(first, 1), taken(second, 1)
        with copying(door, sql, 1) as (late,):
            connection.execute("INSERT INTO bits VALUES (2)")
            (row,), (other,), (begun,) = taken(first, 1), taken(second, 1), taken(late, 1)
    assert headed == same and headed.startswith(HEAD) and row == other and begun == HEAD + row


def test_each_copy_ends_for_its_own_reason(tmp_path: Path) -> None:
    with PostgresDoor(Settings(data=tmp_path / "data", query_workers=1)) as door:
        with door.connect() as connection:
            connection.execute("CREATE TABLE ending (id INT)")
        accounts = door.runtime.accounts
        _, password = accounts.add("boss", "admin")
        key, given = accounts.add("guest", "read")
        sql = "COPY (SUBSCRIBE TO ending WITH (SNAPSHOT = false)) TO STDOUT"
        with (
            door.connect(user="boss", password=password) as boss,
            door.connect(user="boss", password=password) as leaver,
            door.connect(user="boss", password=password) as stayer,
            door.connect(user="guest", password=given) as guest,
            leaver.cursor().copy(sql) as left,
            stayer.cursor().copy(sql) as stayed,
            guest.cursor().copy(sql) as revoked,
        ):
            copies = (left, stayed, revoked)
            boss.execute("INSERT INTO ending VALUES (1)")
            assert [bytes(copy.read()).split(b"\t")[2] for copy in copies] == [b"1\n"] * 3
            leaver.cancel_safe()
            with refused("57014"):
                left.read()
            accounts.revoke(key.id)
            boss.execute("INSERT INTO ending VALUES (2)")
            with refused("28P01"):
                revoked.read()
            assert bytes(stayed.read()).endswith(b"\t2\n")
            boss.execute("DROP TABLE ending")
            with refused("42P01"):
                stayed.read()


class Owner:
    pass


def test_work_is_shared_by_those_who_wait_and_forgotten_with_its_owner() -> None:
    done: list[int] = []

    def work() -> int:
        time.sleep(0.01)
        done.append(1)
        return len(done)

    def fails() -> int:
        raise ValueError("no")

    async def run() -> None:
        lane = Lane("shared", 2)
        shared, owner = SharedWork(lane), Owner()
        leaver = asyncio.create_task(shared.once(owner, "a", work))
        others = [asyncio.create_task(shared.once(owner, "a", work)) for _ in range(3)]
        await asyncio.sleep(0)
        leaver.cancel()  # who leaves takes nothing from the others
        assert await asyncio.gather(*others) == [1, 1, 1]
        assert await shared.once(owner, "b", work) == 2
        for _ in range(2):
            with pytest.raises(ValueError, match="no"):
                await shared.once(owner, "c", fails)
        assert await shared.once(owner, "c", work) == 3  # a failure is not kept
        del owner, leaver, others
        gc.collect()
        assert not shared._results
        lane.close()

    asyncio.run(run())
