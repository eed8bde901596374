"""The lock, the token and the fence of a shared catalog: what a leader may, and a deposed one may not."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa

from engine.schema import BIGINT, Column, Schema
from engine.state.store.manifest import Manifest
from service.catalog.catalog import Catalog, CommittedEpochs, log
from service.catalog.leadership import Leadership, read_leader, session_of
from service.catalog.manifests import Saved
from service.catalog.records import DefinitionRecord
from service.changes.table_changes import Applied, Idempotency
from service.errors import Deposed, NotLeader, ServiceError
from service.metrics import Metrics
from service.pipeline.jobs import Job, JobStore
from service.running import log_follower
from service.running.state import recover
from service.settings.settings import Settings
from tests.service.client import Client
from tests.service.test_authorization import ask, bearer, make_key
from tests.service.waiting import wait_until

TABLE = DefinitionRecord(0, "t", Schema((Column("a", BIGINT),)), None, "", "", 0)
KEY = (Idempotency("k", b"digest"), Applied(1, 1))
LONG = 3600.0


class Candidate:
    """A service's part of the catalog."""

    def __init__(self, url: str, name: str, silence: float = LONG) -> None:
        self._url = url
        self.leadership = Leadership(url, f"http://{name}", silence)
        self.deposed = 0

    def lead(self) -> bool:
        """Leads, if nobody else does."""
        if not self.leadership.acquire():
            return False
        self.catalog = Catalog(self._url, self.leadership.instance)
        self.catalog.connections.on_deposed = self._note
        self.catalog.connections.lead(self.leadership.take())
        return True

    def _note(self) -> None:
        self.deposed += 1

    def close(self) -> None:
        if hasattr(self, "catalog"):
            self.catalog.close()
        self.leadership.close()


@pytest.fixture
def candidate(shared_catalog: str) -> Iterator[Callable[..., Candidate]]:
    made: list[Candidate] = []

    def make(name: str, silence: float = LONG) -> Candidate:
        made.append(Candidate(shared_catalog, name, silence))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture
def two(candidate: Callable[..., Candidate], shared_catalog: str) -> tuple[Candidate, Candidate]:
    """A leader that does not know that it is deposed, with all its connections, and its successor.

    No session was ended: only the fence is between the first one and the catalog.
    """
    first, second = candidate("first"), candidate("second")
    assert first.lead()
    database = sa.create_engine(shared_catalog)
    with database.begin() as connection:
        connection.exec_driver_sql("UPDATE leadership SET instance = ''")
    database.dispose()
    first.leadership._disconnect()
    wait_until(second.lead)  # the server sees a little later that the first one has gone
    return first, second


def append(catalog: Catalog) -> None:
    catalog.append(CommittedEpochs(1, 1, 1), b"payload")


def append_with_a_key(catalog: Catalog) -> None:
    catalog.append(CommittedEpochs(1, 1, 1), b"payload", [KEY])


def define(catalog: Catalog) -> None:
    with catalog.changing() as changing:
        changing.add(TABLE)


def publish(catalog: Catalog) -> None:
    catalog.publish(Saved(Manifest(2, {}, {}, ()), 0), 0)


def publish_with_an_epoch(catalog: Catalog) -> None:
    catalog.publish(Saved(Manifest(2, {}, {}, ()), 0), 0, 0, CommittedEpochs(1, 1, 1), [KEY])


def add_a_job(catalog: Catalog) -> None:
    JobStore(catalog.transaction, 10).add(Job.new("load", {}))


def be_sure_of_the_log(catalog: Catalog) -> None:
    catalog.newest_of_mine()


def sweep(catalog: Catalog) -> None:
    catalog.saved_by_me()


WRITES = (
    append,
    append_with_a_key,
    define,
    publish,
    publish_with_an_epoch,
    add_a_job,
    be_sure_of_the_log,
    sweep,
)


def everything(url: str) -> dict[str, Sequence[sa.Row]]:
    """All rows of all tables of the catalog."""
    database = sa.create_engine(url)
    with database.begin() as connection:
        names = sa.inspect(connection).get_table_names()
        found = {
            name: [tuple(r) for r in connection.execute(sa.text(f"SELECT * FROM {name}"))] for name in names
        }
    database.dispose()
    return found


@pytest.mark.parametrize("write", WRITES)
def test_a_deposed_leader_writes_nothing(
    two: tuple[Candidate, Candidate], write: Callable[[Catalog], None], shared_catalog: str
) -> None:
    first, second = two
    before = everything(shared_catalog)
    with pytest.raises(Deposed, match="does not lead any more") as refused:
        write(first.catalog)
    assert "http://second" in refused.value.hint
    assert first.deposed == 1
    assert everything(shared_catalog) == before
    write(second.catalog)
    assert second.deposed == 0


def test_the_token_waits_for_open_transactions(
    candidate: Callable[..., Candidate], shared_catalog: str
) -> None:
    """A transaction that has passed the fence commits before the next leader has its token, or never."""
    first, second = candidate("first"), candidate("second")
    assert first.lead()
    database = sa.create_engine(shared_catalog)
    with database.begin() as connection:
        connection.exec_driver_sql("UPDATE leadership SET instance = ''")
    first.leadership._disconnect()
    taking = threading.Thread(target=second.lead)
    with first.catalog.changing() as changing:
        changing.add(TABLE)
        taking.start()
        time.sleep(0.5)
        with database.begin() as connection:
            assert read_leader(connection).token == 1
    taking.join()
    assert [record.name for record in second.catalog.records()] == ["t"]
    database.dispose()


def test_a_silent_leader_loses_its_sessions(candidate: Callable[..., Candidate]) -> None:
    """Also the one with a transaction that is open and has passed the fence."""
    first, second = candidate("first"), candidate("second")
    assert first.lead()
    assert not second.lead()
    second.leadership._silence = 1.0
    with pytest.raises(sa.exc.SQLAlchemyError), first.catalog.changing() as changing:
        changing.add(TABLE)
        wait_until(second.lead)
    assert second.catalog.records() == []
    with pytest.raises(sa.exc.SQLAlchemyError):
        append(first.catalog)  # nobody knows by the answer whether it was made
    with pytest.raises(Deposed):
        first.catalog.newest_of_mine()


def test_a_leader_that_gives_signs_stays(candidate: Callable[..., Candidate]) -> None:
    first = candidate("first")
    lost = threading.Event()
    assert first.lead()
    asked = sa.text("SELECT state_change FROM pg_stat_activity WHERE pid = :pid")
    pid = pid_of(first)

    def last_sign() -> datetime:
        with first.catalog.connections.reading_aside() as connection:
            return connection.execute(asked, {"pid": pid}).scalar_one()

    begun = last_sign()
    first.leadership.give_signs(lost.set)
    wait_until(lambda: last_sign() > begun + timedelta(seconds=1))
    assert not lost.is_set()


def pid_of(candidate: Candidate) -> int:
    """The process of PostgreSQL that has the lock."""
    connection = candidate.leadership._connection
    assert connection is not None
    return connection.execute(sa.text("SELECT pg_backend_pid()")).scalar_one()


def test_who_loses_the_lock_is_told(
    candidate: Callable[..., Candidate], caplog: pytest.LogCaptureFixture
) -> None:
    first = candidate("first")
    lost = threading.Event()
    assert first.lead()
    pid = pid_of(first)
    first.leadership.give_signs(lost.set)
    with caplog.at_level(logging.CRITICAL), first.catalog.transaction() as connection:
        connection.execute(sa.text("SELECT pg_terminate_backend(:pid)"), {"pid": pid})
        assert lost.wait(240)


def test_an_epoch_of_the_successor_is_nobody_elses(two: tuple[Candidate, Candidate]) -> None:
    """The first one does not know whether its epoch 1 was made: the one in the log is not its own."""
    first, second = two
    append(second.catalog)
    with pytest.raises(Deposed):
        first.catalog.newest_of_mine()


def test_a_standby_reads_and_does_not_write(candidate: Callable[..., Candidate], shared_catalog: str) -> None:
    leader = candidate("leader")
    assert leader.lead()
    standby = Catalog(shared_catalog, "standby", follows=True)
    try:
        assert standby.connections.is_current
        append(leader.catalog)
        assert standby.newest() == CommittedEpochs(1, 1, 1)
        for write in WRITES:
            with pytest.raises(NotLeader, match="standby"):
                write(standby)
        with standby.connections.frozen():
            assert list(standby.payloads()) == [b"payload"]
            leader.catalog.append(CommittedEpochs(2, 2, 2), b"more")
            assert list(standby.payloads()) == [b"payload"]
        assert list(standby.payloads(2)) == [b"more"]
        with standby.connections.reading() as connection, pytest.raises(sa.exc.SQLAlchemyError):
            connection.execute(sa.delete(log))
    finally:
        standby.close()


def test_who_is_no_standby_does_not_start_beside_a_leader(
    candidate: Callable[..., Candidate], shared_catalog: str, tmp_path: Path
) -> None:
    leader = candidate("leader")
    assert leader.lead()
    patient = 1000 * int(LONG)
    settings = Settings(data=tmp_path / "data", database_url=shared_catalog, leader_milliseconds=patient)
    with pytest.raises(ServiceError, match="another service leads"):
        recover(settings, Metrics())
    leader.close()
    recover(settings, Metrics()).close()


def test_what_a_standby_needs(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path)
    with pytest.raises(ValueError, match="FRESHET_DATABASE_URL"):
        replace(settings, standby="yes")
    url = "postgresql+psycopg://somebody@/somewhere"
    with pytest.raises(ValueError, match="FRESHET_STATE"):
        replace(settings, standby="yes", database_url=url)
    assert replace(settings, standby="yes", database_url=url, state_directory="s").is_standby


def test_a_connection_to_a_machine_that_is_gone_ends(shared_catalog: str) -> None:
    """No test can take a machine away. libpq takes the options, of the lock and of the catalog."""
    url = shared_catalog.replace("+psycopg", "")
    with closing(psycopg.connect(url, **session_of("x"))) as connection:
        found = connection.info.get_parameters()
    assert found["application_name"] == "freshet x" and found["connect_timeout"] == "10"
    assert 0 < int(found["tcp_user_timeout"]) <= 15_000
    assert int(found["keepalives_idle"]) + int(found["keepalives_count"]) <= 15


def test_a_new_leader_knows_the_last_keys(
    shared_catalog: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also those that were made and revoked since it last looked: here it does not look while it follows."""
    shared = Settings(
        data=tmp_path / "first",
        database_url=shared_catalog,
        standby="yes",
        state_directory=str(tmp_path / "state"),
    )
    with ExitStack() as second_ends:
        with Client(shared) as first:
            boss = make_key(first, "boss", "admin")["key"]
            gone = make_key(first, "gone", "read", by=boss)
            second = second_ends.enter_context(Client(replace(shared, data=tmp_path / "second")))
            wait_until(lambda: status(second, gone["key"]) == 200)
            monkeypatch.setattr(log_follower, "_ACCOUNTS", LONG)
            made = make_key(first, "made", "read", by=boss)
            assert ask(first, f"DELETE /v1/keys/{gone['id']}", boss).status_code == 204
            assert status(second, gone["key"]) == 200, "it has looked, and this test shows nothing"
        wait_until(lambda: second.get("/readyz", role="leader").status_code == 200)
        assert (status(second, made["key"]), status(second, gone["key"])) == (200, 401)


def status(client: Client, key: str) -> int:
    """The status of a read with a key."""
    return client.run(client.http.get("/v1/tables", headers=bearer(key))).status_code
