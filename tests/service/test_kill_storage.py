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

import httpx
import pytest

from service.settings.settings import Settings
from tests.seeds import SEED
from tests.service.client import Client, Process

DAMAGES = int(os.environ.get("FRESHET_DAMAGES", "20"))
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


def posted(http: httpx.Client, id: int) -> int:
    """The status of a post of one row."""
    body = [{"insert": {"id": id, "name": "x" * 2000}}]
    return http.post("/v1/tables/t/deltas", json=body).status_code


def define(http: httpx.Client) -> None:
    view = "SELECT id % 7 AS rest, count(*) AS n, sum(id)::BIGINT AS total FROM t GROUP BY id % 7"
    sql = f"CREATE TABLE t (id BIGINT PRIMARY KEY, name TEXT); CREATE VIEW v AS {view}"
    assert http.post("/v1/sql", json={"sql": sql}).status_code == 200


def check(http: httpx.Client, ids: set[int]) -> None:
    """The table has these rows, and the view what follows from them."""
    answer = http.post("/v1/sql", json={"sql": "SELECT id FROM t ORDER BY id"})
    assert [id for (id,) in answer.json()["results"][0]["rows"]] == sorted(ids)
    expected = {(r, len(found), sum(found)) for r in range(7) if (found := [i for i in ids if i % 7 == r])}
    view = http.get("/v1/views/v/rows").json()["rows"]
    assert {tuple(row.values()) for row in view} == expected


def test_a_full_disk_refuses_changes_and_loses_none(start: Callable[..., Process]) -> None:
    """No file may grow beyond a limit, for a time; the service goes on when it is lifted."""
    service = start(FRESHET_CHECKPOINT_COMMITS="7")
    service.wait_ready()
    _, most = resource.prlimit(service.pid, resource.RLIMIT_FSIZE)
    taken: set[int] = set()
    with httpx.Client(base_url=service.url, timeout=60) as http:
        define(http)
        for round in range(3):
            for number in range(20):
                id = round * 1000 + number
                assert posted(http, id) == 200
                taken.add(id)
            resource.prlimit(service.pid, resource.RLIMIT_FSIZE, (4096, most))
            refused = 0
            for number in range(100, 130):
                id = round * 1000 + number
                status = posted(http, id)
                assert status in (200, 503), status
                taken |= {id} if status == 200 else set()
                refused += status != 200
            assert refused
            check(http, taken)
            resource.prlimit(service.pid, resource.RLIMIT_FSIZE, (most, most))
        check(http, taken)
    service.kill()
    again = start()
    again.wait_ready()
    with httpx.Client(base_url=again.url, timeout=60) as http:
        check(http, taken)
        assert posted(http, 9999) == 200


def test_an_fsync_that_fails_leaves_the_log_as_it_is(tmp_path: Path) -> None:
    """No checkpoint succeeds; changes go on, and the log has them."""
    control = tmp_path / "fails"
    program = ("-m", "tests.service.failing", str(control))
    settings = {"FRESHET_CHECKPOINT_COMMITS": "5", "FRESHET_DATA": str(tmp_path / "data")}
    taken: set[int] = set()
    for round in range(3):
        control.touch()
        service = Process(tmp_path / "data", settings, program)
        try:
            service.wait_ready()
            with httpx.Client(base_url=service.url, timeout=60) as http:
                if round == 0:
                    define(http)
                check(http, taken)
                for number in range(40):
                    if number == 20 and round == 1:
                        control.unlink()
                    id = round * 1000 + number
                    status = posted(http, id)
                    assert status in (200, 503)
                    taken |= {id} if status == 200 else set()
                check(http, taken)
        finally:
            service.kill()
    assert taken
