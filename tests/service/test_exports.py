"""Exports: every format as DuckDB and Spark read it, modes, epochs, and the state after a failure."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from pyspark.sql import SparkSession

from tests.service.client import Client, code
from tests.service.jobs import COLUMNS, done, expected, failed, ordered, values

VIEW = f"SELECT {', '.join(COLUMNS)} FROM t UNION ALL SELECT {', '.join(COLUMNS)} FROM t WHERE id = 1"
QUERY = "FROM rows UNION ALL FROM rows WHERE id = 1"


@pytest.fixture
def filled(bulk: Client, data: Path, duck: duckdb.DuckDBPyConnection) -> Client:
    """A service with a hundred rows of every type in `t`, and a view `v` with one of them twice."""
    duck.execute(f"COPY rows TO '{data}/rows.parquet' (FORMAT parquet)")
    bulk.table("t", COLUMNS, key=["id"])
    bulk.view("v", VIEW)
    done(bulk, "loads", table="t", format="parquet", path="rows.parquet")
    return bulk


def test_every_format(
    filled: Client, data: Path, duck: duckdb.DuckDBPyConnection, spark: SparkSession
) -> None:
    types = ", ".join(f"'{name}': '{type}'" for name, type in COLUMNS.items())
    as_duckdb_reads = {
        "parquet": "FROM read_parquet('{}/*.parquet')",
        "csv": "FROM read_csv('{}/*.csv', header=true, quote='\"', escape='\"', nullstr='', "
        f"allow_quoted_nulls=false, types={{{{{types}}}}})",
        "json": f"FROM read_json('{{}}/*.json', columns={{{{{types}}}}})",
    }
    for format in (*as_duckdb_reads, "orc"):
        job = done(filled, "exports", view="v", format=format, path=f"out/{format}", as_of=1)
        assert (job["rows"], job["epoch"]) == (101, 1), format
        if format == "orc":
            rows = spark.read.orc(f"file://{data}/out/orc").toArrow().to_pylist()
            found = ordered(tuple(row.values()) for row in rows)
        else:
            found = expected(duck, as_duckdb_reads[format].format(data / "out" / format))
        assert found == expected(duck, QUERY), format
        filled.table(f"again_{format}", COLUMNS)
        done(filled, "loads", table=f"again_{format}", format=format, path=f"out/{format}")
        assert values(filled, f"/v1/tables/again_{format}/rows") == expected(duck, QUERY), format


def read(data: Path, name: str) -> list[tuple]:
    return sorted(duckdb.sql(f"FROM read_parquet('{data}/{name}/*.parquet')").fetchall())


def beside(data: Path) -> set[str]:
    """The entries of the directory, without the service's own."""
    return (
        {path.name for path in data.iterdir()}
        - {"state", "lock", "spark", "queries"}
        - {path.name for path in data.glob("freshet.db*")}
    )


def test_modes_and_epochs(bulk: Client, data: Path) -> None:
    bulk.table("t", {"a": "BIGINT"})
    for value in (1, 2, 3):
        bulk.insert("t", {"a": value})
    done(bulk, "exports", table="t", format="parquet", path="out", as_of=1)
    assert read(data, "out") == [(1,)]
    request = {"table": "t", "format": "parquet", "path": "out"}
    assert code(bulk.post("/v1/exports", request)) == (409, "path_exists")
    done(bulk, "exports", **request, as_of=2, mode="append")
    assert read(data, "out") == [(1,), (1,), (2,)]
    done(bulk, "exports", **request, mode="overwrite")
    assert read(data, "out") == [(1,), (2,), (3,)]
    now = bulk.get("/v1/exports").json()["exports"][0]["created"]
    done(bulk, "exports", table="t", format="parquet", path="empty", as_of=0)
    assert read(data, "empty") == []
    done(bulk, "exports", **request, as_of=now, mode="overwrite")
    assert read(data, "out") == [(1,), (2,), (3,)]
    assert beside(data) == {"out", "empty"}


def test_an_export_that_fails_leaves_the_directory(bulk: Client, data: Path) -> None:
    bulk.table("t", {"a": "BIGINT"})
    bulk.insert("t", {"a": 1})
    done(bulk, "exports", table="t", format="parquet", path="out")
    request = {"table": "t", "format": "parquet", "path": "out", "mode": "overwrite"}
    problem = failed(bulk, "exports", **request, options={"compression": "nonsense"})
    assert (problem["status"], problem["code"]) == (422, "spark_failed")
    assert read(data, "out") == [(1,)]
    assert beside(data) == {"out"}
    assert not list((data / "state" / "scratch").iterdir())


def test_requests_that_are_refused(bulk: Client, data: Path, tmp_path: Path) -> None:
    bulk.table("t", {"a": "BIGINT"})
    bulk.view("v", "SELECT a FROM t")
    (data / "mine").mkdir()
    (data / "mine" / "precious").touch()
    (data / "link").symlink_to(tmp_path)
    good = {"view": "v", "format": "csv", "path": "out"}
    for change, status, problem in (
        ({"view": "t"}, 404, "unknown_name"),
        ({"table": "t"}, 422, "invalid_request"),
        ({"view": None}, 422, "invalid_request"),
        ({"as_of": 1}, 422, "epoch_not_reached"),
        ({"as_of": "soon"}, 400, "invalid_as_of"),
        ({"format": "text"}, 422, "invalid_request"),
        ({"mode": "ignore"}, 422, "invalid_request"),
        ({"options": {"path": "/x"}}, 422, "invalid_option"),
        ({"path": "."}, 422, "path_not_allowed"),
        ({"path": ".."}, 422, "path_not_allowed"),
        ({"path": "../x"}, 422, "path_not_allowed"),
        ({"path": "link/x"}, 422, "path_not_allowed"),
        ({"path": "state/x"}, 422, "path_not_allowed"),
        ({"path": "freshet.db"}, 422, "path_not_allowed"),
        ({"path": "s3a://bucket/x"}, 422, "path_not_allowed"),
        ({"path": f"file://{data}/x"}, 422, "path_not_allowed"),
        ({"path": "mine", "mode": "overwrite"}, 409, "path_exists"),
        ({"path": "mine", "mode": "append"}, 409, "path_exists"),
        ({"path": "mine/precious", "mode": "overwrite"}, 409, "path_exists"),
    ):
        assert code(bulk.post("/v1/exports", good | change)) == (status, problem), change
    assert bulk.get("/v1/exports").json() == {"exports": []}
    assert code(bulk.get("/v1/exports/nothing")) == (404, "unknown_job")


def test_a_view_with_errors_is_not_exported(bulk: Client, data: Path) -> None:
    bulk.table("t", {"a": "BIGINT"})
    bulk.view("v", "SELECT CAST(a AS SMALLINT) AS b FROM t")
    bulk.insert("t", {"a": 100_000})
    answer = bulk.post("/v1/exports", {"view": "v", "format": "csv", "path": "out"})
    assert code(answer) == (409, "view_has_errors")


TYPES = {
    "id": "INTEGER",
    "clock": "TIME",
    "ts": "TIMESTAMPTZ",
    "span": "INTERVAL",
    "data": "BYTEA",
    "tag": "UUID",
    "doc": "JSON",
    "mood": "ENUM('sad', 'ok')",
    "xs": "INTEGER[]",
    "spans": "INTERVAL[]",
}
WIDE = {
    "id": 1,
    "clock": "10:30:00.000005",
    "ts": "2024-03-31T00:30:00Z",
    "span": "P1M2DT3.5S",
    "data": "YWL/",
    "tag": "00000000-0000-0000-0000-000000000007",
    "doc": {"b": [1, 2.5, None], "a": "x"},
    "mood": "ok",
    "xs": [1, None, 3],
    "spans": ["PT1S", None],
}


@pytest.mark.parametrize("format", ["parquet", "json"])
def test_types_that_spark_has_not(bulk: Client, format: str) -> None:
    bulk.table("wide", TYPES, key=["id"])
    bulk.view("all_of_it", "SELECT * FROM wide")
    bulk.insert("wide", WIDE, {"id": 2})
    done(bulk, "exports", view="all_of_it", format=format, path=f"out/{format}")
    bulk.table("again", TYPES)
    done(bulk, "loads", table="again", format=format, path=f"out/{format}")
    assert sorted(bulk.rows("again")) == [tuple(WIDE.values()), (2, *[None] * (len(TYPES) - 1))]


COLUMN = ["a", None, "", " ", '"', "a, b", "two\nlines", "\\N", None]
"""Texts of a column, the last one NULL."""


def column(client: Client, name: str) -> list[str]:
    return sorted(map(repr, (value for (value,) in client.rows(name))))


def numbered(client: Client) -> None:
    """A view `v` of one column, with the rows of `COLUMN`."""
    client.table("t", {"id": "BIGINT", "s": "TEXT"})
    client.insert("t", *({"id": id, "s": text} for id, text in enumerate(COLUMN)))
    client.view("v", "SELECT s FROM t")


@pytest.mark.parametrize("options", [{}, {"header": False}, {"compression": "gzip"}])
def test_a_column_alone_keeps_its_nulls(client: Client, data: Path, options: dict) -> None:
    """A NULL is a blank line, as PostgreSQL and DuckDB write and read it."""
    numbered(client)
    job = done(client, "exports", view="v", format="csv", path="out", options=options)
    assert job["rows"] == len(COLUMN)
    client.table("again", {"s": "TEXT"})
    reading = {"multiLine": True, **{name: v for name, v in options.items() if name == "header"}}
    assert done(client, "loads", table="again", format="csv", path="out", options=reading)["rows"] == 9
    assert column(client, "again") == column(client, "v")
    if not options:
        how = "header=true, columns={s: 'VARCHAR'}, delim=',', quote='\"', allow_quoted_nulls=false"
        read = duckdb.sql(f"SELECT s FROM read_csv('{data}/out/*.csv', {how})").fetchall()
        assert sorted(repr(value) for (value,) in read) == column(client, "v")


def test_numbers_of_a_column_alone(client: Client, data: Path) -> None:
    client.table("n", {"n": "INTEGER"})
    client.insert("n", {"n": None}, {"n": 1}, {"n": None})
    done(client, "exports", table="n", format="csv", path="out")
    assert next((data / "out").glob("part-*")).read_bytes() == b"n\r\n\r\n\r\n1\r\n"
    client.table("again", {"n": "INTEGER"})
    done(client, "loads", table="again", format="csv", path="out")
    assert column(client, "again") == ["1", "None", "None"]


def test_nulls_that_spark_would_leave_out_are_refused(bulk: Client, data: Path) -> None:
    numbered(bulk)
    request = {"view": "v", "format": "csv"}
    problem = failed(bulk, "exports", **request, path="out", options={"sep": ";"})
    assert (problem["code"], "NULL" in problem["detail"]) == ("invalid_option", True)
    done(bulk, "exports", **request, path="out", options={"sep": ";", "nullValue": "-", "quoteAll": True})
    bulk.table("again", {"s": "TEXT"})
    how = {"sep": ";", "nullValue": "-", "multiLine": True}
    done(bulk, "loads", table="again", format="csv", path="out", options=how)
    assert column(bulk, "again") == column(bulk, "v")
    (data / "blank.csv").write_text("s\na\n\nb\n")
    options = {"comment": "#"}
    problem = failed(bulk, "loads", table="again", format="csv", path="blank.csv", options=options)
    assert (problem["code"], "blank line" in problem["detail"]) == ("invalid_option", True)
