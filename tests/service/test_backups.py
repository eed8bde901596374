"""Backups: what they hold is what could be read at their epoch, whatever happened meanwhile."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import orjson
import pytest
import sqlalchemy as sa

from service.backup import backup_writing, restore
from service.backup.backup_manifest import read_backup
from service.backup.catalog_dump import TABLES, numbers_given
from service.backup.restore import restore_backup
from service.catalog.catalog import Catalog
from service.catalog.database import metadata
from service.errors import Conflict, Invalid, ServiceError
from service.metrics import Metrics
from service.running import pinned_state
from service.running.instance import UNFINISHED
from service.running.state import recover
from service.settings.settings import Settings
from tests.postgres.server import programs, running
from tests.seeds import SEED
from tests.service.backups import back_up, everything, restored
from tests.service.client import Client, code
from tests.service.jobs import ended

VIEWS = {
    "summary": "SELECT name, count(*) AS n, sum(id) AS total FROM t GROUP BY name",
    "top": "SELECT max(n) AS most FROM summary",
    "reach": "WITH RECURSIVE r (a, b) AS (SELECT a, b FROM edges UNION SELECT r.a, e.b FROM r, edges e "
    "WHERE r.b = e.a) SELECT a, b FROM r",
}


def define(client: Client) -> None:
    client.table("t", {"id": "BIGINT", "name": "TEXT"}, key=["id"])
    client.table("edges", {"a": "BIGINT", "b": "BIGINT"})
    for name, sql in VIEWS.items():
        client.view(name, sql)


def change(client: Client, chance: random.Random, epochs: int) -> None:
    for _ in range(epochs):
        ids = chance.sample(range(60), 4)
        name = f"name {chance.randint(0, 9)}"
        client.change("t", *({"upsert": {"id": id, "name": name}} for id in ids))
        client.insert("edges", {"a": chance.randint(0, 9), "b": chance.randint(0, 9)})


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


@pytest.fixture(scope="module")
def server() -> Iterator[Callable[[str], str]]:
    """Makes databases of PostgreSQL; gives their URLs."""
    where = programs()
    if where is None:
        pytest.skip("initdb is not installed; on Debian it is in the package postgresql")
    with running(where) as server:

        def database(name: str) -> str:
            with server.connect() as connection:
                connection.execute(f"CREATE DATABASE {name}")
            return server.url(name)

        yield database


def rows_of(url: str) -> dict[str, list]:
    """All rows of a catalog, by table, and the numbers that its tables have given."""
    database = sa.create_engine(url)
    with database.connect() as connection:
        found = {
            name: sorted((tuple(row) for row in connection.execute(sa.select(table))), key=repr)
            for name, table in TABLES.items()
        }
        found["numbers"] = sorted(numbers_given(connection).items())
    database.dispose()
    return found


def test_between_kinds_of_databases(settings: Settings, server: Callable[[str], str]) -> None:
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
    moved = restored(backup, settings, "moved", database_url=server("moved"))
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


def test_a_numbered_row_keeps_its_number_in_postgresql(
    settings: Settings, server: Callable[[str], str]
) -> None:
    with Client(settings) as client:
        for name in ("a", "b"):
            client.table(name, {"x": "BIGINT"})
        client.delete("/v1/tables/b")
        backup, _ = back_up(client, "backup")
    with Client(restored(backup, settings, "moved", database_url=server("numbers"))) as client:
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


# What is refused


@pytest.fixture
def backup(settings: Settings) -> Path:
    """A backup of a service with a checkpoint and a log."""
    with Client(replace(settings, checkpoint_commits=3)) as client:
        define(client)
        change(client, random.Random(SEED), 4)
        return back_up(client, "backup")[0]


def test_every_damage_is_refused_by_name(settings: Settings, backup: Path, tmp_path: Path) -> None:
    """A bit flips in each file, and each file goes: the message names it, and nothing is written."""
    place = replace(settings, data=tmp_path / "copy")
    files = [backup / file.path for file in read_backup(backup).files]
    assert {path.parent.name for path in files} == {"catalog", "state"}
    for path in files:
        content = path.read_bytes()
        damaged = bytearray(content)
        damaged[random.Random(f"{SEED} {path}").randrange(len(content))] ^= 1
        path.unlink()  # the service's file is the same one
        for present in (bytes(damaged), content[:-1], None):
            if present is not None:
                path.write_bytes(present)
            else:
                path.unlink()
            with pytest.raises(Invalid, match=r"damaged|missing") as refused:
                restore_backup(backup, place)
            assert str(path) in refused.value.message
        path.write_bytes(content)
    assert not place.data.exists()
    restore_backup(backup, place)


def test_a_damaged_manifest_is_refused(settings: Settings, backup: Path, tmp_path: Path) -> None:
    """Bits flip anywhere in the manifest: it is refused, or says the same as before."""
    place = replace(settings, data=tmp_path / "copy")
    manifest = backup / "manifest.json"
    content, whole = manifest.read_bytes(), read_backup(backup)
    chance = random.Random(SEED)
    for _ in range(200):
        damaged = bytearray(content)
        damaged[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        manifest.write_bytes(bytes(damaged))
        try:
            assert read_backup(backup) == whole
        except Invalid as refused:
            assert "manifest.json" in refused.message
    for text in (b"", b"[]", b"null", b"{}", content[: len(content) // 2]):
        manifest.write_bytes(text)
        with pytest.raises(Invalid, match="damaged"):
            restore_backup(backup, place)
    document = orjson.loads(content)
    manifest.write_bytes(orjson.dumps(document | {"format": 2}))
    with pytest.raises(Invalid, match="has format 2"):
        restore_backup(backup, place)
    changed = replace(whole, revision="9999")
    changed.write(backup)
    with pytest.raises(Invalid, match="newer release"):
        restore_backup(backup, place)
    manifest.unlink()
    with pytest.raises(Invalid, match="not finished"):
        restore_backup(backup, place)


def test_paths_that_lead_out_of_a_backup_are_refused(settings: Settings, backup: Path) -> None:
    whole = read_backup(backup)
    for path in ("../x", "state/../../x", "/etc/passwd", "state/", "other/x", "state/a/../b", "state/x\n"):
        replace(whole, files=(replace(whole.files[0], path=path),)).write(backup)
        with pytest.raises(Invalid, match="damaged"):
            read_backup(backup)


def test_a_restore_replaces_nothing(settings: Settings, backup: Path, tmp_path: Path) -> None:
    """What is there stays as it is, byte for byte."""
    for number, name in enumerate(("notes.txt", "freshet.db-wal", "state/x.batch")):
        place = replace(settings, data=tmp_path / f"place{number}")
        path = place.data / name
        path.parent.mkdir(parents=True)
        path.write_text("mine")
        with pytest.raises(Conflict, match="is not empty"):
            restore_backup(backup, place)
        assert {found.name for found in place.data.rglob("*") if found.is_file()} == {path.name, "lock"}
        assert path.read_text() == "mine"
    elsewhere = replace(settings, data=tmp_path / "data2", database_url=settings.url)
    with pytest.raises(Conflict, match="has a catalog already"):
        restore_backup(backup, elsewhere)
    separate = tmp_path / "state of another"
    separate.mkdir()
    (separate / "x.batch").write_text("mine")
    with pytest.raises(Conflict, match="is not empty"):
        restore_backup(backup, replace(settings, data=tmp_path / "data3", state_directory=str(separate)))
    with Client(settings), pytest.raises(ServiceError, match="another process uses"):
        restore_backup(backup, settings)


def test_a_restore_that_stopped_keeps_services_away_and_begins_again(
    settings: Settings, backup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It stops at every step in turn, as a kill would stop it."""
    whole = stored(restored(backup, settings, "whole"))
    for number, step in enumerate(("_clear", "_write_files", "_write_catalog", "sync", "give_after")):
        place = replace(settings, data=tmp_path / f"copy{number}")
        with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
            patched.setattr(f"service.backup.restore.{step}", _killed_after(step, patched))
            restore_backup(backup, place)
        if (place.data / UNFINISHED).exists():
            with pytest.raises(ServiceError, match="was not finished"):
                recover(place, Metrics())
            with pytest.raises(Conflict, match="another restore"):
                restore_backup(backup, replace(place, database_url=f"sqlite:///{tmp_path}/other.db"))
        restore_backup(backup, place)
        assert stored(place) == whole, step
    with Client(place) as client:
        assert client.get("/v1/status").json()["epoch"] == 8


def _killed_after(step: str, patched: pytest.MonkeyPatch) -> Callable[..., None]:
    """The step, and then a kill."""
    original = getattr(restore, step)

    def killed(*arguments: object) -> None:
        original(*arguments)
        raise KeyboardInterrupt

    return killed


def stored(settings: Settings) -> tuple[dict[str, list], dict[str, bytes]]:
    """All rows of the catalog, and all files of the state."""
    return rows_of(settings.url), {path.name: path.read_bytes() for path in settings.state.iterdir()}


# Jobs


def test_the_paths_of_backups_are_limited_as_those_of_exports(settings: Settings, tmp_path: Path) -> None:
    with Client(settings) as client:
        for path in ("../out", "/etc/x", ".", "", "state/x", "freshet.db", "lock", "s3a://b/x"):
            assert code(client.post("/v1/backups", {"path": path})) == (422, "path_not_allowed"), path
        (settings.data / "there").mkdir()
        (settings.data / "there" / "file").write_text("mine")
        (settings.data / "file").write_text("mine")
        for path in ("there", "file"):
            assert code(client.post("/v1/backups", {"path": path})) == (409, "path_exists"), path
        assert code(client.get("/v1/backups/x")) == (404, "unknown_job")
        assert client.get("/v1/backups").json() == {"backups": []}
        backup, _ = back_up(client, "there/deep/one")
        for path in ("there/deep/one", "there/deep/one/two"):
            assert code(client.post("/v1/backups", {"path": path})) == (422, "path_not_allowed"), path
        assert backup.stat().st_mode & 0o077 == 0


def test_nobody_loads_from_a_backup(settings: Settings) -> None:
    """A backup has what the reader of a load may not see."""
    with Client(settings) as client:
        client.table("t", {"a": "TEXT"})
        back_up(client, "backup")
        (settings.data / ".hidden.new").mkdir()
        (settings.data / ".hidden.new" / "FRESHET_BACKUP").write_text("begun")
        (settings.data / ".hidden.new" / "x.csv").write_text("a\n1\n")
        for path in (
            "backup",
            "backup/manifest.json",
            "backup/*.json",
            "*/manifest.json",
            ".hidden.new/*.csv",
        ):
            answer = client.post("/v1/loads", {"table": "t", "format": "text", "path": path})
            job = (
                answer.json()
                if answer.status_code >= 400
                else ended(client, answer.headers["Location"])["error"]
            )
            assert job["code"] == "path_not_allowed", (path, job)


def test_a_cancelled_backup_leaves_nothing(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = threading.Event(), threading.Event()
    dump = backup_writing.dump_table

    def slow(*arguments: object) -> None:
        begun.set()
        go_on.wait(60)
        dump(*arguments)

    monkeypatch.setattr(backup_writing, "dump_table", slow)
    with Client(settings) as client:
        define(client)
        path = client.post("/v1/backups", {"path": "backup"}).headers["Location"]
        begun.wait(60)
        client.insert("edges", {"a": 1, "b": 2})  # the writer does not wait
        assert client.delete(path).status_code == 202
        go_on.set()
        assert ended(client, path)["state"] == "cancelled"
        assert not [found.name for found in settings.data.iterdir() if "backup" in found.name]
        assert client.runtime.snapshot.upper == 2


def test_a_backup_that_cannot_be_written_says_why(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(backup_writing, "sync", full)
    with Client(settings) as client:
        client.table("t", {"a": "BIGINT"})
        path = client.post("/v1/backups", {"path": "backup"}).headers["Location"]
        job = ended(client, path)
        assert (job["state"], job["error"]["code"]) == ("failed", "storage_failed")
        assert "No space" in job["error"]["detail"]
        assert not [found.name for found in settings.data.iterdir() if "backup" in found.name]
