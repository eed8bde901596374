"""Statements about data outside: CREATE SOURCE, CREATE SINK, and COPY of files in allowed places."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from engine.spark.sessions import Sessions
from service.settings.settings import Settings
from tests.pgwire.door import PostgresDoor
from tests.service.client import Client, code
from tests.service.waiting import wait_until


@pytest.fixture
def client(settings: Settings, sessions: Sessions) -> Iterator[Client]:
    """A service that shares the Spark session of all tests."""
    (settings.data / "in").mkdir(parents=True)
    with Client(settings, sessions) as client:
        yield client


def run(client: Client, sql: str, dialect: str = "postgres") -> list[dict]:
    answer = client.post("/v1/sql", {"sql": sql, "dialect": dialect})
    assert answer.status_code == 200, answer.text
    return answer.json()["results"]


def refused(client: Client, sql: str) -> tuple[int, str, str]:
    answer = client.post("/v1/sql", {"sql": sql})
    return *code(answer), answer.json()["detail"]


# COPY


def test_copy_from_is_a_load(client: Client, settings: Settings) -> None:
    run(client, "CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT); CREATE VIEW n AS SELECT count(*) FROM t")
    (settings.data / "in" / "x.csv").write_text('1,x\n2,\n3,""\n')
    (settings.data / "in" / "y.csv").write_text("b;a\n'p;q';4\n")
    (settings.data / "in" / "z.parquet").parent.mkdir(exist_ok=True)
    pyarrow.parquet.write_table(pa.table({"a": [5], "b": ["five"]}), settings.data / "in" / "z.parquet")
    (first,) = run(client, "COPY t FROM 'in/x.csv'")
    assert (first["statement"], first["count"]) == ("COPY", 3)
    run(client, "COPY t FROM 'in/y.csv' WITH (FORMAT csv, HEADER, DELIMITER ';', QUOTE '''')")
    run(client, "COPY t FROM 'in/*.parquet' (FORMAT parquet)", "duckdb")
    assert sorted(client.rows("t"), key=str) == [(1, "x"), (2, None), (3, ""), (4, "p;q"), (5, "five")]
    assert client.rows("n") == [(5,)]
    assert refused(client, "COPY t FROM 'in/x.csv'")[:2] == (409, "key_exists")
    assert refused(client, "COPY t FROM '/etc/passwd' (FORMAT csv)")[:2] == (422, "path_not_allowed")
    assert refused(client, "COPY t FROM 'in/none.csv'")[:2] == (422, "path_not_found")
    assert refused(client, "COPY n FROM 'in/x.csv'")[0] == 404
    assert refused(client, "BEGIN; COPY t FROM 'in/x.csv'; COMMIT")[:2] == (422, "unsupported_sql")
    assert len(client.rows("t")) == 5


def test_copy_from_needs_a_key_that_may_define(client: Client, settings: Settings) -> None:
    (settings.data / "in" / "secret.csv").write_text("1,hush\n")
    run(client, "CREATE TABLE t (a INTEGER, b TEXT)")
    boss = client.post("/v1/keys", {"name": "boss", "role": "admin"}).json()["key"]
    as_boss = {"Authorization": f"Bearer {boss}"}
    grant = {"sql": "CREATE ROLE clerk; GRANT SELECT, INSERT ON t TO clerk"}
    assert client.post("/v1/sql", grant, headers=as_boss).status_code == 200
    made = client.post("/v1/keys", {"name": "k", "role": "clerk"}, headers=as_boss)
    as_clerk = {"Authorization": f"Bearer {made.json()['key']}"}
    for place in ("in/secret.csv", "in/none.csv"):
        copy = client.post("/v1/sql", {"sql": f"COPY t FROM '{place}'"}, headers=as_clerk)
        assert code(copy) == (403, "forbidden")
    copy = client.post("/v1/sql", {"sql": "COPY t FROM 'in/secret.csv'"}, headers=as_boss)
    assert copy.json()["results"][0]["count"] == 1


def test_copy_to_writes_tables_views_and_queries(client: Client, settings: Settings) -> None:
    run(
        client,
        "CREATE TYPE m AS ENUM ('u', 'v'); CREATE TABLE t (a INTEGER, d NUMERIC(5, 2), e m, xs INTEGER[])",
    )
    run(client, "INSERT INTO t VALUES (1, 1.50, 'v', '{1,2}'), (2, NULL, 'u', NULL)")
    (first,) = run(client, "COPY t TO 'out/t' (FORMAT parquet)")
    assert (first["statement"], first["count"]) == ("COPY", 2)
    query = "SELECT a * 10 AS ten, e, xs, d FROM t WHERE e > 'u'::m"
    assert run(client, f"COPY ({query}) TO 'out/q.parquet'")[0]["count"] == 1
    table = pyarrow.parquet.read_table(settings.data / "out" / "q.parquet")
    assert table.to_pylist() == [{"ten": 10, "e": "v", "xs": [1, 2], "d": Decimal("1.50")}]
    assert refused(client, f"COPY ({query}) TO 'out/q.parquet'")[:2] == (409, "path_exists")
    assert run(client, "COPY (SELECT 1 AS x WHERE false) TO 'out/q.parquet' (OVERWRITE)")[0]["count"] == 0
    assert pyarrow.parquet.read_table(settings.data / "out" / "q.parquet").num_rows == 0
    assert refused(client, "COPY t TO '../out' (FORMAT parquet)")[:2] == (422, "path_not_allowed")
    assert refused(client, "COPY (DELETE FROM t) TO 'out/d' (FORMAT parquet)")[0] in (400, 422)


def test_copy_over_the_wire_goes_to_places_too(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path / "data")
    with PostgresDoor(settings) as door, door.connect() as own:
        own.execute("CREATE TABLE t (a INTEGER)")
        own.execute("INSERT INTO t VALUES (1), (2)")
        assert own.execute("COPY t TO 'out' (FORMAT parquet)").statusmessage == "COPY 2"
        assert own.execute("COPY t FROM 'out' (FORMAT parquet)").statusmessage == "COPY 2"
        assert own.execute("SELECT count(*) FROM t").fetchone() == (4,)
        assert own.execute("SHOW SINKS").fetchall() == []


# Sinks


def test_a_sink_is_made_shown_and_dropped(settings: Settings) -> None:
    with Client(settings) as client:
        run(client, "CREATE TABLE t (a INTEGER); CREATE VIEW v AS SELECT a FROM t; INSERT INTO t VALUES (1)")
        sink = "SINK IF NOT EXISTS k FROM v WITH (connector = 'fs', fs.path = 'out', interval_seconds = 0.01)"
        for _ in range(2):
            assert run(client, f"CREATE {sink} FORMAT PLAIN ENCODE PARQUET")[0]["statement"] == "CREATE SINK"
        wait_until(lambda: client.get("/v1/sinks/k").json()["rows"] == 1)
        assert refused(client, "CREATE SINK k FROM v WITH (connector = 'fs', fs.path = 'o')")[0] == 409
    with Client(settings) as client:
        (shown,) = run(client, "SHOW SINKS")
        path = str(settings.data.resolve() / "out")
        assert shown["rows"] == [["k", "v", "fs", path, "parquet", "running", None]]
        run(client, "DROP SINK k; DROP SINK IF EXISTS k")
        assert refused(client, "DROP SINK k")[0] == 404
        assert run(client, "SHOW SINKS")[0]["rows"] == []
        assert len(list((settings.data / "out").glob("*.parquet"))) == 1


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("SINK k FROM v WITH (connector = 'kafka', topic = 'x')", "no connector 'kafka'"),
        ("SINK k FROM v WITH (fs.path = 'x')", "no connector ''"),
        ("SINK k FROM v WITH (connector = 'fs', fs.path = 'x', type = 'upsert')", "no option type"),
        ("SINK k FROM v WITH (connector = 'fs')", "path: field required"),
        ("SINK k FROM v WITH (connector = 'fs', fs.path = '/etc')", "not under a directory"),
        ("SINK k AS SELECT 1", "CREATE SINK ... AS is not supported"),
        ("SOURCE s (a INT) WITH (connector = 's3') FORMAT PLAIN ENCODE JSON", "no connector 's3'"),
        (
            "SOURCE s (a INT) WITH (connector = 'posix_fs', posix_fs.root = 'in') FORMAT PLAIN ENCODE CSV",
            "header",
        ),
        (
            "SOURCE s (a INT) WITH (connector = 'posix_fs', posix_fs.root = 'in') FORMAT AVRO ENCODE JSON",
            "AVRO",
        ),
        (
            "SOURCE s (a INT) WITH (connector = 'posix_fs', posix_fs.root = 'in') FORMAT PLAIN ENCODE AVRO",
            "format",
        ),
        (
            "SOURCE s (a INT) WITH (connector = 'posix_fs', posix_fs.root = 'no') FORMAT PLAIN ENCODE JSON",
            "no dir",
        ),
        (
            "SOURCE s WITH (connector = 'posix_fs', posix_fs.root = 'in') FORMAT PLAIN ENCODE JSON",
            "table: field",
        ),
        ("TABLE s (a INT) WITH (connector = 'nats') FORMAT PLAIN ENCODE JSON", "no connector 'nats'"),
        ("SOURCE s (a INT) FORMAT PLAIN ENCODE JSON", "WITH is expected"),
    ],
)
def test_what_cannot_be_connected_is_refused(client: Client, sql: str, told: str) -> None:
    run(client, "CREATE TABLE t (a INTEGER); CREATE VIEW v AS SELECT a FROM t")
    status, _, detail = refused(client, f"CREATE {sql}")
    assert status in (400, 422) and told in detail, detail
    assert client.get("/v1/tables/s").status_code == 404


# Sources


def test_a_source_fills_the_table_that_it_makes(settings: Settings, sessions: Sessions) -> None:
    (settings.data / "in").mkdir(parents=True)
    (settings.data / "in" / "a.csv").write_text("1,sad\n2,ok\n")
    source = """SOURCE s (a INTEGER PRIMARY KEY, feels mood) WITH (
        connector = 'posix_fs', posix_fs.root = 'in', trigger_seconds = 0
    ) FORMAT PLAIN ENCODE CSV (without_header = 'true', delimiter = ',')"""
    with Client(settings, sessions) as client:
        run(client, "CREATE TYPE mood AS ENUM ('sad', 'ok')")
        assert run(client, f"CREATE {source}")[0]["statement"] == "CREATE SOURCE"
        wait_until(lambda: client.rows("s") == [(1, "sad"), (2, "ok")])
        (shown,) = run(client, "SHOW SOURCES")
        assert shown["rows"][0][:3] == ["s", "s", "posix_fs"]
        status, _, detail = refused(client, f"CREATE {source}")
        assert status == 409 and "s already" in detail
        run(client, "DROP SOURCE s")
        assert run(client, "SHOW SOURCES")[0]["rows"] == []
        assert len(client.rows("s")) == 2
