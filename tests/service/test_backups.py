"""Backups: what they hold is what could be read at their epoch, whatever happened meanwhile."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa

from service.backup import backup_writing
from service.backup.catalog_dump import TABLES
from service.catalog.catalog import Catalog
from service.catalog.database import metadata
from service.running import pinned_state
from service.settings.settings import Settings
from tests.seeds import SEED
from tests.service.backups import (
    back_up,
    change,
    define,
    everything,
    restored,
    rows_of,
    wait_for_checkpoint,
)
from tests.service.client import Client


@pytest.fixture
def often(settings: Settings) -> Settings:
    """A service that writes checkpoints, and sweeps files, all the time."""
    return replace(settings, checkpoint_commits=3)


def test_a_backup_under_load_is_the_state_at_its_epoch(often: Settings) -> None:
    """Writers go on while backups are made; each backup is compared with the service at its epoch."""
    stopped = threading.Event()
    made: list[tuple[Path, int]] = []
    with Client(often) as client:
        define(client)
        change(client, random.Random(SEED), 5)

        def write(number: int) -> None:
            chance = random.Random(f"{SEED} {number}")
            while not stopped.is_set():
                change(client, chance, 1)

        writers = [threading.Thread(target=write, args=(number,)) for number in range(2)]
        for writer in writers:
            writer.start()
        try:
            made += [back_up(client, f"backup{number}") for number in range(4)]
        finally:
            stopped.set()
            for writer in writers:
                writer.join()
        assert [epoch for _, epoch in made] == sorted(epoch for _, epoch in made)
        assert made[0][1] < made[-1][1] < client.get("/v1/status").json()["epoch"], "nothing ran meanwhile"
        now = [everything(client, epoch) for _, epoch in (made[0], made[-1])]
    for number, ((backup, epoch), before) in enumerate(zip((made[0], made[-1]), now, strict=True)):
        with Client(restored(backup, often, f"copy{number}")) as copy:
            assert copy.get("/v1/status").json()["epoch"] == epoch
            assert everything(copy, epoch) == before
            change(copy, random.Random(SEED), 2)
            assert copy.get("/v1/status").json()["epoch"] == epoch + 4


def test_a_backup_outlives_what_it_was_made_of(often: Settings) -> None:
    """Checkpoints and a compaction of texts replace the files; the backup keeps its own names of them."""
    with Client(often) as client:
        define(client)
        change(client, random.Random(SEED), 4)
        wait_for_checkpoint(client)
        backup, epoch = back_up(client, "backup")
        before = everything(client, epoch)
        change(client, random.Random(SEED + 1), 20)
    names = {path.name for path in (backup / "state").iterdir()}
    assert names and not names & {path.name for path in often.state.iterdir()}
    with Client(restored(backup, often, "copy")) as copy:
        assert everything(copy, epoch) == before


def test_files_are_not_swept_while_they_are_copied(often: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Checkpoints come while a backup, on another file system, has copied nothing yet."""
    with Client(often) as client:
        define(client)
        change(client, random.Random(SEED), 4)
        wait_for_checkpoint(client)
        link = backup_writing.link_or_copy

        def slow(source: Path, target: Path, passed: Callable[[int], None]) -> str:
            change(client, random.Random(SEED), 4)
            monkeypatch.setattr(backup_writing, "link_or_copy", link)
            return link(source, target, passed)

        monkeypatch.setattr(backup_writing, "link_or_copy", slow)
        monkeypatch.setattr("os.link", _no_links)
        backup, epoch = back_up(client, "backup")
        assert epoch == 8
        before = everything(client, epoch)
    with Client(restored(backup, often, "copy")) as copy:
        assert everything(copy, epoch) == before


def _no_links(*paths: object) -> None:
    raise OSError(18, "Invalid cross-device link")


def test_between_kinds_of_databases(settings: Settings, shared_catalog: str) -> None:
    """SQLite to PostgreSQL and back: no row of the catalog changes, nor what can be read."""
    with Client(settings) as client:
        define(client)
        for sql in (
            "CREATE TYPE mood AS ENUM ('good', 'bad')",
            "CREATE TABLE i (id BIGINT GENERATED ALWAYS AS IDENTITY, a INT)",
            "INSERT INTO i (a) VALUES (1)",
            "ALTER TABLE t ADD COLUMN more INT DEFAULT 7",
        ):
            assert client.post("/v1/sql", {"sql": sql}).status_code == 200
        client.table("gone", {"a": "BIGINT"})
        client.delete("/v1/tables/gone")
        client.change("t", {"insert": {"id": 1, "name": "naïve ✓"}}, Idempotency_Key="once")
        backup, epoch = back_up(client, "backup")
        before = everything(client, epoch)
    moved = restored(backup, settings, "moved", database_url=shared_catalog)
    inside = rows_of(moved.url)
    assert inside["log"] and inside["idempotency_keys"] and inside["counters"] and inside["layouts"]
    with Client(moved) as client:
        assert everything(client, epoch) == before
        assert client.change("t", {"insert": {"id": 1, "name": "naïve ✓"}}, Idempotency_Key="once") == epoch
        again, same = back_up(client, "backup")
        assert same == epoch
    home = restored(again, settings, "home", database_url="")
    back = rows_of(home.url)
    for name in TABLES.keys() - {"audit", "jobs"}:
        assert back[name] == inside[name], name
    assert set(back["audit"]) >= set(inside["audit"])  # the second backup may have its own entry
    assert dict(back["numbers"])["relations"] == dict(inside["numbers"])["relations"] > len(back["relations"])
    assert [job[1] for job in back["jobs"]] == [job[1] for job in inside["jobs"]] == []
    with Client(home) as client:
        assert everything(client, epoch) == before
        client.table("next", {"a": "BIGINT"})
        ids = {definition.id for definition in client.runtime.definitions().values()}
        assert max(ids) > dict(inside["numbers"])["relations"], "a number was given twice"


def test_a_numbered_row_keeps_its_number_in_postgresql(settings: Settings, shared_catalog: str) -> None:
    with Client(settings) as client:
        for name in ("a", "b"):
            client.table(name, {"x": "BIGINT"})
        client.delete("/v1/tables/b")
        backup, _ = back_up(client, "backup")
    with Client(restored(backup, settings, "moved", database_url=shared_catalog)) as client:
        client.table("c", {"x": "BIGINT"})
        assert client.runtime.definition("c").id == 3


def test_every_table_of_the_catalog_is_in_a_backup(tmp_path: Path) -> None:
    of_services = {"leadership", "revisions"}
    assert metadata.tables.keys() - of_services == TABLES.keys()
    catalog = Catalog(f"sqlite:///{tmp_path}/c.db")
    with catalog.snapshot() as connection:
        found = set(sa.inspect(connection).get_table_names())
    catalog.close()
    assert found == TABLES.keys() | of_services | {"alembic_version"}


def test_the_writer_only_takes_the_snapshot(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the manifest names is read on another thread, however many files there are."""
    readers: list[str] = []
    read = pinned_state.read_manifest

    def noted(connection: sa.Connection) -> object:
        readers.append(threading.current_thread().name)
        return read(connection)

    monkeypatch.setattr(pinned_state, "read_manifest", noted)
    with Client(settings) as client:
        define(client)
        back_up(client, "backup")
    assert readers and "freshet-writer" not in readers


def test_a_snapshot_does_not_see_what_comes_later(tmp_path: Path) -> None:
    catalog = Catalog(f"sqlite:///{tmp_path}/c.db")
    query = sa.text("SELECT count(*) FROM roles")
    with catalog.snapshot() as connection:
        with catalog.transaction() as other:
            other.execute(sa.text("INSERT INTO roles VALUES ('r', '[]', 0)"))
        assert connection.execute(query).scalar() == 0
    with catalog.snapshot() as connection:
        assert connection.execute(query).scalar() == 1
    catalog.close()


def test_branches_are_in_backups(client: Client, settings: Settings) -> None:
    client.table("t", {"id": "BIGINT", "n": "BIGINT"}, key=["id"])
    client.insert("t", {"id": 1, "n": 1})
    assert client.post("/v1/branches", {"name": "b"}).status_code == 201
    client.post("/v1/tables/t/deltas?branch=b", [{"insert": {"id": 2, "n": 2}}])
    own = {"name": "own", "sql": "SELECT count(*) AS c FROM t"}
    assert client.post("/v1/views?branch=b", own).status_code == 201
    client.insert("t", {"id": 3, "n": 3})
    backup, _ = back_up(client, "with-branch")
    with Client(restored(backup, settings, "again")) as other:
        rows = other.get("/v1/tables/t/rows", branch="b").json()["rows"]
        assert rows == [{"id": 1, "n": 1}, {"id": 2, "n": 2}]
        assert other.get("/v1/views/own/rows", branch="b").json()["rows"] == [{"c": 2}]
        found = other.get("/v1/branches/b/diff", view="t").json()["differences"]
        assert [(it["diff"], it["row"]["id"]) for it in found] == [(1, 2), (-1, 3)]
