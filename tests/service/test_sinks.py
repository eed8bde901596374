"""Continuous sinks: the files against the posted history, and recovery from crashes."""

from __future__ import annotations

import random
import sqlite3
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from service.settings.settings import Settings
from tests.seeds import SEED
from tests.service.client import Client, code
from tests.service.waiting import wait_until


def create(client: Client, name: str = "s", view: str = "v", **more: object) -> dict:
    body = {"name": name, "view": view, "path": "out", "interval_seconds": 0.01, **more}
    answer = client.post("/v1/sinks", body)
    assert answer.status_code == 201, answer.text
    return answer.json()


def sink(client: Client, name: str = "s") -> dict:
    return client.get(f"/v1/sinks/{name}").json()


def follow(client: Client, name: str = "s") -> dict:
    """The sink, once it has everything that exists."""
    newest = client.get("/v1/status").json()["epoch"]
    wait_until(lambda: sink(client, name)["epoch"] == newest)
    return sink(client, name)


def exported(directory: Path) -> Counter:
    """The sums of `_diff` by epoch and row. No epoch may be in two files."""
    found: Counter = Counter()
    epochs: Counter = Counter()
    for path in directory.iterdir():
        assert path.suffix == ".parquet"
        rows = pyarrow.parquet.read_table(path).to_pylist()
        epochs.update({row["_epoch"] for row in rows})
        for row in rows:
            epoch, diff = row.pop("_epoch"), row.pop("_diff")
            found[epoch, *row.values()] += diff
    assert set(epochs.values()) <= {1}
    return found


@pytest.fixture
def out(settings: Settings) -> Path:
    return settings.data / "out"


VIEW = "SELECT name, count(*) AS n FROM t GROUP BY name"


def define(client: Client) -> None:
    client.table("t", {"id": "BIGINT", "name": "TEXT"}, ["id"])
    client.view("v", VIEW)


def counts(rows: dict[int, str]) -> Counter:
    return Counter(Counter(rows.values()).items())


def test_a_directory_has_one_sink(client: Client) -> None:
    define(client)
    client.view("w", "SELECT id FROM t")
    create(client)
    for path in ("out", "./out", "out/"):
        answer = client.post("/v1/sinks", {"name": "other", "view": "w", "path": path})
        assert code(answer) == (409, "in_use"), path
        assert "sink s writes to" in answer.json()["detail"]
    create(client, "beside", "w", path="out/w")
    assert client.delete("/v1/sinks/s").status_code == 204
    create(client, "other", "w")


def test_a_history_with_restarts(settings: Settings, out: Path) -> None:
    chance = random.Random(SEED)
    rows: dict[int, str] = {}
    expected: Counter = Counter()
    for start in range(4):
        with Client(settings) as client:
            if start == 0:
                define(client)
                create(client)
            for _ in range(40):
                before = counts(rows)
                id = chance.randrange(6)
                if id in rows and chance.random() < 0.5:
                    del rows[id]
                    epoch = client.change("t", {"delete": {"id": id}})
                else:
                    rows[id] = chance.choice("abc")
                    epoch = client.change("t", {"upsert": {"id": id, "name": rows[id]}})
                for row, diff in (Counter(counts(rows)) - before).items():
                    expected[epoch, *row] += diff
                for row, diff in (before - counts(rows)).items():
                    expected[epoch, *row] -= diff
                if chance.random() < 0.2:
                    follow(client)
            if start == 3:
                described = follow(client)
    assert exported(out) == expected
    assert described["rows"] == len(expected)
    assert described["files"] == len(list(out.iterdir())) > 4


def test_from_an_epoch(client: Client, out: Path) -> None:
    define(client)
    for id in range(5):
        client.insert("t", {"id": id, "name": f"n{id}"})
    create(client, **{"from": 3})
    follow(client)
    assert exported(out) == Counter({(id + 1, f"n{id}", 1): 1 for id in range(2, 5)})


def test_types(client: Client, out: Path) -> None:
    client.table("t", {"d": "DATE", "p": "NUMERIC(10, 2)", "b": "BOOLEAN"})
    client.view("v", "SELECT * FROM t")
    client.insert("t", {"d": "2022-01-08", "p": "1.50", "b": None})
    create(client)
    follow(client)
    (file,) = out.iterdir()
    schema = pyarrow.parquet.read_schema(file)
    assert schema.names == ["d", "p", "b", "_epoch", "_diff"]
    assert schema.types == [pa.date32(), pa.decimal128(10, 2), pa.bool_(), pa.int64(), pa.int64()]


@pytest.mark.parametrize("written", [True, False])
def test_a_crash_around_a_file(settings: Settings, out: Path, written: bool) -> None:
    """According to the catalog a file is being written; it exists in full or in part."""
    with Client(settings) as client:
        define(client)
        client.insert("t", {"id": 1, "name": "a"})
        create(client)
        follow(client)
        client.insert("t", {"id": 2, "name": "b"})
        follow(client)
        client.insert("t", {"id": 3, "name": "c"})
        follow(client)
    _, newest, unwritten = sorted(out.iterdir())
    unwritten.unlink()
    with sqlite3.connect(settings.data / "freshet.db") as database:
        database.execute("UPDATE sinks SET done = 1, writing = 2, files = 1, rows = 1")
    database.close()
    if not written:
        newest.rename(newest.with_name(f".{newest.name}.writing"))
        newest.with_name(f".{newest.name}.writing").write_bytes(b"PAR1")
    with Client(settings) as client:
        described = follow(client)
    assert (described["files"], described["rows"]) == (3, 3)
    assert exported(out) == Counter({(1, "a", 1): 1, (2, "b", 1): 1, (3, "c", 1): 1})


def forget(client: Client, name: str, epoch: int) -> None:
    runtime = client.runtime
    runtime._leading.writer.call(lambda: runtime._state.engine.forget(name, epoch))


def test_what_was_forgotten_comes_as_one_epoch(client: Client, out: Path) -> None:
    define(client)
    for id in range(4):
        client.insert("t", {"id": id, "name": "a"})
    forget(client, "v", 3)
    refused = client.post("/v1/sinks", {"name": "s", "view": "v", "path": "out", "from": 2})
    assert code(refused) == (410, "history_gone")
    create(client)
    follow(client)
    assert exported(out) == Counter({(3, "a", 3): 1, (4, "a", 3): -1, (4, "a", 4): 1})


def test_history_that_went_before_it_was_written(client: Client, out: Path) -> None:
    define(client)
    out.write_text("in the way")
    create(client, **{"from": 1})
    for id in range(4):
        client.insert("t", {"id": id, "name": "a"})
    wait_until(lambda: "out" in (sink(client)["reason"] or ""))
    assert sink(client)["state"] == "running"
    forget(client, "v", 3)
    wait_until(lambda: sink(client)["state"] == "failed")
    assert "no longer kept" in sink(client)["reason"]


def test_a_view_that_is_dropped(settings: Settings) -> None:
    with Client(settings) as client:
        define(client)
        create(client)
        assert client.delete("/v1/views/v").status_code == 204
        client.view("v", VIEW)
        client.insert("t", {"id": 1, "name": "a"})
        wait_until(lambda: sink(client)["state"] == "failed")
    with Client(settings) as client:
        assert sink(client)["state"] == "failed"
        assert sink(client)["reason"] == "view v was dropped or created again"


def test_a_view_with_errors_is_waited_for(client: Client, out: Path) -> None:
    client.table("t", {"id": "BIGINT", "name": "TEXT"}, ["id"])
    client.view("v", "SELECT CAST(name AS BIGINT) AS n FROM t")
    create(client)
    client.insert("t", {"id": 1, "name": "7"}, {"id": 2, "name": "x"})
    wait_until(lambda: "has errors" in (sink(client)["reason"] or ""))
    client.change("t", {"upsert": {"id": 2, "name": "8"}})
    assert follow(client)["reason"] is None
    assert exported(out) == Counter({(1, 7): 1, (2, 8): 1})


def test_definitions(client: Client, settings: Settings) -> None:
    define(client)
    created = create(client)
    assert created["path"] == str(settings.data.resolve() / "out")
    assert [each["name"] for each in client.get("/v1/sinks").json()["sinks"]] == ["s"]
    body = {"name": "s", "view": "v", "path": "out"}
    assert code(client.post("/v1/sinks", body)) == (409, "name_in_use")
    assert code(client.post("/v1/sinks", {**body, "view": "t"})) == (404, "unknown_name")
    assert code(client.post("/v1/sinks", {**body, "path": "../out"})) == (422, "path_not_allowed")
    assert code(client.post("/v1/sinks", {**body, "format": "csv"})) == (422, "invalid_request")
    client.view("odd", "SELECT id AS _diff FROM t")
    assert code(client.post("/v1/sinks", {**body, "name": "o", "view": "odd"})) == (422, "invalid")
    assert client.delete("/v1/sinks/s").status_code == 204
    assert code(client.get("/v1/sinks/s")) == (404, "unknown_name")
    assert code(client.delete("/v1/sinks/s")) == (404, "unknown_name")
