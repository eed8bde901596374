"""Streaming sources: what files say, in plain Python, against what is in the tables."""

from __future__ import annotations

import os
import random
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

import orjson
import pyarrow as pa
import pyarrow.orc
import pyarrow.parquet
import pytest

from engine.spark.sessions import Sessions, SparkOptions
from service.settings.settings import Settings
from tests.seeds import SEED
from tests.service.client import Client, code
from tests.service.test_debezium import event, step
from tests.service.waiting import wait_until

Row = tuple[int, str | None]


@pytest.fixture
def client(settings: Settings, sessions: Sessions) -> Iterator[Client]:
    with Client(settings, sessions) as client:
        yield client


class Directory:
    """A watched directory: files are put into it whole, each a little newer than the one before."""

    def __init__(self, settings: Settings, name: str = "in") -> None:
        self.path = settings.data / name
        self.path.mkdir(parents=True)
        self._files = 0

    def put(self, name: str, content: bytes | str) -> None:
        aside = self.path / f".{name}"
        aside.write_bytes(content.encode() if isinstance(content, str) else content)
        self._files += 1
        moment = 1_700_000_000 + self._files
        os.utime(aside, (moment, moment))
        aside.rename(self.path / name)

    def lines(self, name: str, *documents: object) -> None:
        self.put(name, b"".join(orjson.dumps(document) + b"\n" for document in documents))


def create(client: Client, name: str = "s", **more: object) -> None:
    body = {"name": name, "table": "t", "format": "json", "path": "in", "trigger_seconds": 0, **more}
    answer = client.post("/v1/sources", body)
    assert answer.status_code == 201, answer.text


def source(client: Client, name: str = "s") -> dict:
    return client.get(f"/v1/sources/{name}").json()


def wait_for(client: Client, batches: int, name: str = "s") -> dict:
    """The source, once it has applied so many batches."""
    wait_until(
        lambda: source(client, name)["batches"] >= batches or source(client, name)["state"] == "failed"
    )
    found = source(client, name)
    assert found["state"] != "failed", found["reason"]
    return found


def wait_failed(client: Client, name: str = "s") -> str:
    wait_until(lambda: source(client, name)["state"] == "failed")
    return source(client, name)["reason"]


COLUMNS = {"id": "BIGINT", "name": "TEXT"}


def csv(rows: Sequence[Row]) -> str:
    fields = ((id, "" if name is None else '"' + name.replace('"', '""') + '"') for id, name in rows)
    return "id,name\n" + "".join(f"{id},{name}\n" for id, name in fields)


def parquet(rows: Sequence[Row]) -> bytes:
    sink = pa.BufferOutputStream()
    pyarrow.parquet.write_table(arrow(rows), sink)
    return sink.getvalue().to_pybytes()


def orc(rows: Sequence[Row]) -> bytes:
    sink = pa.BufferOutputStream()
    pyarrow.orc.write_table(arrow(rows), sink)
    return sink.getvalue().to_pybytes()


def json(rows: Sequence[Row]) -> bytes:
    return b"".join(orjson.dumps({"id": id, "name": name}) + b"\n" for id, name in rows)


def arrow(rows: Sequence[Row]) -> pa.Table:
    ids, names = [id for id, _ in rows], [name for _, name in rows]
    return pa.table({"id": pa.array(ids, pa.int64()), "name": pa.array(names, pa.string())})


def narrow(format: str, rows: Sequence[Row]) -> bytes:
    """A file that has no names."""
    if format == "json":
        return b"".join(orjson.dumps({"id": id}) + b"\n" for id, _ in rows)
    sink = pa.BufferOutputStream()
    pyarrow.parquet.write_table(arrow(rows).select(["id"]), sink)
    return sink.getvalue().to_pybytes()


WRITERS = {"csv": csv, "parquet": parquet, "orc": orc, "json": json}


def test_formats(client: Client, settings: Settings) -> None:
    """Every format at once; some files have names that Spark could take for patterns, some are empty."""
    chance = random.Random(SEED)
    expected: dict[str, Counter] = {}
    for format, write in WRITERS.items():
        directory = Directory(settings, format)
        client.table(f"of_{format}", COLUMNS)
        found = expected[format] = Counter()
        for name in ("a", "b 1", "*", "[a]", "é%20") if format == "csv" else ("a", "é%20 b"):
            rows = [(chance.randrange(9), chance.choice(["x", 'q"u', "", None])) for _ in range(20)]
            directory.put(f"{name}.{format}", write(rows))
            found.update(rows)
        directory.put(f"empty.{format}", write([]) if format in ("parquet", "orc") else b"")
        if format in ("parquet", "json"):
            rows = [(chance.randrange(9), None) for _ in range(5)]
            directory.put(f"narrow.{format}", narrow(format, rows))
            found.update(rows)
        create(client, f"of_{format}", table=f"of_{format}", path=format, format=format, files_per_batch=3)
    lines = Directory(settings, "text")
    client.table("of_text", {"line": "TEXT"})
    lines.put("a.txt", "one\n\ntwo, three\n")
    create(client, "of_text", table="of_text", path="text", format="text")
    for format in WRITERS:
        wait_for(client, -(-len(list((settings.data / format).iterdir())) // 3), f"of_{format}")
        assert Counter(client.rows(f"of_{format}")) == expected[format], format
    wait_for(client, 1, "of_text")
    assert Counter(client.rows("of_text")) == Counter([("one",), ("",), ("two, three",)])


def test_a_large_batch(settings: Settings, sessions: Sessions) -> None:
    """Computed on Spark, with its files and their bad rows, and not again when it comes again."""
    with Client(replace(settings, spark_rows=50), sessions) as client:
        directory = Directory(settings)
        client.table("t", COLUMNS, ["id"])
        client.view("v", "SELECT name, count(*) AS n FROM t GROUP BY name")
        directory.put("[a].csv", csv([(id, "ab"[id % 2]) for id in range(100)]) + "x,y\n")
        directory.put("b.csv", csv([(id, "c") for id in range(100, 130)]))
        create(client, format="csv", bad_rows="skip")
        found = wait_for(client, 1)
        assert (found["rows"], found["skipped"], found["epoch"]) == (130, 1, 1)
        assert sorted(client.rows("v")) == [("a", 50), ("b", 50), ("c", 30)]
        directory.put("c.csv", csv([(id, "c") for id in range(0, 200, 3)]))
        assert "has a row of key id = " in wait_failed(client)
        assert len(client.rows("t", limit=1000)) == 130


def test_operations_in_the_order_of_files(client: Client, settings: Settings) -> None:
    directory = Directory(settings)
    client.table("t", COLUMNS, ["id"])
    directory.put("b.csv", "_op,id,name\nupsert,1,a\ndelete,1,\nupsert,1,b\n,2,c\ninsert,3,d\n")
    directory.put("a.csv", "_op,id,name\ndelete,2,\nupsert,3,e\ninsert,4,f\n")
    create(client, format="csv")
    found = wait_for(client, 1)
    assert sorted(client.rows("t")) == [(1, "b"), (3, "e"), (4, "f")]
    assert (found["rows"], found["epoch"], found["last_batch"]) == (8, 1, 0)
    directory.put("empty.csv", "")
    assert wait_for(client, 2)["rows"] == 8


def test_debezium(client: Client, settings: Settings) -> None:
    """A database's log in files, some of it twice; one of them has dates and moments in its own encodings."""
    chance = random.Random(SEED)
    directory, encoded = Directory(settings), Directory(settings, "encoded")
    client.table("t", COLUMNS, ["id"])
    client.table("moments", {"id": "BIGINT", "day": "DATE", "at": "TIMESTAMP"})
    rows: dict[int, str] = {}
    log: list[dict | None] = []
    for number in range(7):
        start = len(log)
        for _ in range(chance.randint(1, 30)):
            log += step(rows, chance)
        log.append(None)
        directory.lines(f"{number}.json", *log[max(0, start - chance.randint(0, 10)) :])
    encoded.lines("a", event("c", None, {"id": 1, "day": 1, "at": 86_400_000}))
    create(client, envelope="debezium", files_per_batch=3)
    debezium = {"format": "text", "envelope": "debezium", "timestamps": "milliseconds"}
    create(client, "moments", table="moments", path="encoded", **debezium)
    wait_for(client, 3)
    assert sorted(client.rows("t")) == sorted(rows.items())
    wait_for(client, 1, "moments")
    assert client.rows("moments") == [(1, "1970-01-02", "1970-01-02T00:00:00")]


def test_bad_rows(client: Client, settings: Settings) -> None:
    """A source that fails applies nothing of the batch and goes on with it; others leave the rows out."""
    lines, table = Directory(settings, "lines"), Directory(settings, "table")
    for name in ("failing", "skipping", "columns"):
        client.table(name, {"id": "BIGINT", "n": "INTEGER"}, ["id"])
    good = [{"upsert": {"id": id, "n": id}} for id in range(20)]
    bad = [
        {"upsert": {"id": 1, "n": "x"}},
        {"upsert": {"n": 1}},
        {"drop": {"id": 1}},
        {"insert": {"no": 1}},
        7,
    ]
    lines.lines("a.json", *good[:10])
    mixed = b"".join(orjson.dumps(line) + b"\n" for line in [*good[10:], *bad, {"delete": {"id": 3}}])
    lines.put("b.json", mixed + b"{not json\n\n")
    table.put("a.csv", "id,n,_op\n1,1,\n2,x,\n,3,\n4,4,drop\n5,5\n6,6,upsert\n1,,delete\n")
    changes = {"format": "json", "path": "lines", "envelope": "changes"}
    create(client, "failing", table="failing", **changes)
    create(client, "skipping", table="skipping", bad_rows="skip", **changes)
    create(client, "columns", table="columns", path="table", format="csv", bad_rows="skip")
    assert "b.json, line 11: change 0: column n" in wait_failed(client, "failing")
    assert client.rows("failing") == []
    assert wait_for(client, 1, "skipping")["skipped"] == len(bad) + 1
    assert wait_for(client, 1, "columns")["skipped"] == 4
    expected = sorted((id, id) for id in range(20) if id != 3)
    assert sorted(client.rows("skipping")) == expected
    assert client.rows("columns") == [(6, 6)]
    assert code(client.post("/v1/sources/skipping/resume")) == (409, "conflict")
    lines.put("b.json", b"".join(orjson.dumps(line) + b"\n" for line in [*good[10:], {"delete": {"id": 3}}]))
    assert client.post("/v1/sources/failing/resume").json()["reason"] is None
    wait_for(client, 1, "failing")
    assert sorted(client.rows("failing")) == expected


def test_a_batch_that_comes_again(settings: Settings, sessions: Sessions) -> None:
    """As after a crash between our commit and Spark's, and then with a checkpoint that is lost."""
    directory = Directory(settings)
    with Client(settings, sessions) as client:
        client.table("t", COLUMNS)
        directory.lines("a", {"id": 1}, {"id": 1})
        create(client)
        wait_for(client, 1)
        directory.lines("b", {"id": 2})
        wait_for(client, 2)
    (checkpoint,) = (settings.data / "pipeline/sources").iterdir()
    for commit in (checkpoint / "commits").glob("*1*"):
        commit.unlink()
    with Client(settings, sessions) as client:
        directory.lines("c", {"id": 3})
        found = wait_for(client, 3)
        assert sorted(client.rows("t")) == [(1, None), (1, None), (2, None), (3, None)]
        assert (found["rows"], found["epoch"]) == (4, 3)
    shutil.rmtree(checkpoint)
    with Client(settings, sessions) as client:
        assert "the checkpoint is not this source's" in wait_failed(client)
        assert len(client.rows("t")) == 4
    with Client(settings, sessions) as client:
        assert source(client)["state"] == "failed"
        assert client.delete("/v1/sources/s").status_code == 204
        assert len(client.rows("t")) == 4


def test_files_that_spark_cannot_read(client: Client, settings: Settings) -> None:
    directory = Directory(settings)
    client.table("t", COLUMNS)
    directory.put("a.csv", "id,name\n1,x\n")
    directory.put("b.csv", "name,id\nx,1\n")
    create(client, format="csv")
    assert "CSV header does not conform" in wait_failed(client)
    (directory.path / "b.csv").unlink()
    client.post("/v1/sources/s/resume")
    wait_for(client, 1)
    assert client.rows("t") == [(1, "x")]


def test_a_table_that_is_dropped(client: Client, settings: Settings) -> None:
    directory = Directory(settings)
    client.table("t", COLUMNS, ["id"])
    create(client)
    client.delete("/v1/tables/t")
    client.table("t", COLUMNS, ["id"])
    directory.lines("a", {"id": 1})
    assert wait_failed(client) == "table t was dropped or created again"
    client.delete("/v1/sources/s")
    create(client)
    wait_for(client, 1)
    directory.lines("b", {"id": 2}, {"id": 1})
    assert "batch 1 of b: change 1 inserts a key that table t has already" in wait_failed(client)
    assert client.rows("t") == [(1, None)]


def test_definitions(settings: Settings, sessions: Sessions) -> None:
    Directory(settings)
    remote = Sessions(SparkOptions(settings.data / "spark", remote="sc://nowhere"))
    body = {"name": "s", "table": "t", "format": "json", "path": "in"}
    with Client(settings, remote) as client:
        client.table("t", COLUMNS)
        assert code(client.post("/v1/sources", body)) == (409, "spark_connect")
    with Client(settings, sessions) as client:
        for wrong, expected in [
            ({"table": "none"}, (404, "unknown_name")),
            ({"path": "nowhere"}, (422, "path_not_found")),
            ({"path": "../in"}, (422, "path_not_allowed")),
            ({"format": "xml"}, (422, "invalid_request")),
            ({"format": "csv", "envelope": "changes"}, (422, "invalid_request")),
            ({"timestamps": "milliseconds"}, (422, "invalid_request")),
            ({"format": "text"}, (422, "invalid_request")),
            ({"options": {"path": "/etc"}}, (422, "invalid_option")),
        ]:
            assert code(client.post("/v1/sources", {**body, **wrong})) == expected, wrong
        assert client.post("/v1/sources", body).status_code == 201
        assert code(client.post("/v1/sources", body)) == (409, "name_in_use")
        assert source(client)["state"] in ("starting", "running")
        assert [each["name"] for each in client.get("/v1/sources").json()["sources"]] == ["s"]
        assert client.delete("/v1/sources/s").status_code == 204
        assert code(client.get("/v1/sources/s")) == (404, "unknown_name")
