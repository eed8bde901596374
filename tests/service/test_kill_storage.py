"""Storage that fails: bits that flip, files that are cut, a disk that is full, an fsync that does not.

Whatever happens, the service gives an error or the right rows, and an acknowledged change is never lost as
long as the disk keeps what it has synced. `FRESHET_DAMAGES` sets the number of damaged copies.
"""

from __future__ import annotations

import os
import random
import resource
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

import freshet
from freshet import Connection
from service.settings.settings import Settings
from tests.seeds import SEED
from tests.service.client import Client, Process
from tests.service.door import Door

DAMAGES = int(os.environ.get("FRESHET_DAMAGES", "10"))
VIEW = "SELECT name, count(*) AS n, sum(id)::BIGINT AS total FROM t GROUP BY name"
Rows = list[tuple]
Answers = dict[str, list[Rows]]
"""The rows of each relation at each epoch."""


def fill(settings: Settings, chance: random.Random, epochs: int, killed: Path | None = None) -> Answers:
    """A table and a view with so many epochs, and what they hold. `killed` gets what a kill would leave."""
    with Client(settings) as client:
        client.table("t", {"id": "BIGINT", "name": "TEXT"}, key=["id"])
        client.view("v", VIEW)
        for _ in range(epochs):
            ids = chance.sample(range(300), 20)
            names = [chance.choice("abcdefgh") * 20 for _ in ids]
            client.change("t", *({"upsert": {"id": i, "name": n}} for i, n in zip(ids, names, strict=True)))
        if killed is not None:
            shutil.copytree(settings.data, killed)
        return answers(client)


def answers(client: Client) -> Answers:
    newest = client.get("/v1/status").json()["epoch"]
    return {name: [sorted(client.rows(name, as_of=e)) for e in range(newest + 1)] for name in ("t", "v")}


def flipped(file: Path, chance: random.Random) -> None:
    content = bytearray(file.read_bytes())
    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    file.write_bytes(content)


def cut(file: Path, chance: random.Random) -> None:
    file.write_bytes(file.read_bytes()[: chance.randrange(file.stat().st_size)])


def zeroed(file: Path, chance: random.Random) -> None:
    """A block that was never written, as after a loss of power."""
    content = bytearray(file.read_bytes())
    at = chance.randrange(len(content)) // 512 * 512
    content[at : at + 512] = bytes(len(content[at : at + 512]))
    file.write_bytes(content)


def after(settings: Settings) -> Answers | str:
    """What a start answers, or why it does not start."""
    try:
        with Client(settings) as client:
            return answers(client)
    except AssertionError as error:
        return f"refused: {error}"
    except Exception as error:
        return f"not started: {error}"


def copies(settings: Settings, directory: Path) -> Iterator[Settings]:
    """Copies of a data directory, one after another."""
    for number in range(DAMAGES):
        copy = directory / f"copy{number}"
        shutil.copytree(settings.data, copy)
        yield replace(settings, data=copy)
        shutil.rmtree(copy)


@pytest.mark.parametrize("damage", [flipped, cut, zeroed], ids=lambda damage: damage.__name__)
def test_a_damaged_file_of_the_state_gives_no_wrong_row(
    settings: Settings, tmp_path: Path, damage: Callable[[Path, random.Random], None]
) -> None:
    chance = random.Random(f"{SEED} {damage.__name__}")
    before = fill(settings, chance, 10)
    refused = 0
    for copy in copies(settings, tmp_path):
        file = chance.choice(sorted(path for path in copy.state.iterdir() if path.stat().st_size))
        damage(file, chance)
        found = after(copy)
        assert isinstance(found, str) or found == before, file.name
        refused += isinstance(found, str)
    print(f"{refused} of {DAMAGES} damaged directories were refused")


def test_a_flipped_bit_in_the_log_gives_no_wrong_row(settings: Settings, tmp_path: Path) -> None:
    """The log is in SQLite, which does not check what it reads; the service has to."""
    chance = random.Random(SEED)
    before = fill(settings, chance, 10, tmp_path / "killed")
    wrong = []
    for copy in copies(replace(settings, data=tmp_path / "killed"), tmp_path):
        with closing(sqlite3.connect(copy.data / "freshet.db")) as database:
            (records,) = database.execute("SELECT count(*) FROM log").fetchone()
            assert records
            columns = [
                name for _, name, kind, *_ in database.execute("PRAGMA table_info(log)") if "BLOB" in kind
            ]
            place = chance.choice(columns)
            row, content = database.execute(
                f"SELECT rowid, {place} FROM log WHERE length({place}) > 0 LIMIT 1 OFFSET ?",
                (chance.randrange(records),),
            ).fetchone()
            changed = bytearray(content)
            changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
            database.execute(f"UPDATE log SET {place} = ? WHERE rowid = ?", (bytes(changed), row))
            database.commit()
        found = after(copy)
        if not isinstance(found, str) and found != before:
            wrong.append(f"byte of {place} in row {row}")
    assert not wrong, f"{len(wrong)} of {DAMAGES} changed answers"


def test_a_log_that_is_cut_ends_earlier(settings: Settings, tmp_path: Path) -> None:
    """What is left of the epochs is a beginning of them, and each of it is whole."""
    chance = random.Random(SEED)
    before = fill(settings, chance, 10, tmp_path / "killed")
    lengths = set()
    for copy in copies(replace(settings, data=tmp_path / "killed"), tmp_path):
        cut(copy.data / "freshet.db-wal", chance)
        found = after(copy)
        if isinstance(found, str):
            continue
        lengths.add(len(found["t"]))
        assert all(found[name] == before[name][: len(found[name])] for name in found)
    assert len(lengths) > 1, "no cut has taken an epoch"


def posted(db: Connection, id: int) -> bool:
    """Whether the post of one row is acknowledged. Else the service says that it cannot write."""
    try:
        db.table("t").insert({"id": id, "name": "x" * 2000})
    except freshet.UnavailableError as error:
        assert error.status == 503
        return False
    return True


def define(db: Connection) -> None:
    view = "SELECT id % 7 AS rest, count(*) AS n, sum(id)::BIGINT AS total FROM t GROUP BY id % 7"
    db.script(f"CREATE TABLE t (id BIGINT PRIMARY KEY, name TEXT); CREATE VIEW v AS {view}")


def check(db: Connection, ids: set[int]) -> None:
    """The table has these rows, and the view what follows from them."""
    assert [id for (id,) in db.sql("SELECT id FROM t ORDER BY id").tuples()] == sorted(ids)
    expected = {(r, len(found), sum(found)) for r in range(7) if (found := [i for i in ids if i % 7 == r])}
    assert set(db.view("v").rows().tuples()) == expected


def test_a_full_disk_refuses_changes_and_loses_none(start: Callable[..., Process]) -> None:
    """No file may grow beyond a limit, for a time; the service goes on when it is lifted."""
    service = start(FRESHET_CHECKPOINT_COMMITS="7")
    service.wait_ready()
    _, most = resource.prlimit(service.pid, resource.RLIMIT_FSIZE)
    taken: set[int] = set()
    door = Door.guarded([service.url])
    with door.connect(retries=0) as db:
        define(db)
        for round in range(3):
            for number in range(20):
                id = round * 1000 + number
                assert posted(db, id)
                taken.add(id)
            resource.prlimit(service.pid, resource.RLIMIT_FSIZE, (4096, most))
            refused = 0
            for number in range(100, 130):
                id = round * 1000 + number
                is_taken = posted(db, id)
                taken |= {id} if is_taken else set()
                refused += not is_taken
            assert refused
            check(db, taken)
            resource.prlimit(service.pid, resource.RLIMIT_FSIZE, (most, most))
        check(db, taken)
    service.kill()
    again = start()
    again.wait_ready()
    with door.at(again.url).connect() as db:
        check(db, taken)
        assert posted(db, 9999)


def test_an_fsync_that_fails_leaves_the_log_as_it_is(tmp_path: Path) -> None:
    """No checkpoint succeeds; changes go on, and the log has them."""
    control = tmp_path / "fails"
    program = ("-m", "tests.service.failing", str(control))
    settings = {"FRESHET_CHECKPOINT_COMMITS": "5", "FRESHET_DATA": str(tmp_path / "data")}
    door: Door | None = None
    taken: set[int] = set()
    for round in range(3):
        control.touch()
        service = Process(tmp_path / "data", settings, program)
        try:
            service.wait_ready()
            door = Door.guarded([service.url]) if door is None else door.at(service.url)
            with door.connect(retries=0) as db:
                if round == 0:
                    define(db)
                check(db, taken)
                for number in range(40):
                    if number == 20 and round == 1:
                        control.unlink()
                    id = round * 1000 + number
                    taken |= {id} if posted(db, id) else set()
                check(db, taken)
        finally:
            service.kill()
    assert taken
