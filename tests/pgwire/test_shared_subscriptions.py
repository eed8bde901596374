"""Many who follow one relation: what is new is computed and written once, and everybody gets all of it."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from service.postgres.copy_sending import CopyMessages
from service.postgres.shared_work import SharedWork
from service.postgres.subscription_pages import SubscriptionForm
from service.reading.lanes import Lane
from tests.pgwire.door import PostgresDoor

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
