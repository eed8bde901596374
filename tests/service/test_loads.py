"""Loads: every format against DuckDB's reading of the same files, and all the ways a load can fail."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import duckdb
import pytest
from pyspark.sql import SparkSession

from engine.spark.sessions import Sessions
from service.settings.settings import Settings
from tests.service.client import Client, code
from tests.service.jobs import COLUMNS, done, expected, failed, values

COPIES = {
    "parquet": "COPY rows TO '{}' (FORMAT parquet)",
    "csv": "COPY rows TO '{}' (FORMAT csv, HEADER)",
    "json": "COPY rows TO '{}' (FORMAT json)",
}


@pytest.mark.parametrize("format", COPIES)
def test_every_type_as_duckdb_writes_it(
    bulk: Client, data: Path, duck: duckdb.DuckDBPyConnection, format: str
) -> None:
    duck.execute(COPIES[format].format(data / "rows"))
    bulk.table("t", COLUMNS, key=["id"])
    job = done(bulk, "loads", table="t", format=format, path="rows")
    assert (job["rows"], job["skipped"], job["epoch"]) == (100, 0, 1)
    assert values(bulk, "/v1/tables/t/rows") == expected(duck)


def test_orc_as_spark_writes_it(
    bulk: Client, data: Path, duck: duckdb.DuckDBPyConnection, spark: SparkSession
) -> None:
    duck.execute(COPIES["parquet"].format(data / "rows.parquet"))
    spark.read.parquet(f"file://{data}/rows.parquet").write.orc(f"file://{data}/rows.orc")
    bulk.table("t", COLUMNS, key=["id"])
    done(bulk, "loads", table="t", format="orc", path="rows.orc")
    assert values(bulk, "/v1/tables/t/rows") == expected(duck)


def test_text_is_lines(bulk: Client, data: Path) -> None:
    (data / "lines").write_text("one\n\n two, \n")
    bulk.table("t", {"line": "TEXT", "more": "BIGINT"})
    done(bulk, "loads", table="t", format="text", path="lines", columns={"value": "line"})
    assert sorted(bulk.rows("t")) == [("", None), (" two, ", None), ("one", None)]


def test_jdbc(settings: Settings, sessions: Sessions, spark: SparkSession) -> None:
    url = "jdbc:derby:memory:shop"
    spark._jvm.java.lang.System.setProperty("derby.stream.error.file", str(settings.data) + ".log")
    spark.sql("SELECT 7L AS id, 'a' AS name, 1.50BD AS price").write.jdbc(f"{url};create=true", "items")
    with Client(replace(settings, load_roots=f"/nowhere:{url}"), sessions) as bulk:
        bulk.table("t", {"id": "BIGINT", "name": "TEXT", "price": "NUMERIC(10, 2)"})
        done(bulk, "loads", table="t", format="jdbc", options={"url": url, "dbtable": "items"})
        secret = {
            "url": url,
            "query": 'SELECT "id" + 1 AS "id" FROM APP.items',
            "user": "me",
            "password": "secret",
        }
        job = done(bulk, "loads", table="t", format="jdbc", options=secret)
        assert bulk.rows("t") == [(7, "a", "1.50"), (8, None, None)]
        assert job["options"]["password"] == "***"
        assert b"secret" not in settings.data.joinpath("freshet.db-wal").read_bytes()
        for address in (
            "jdbc:derby:/etc/shop",
            f"{url};create=true",
            f"{url}/../../x",
            "jdbc:postgresql://h/d",
        ):
            answer = bulk.post(
                "/v1/loads", {"table": "t", "format": "jdbc", "options": {"url": address, "dbtable": "items"}}
            )
            assert code(answer) == (422, "path_not_allowed"), address


def test_directories_of_a_day_are_a_column(bulk: Client, data: Path) -> None:
    for day in ("2024-01-01", "2024-01-02"):
        (data / "days" / f"day={day}").mkdir(parents=True)
        (data / "days" / f"day={day}" / "part.csv").write_text(f"id\n{day[-1]}\n")
    (data / "days" / "_SUCCESS").touch()
    (data / "days" / ".hidden.csv").write_text("what\nx\n")
    bulk.table("t", {"id": "BIGINT", "day": "DATE"})
    done(bulk, "loads", table="t", format="csv", path="days")
    assert bulk.rows("t") == [(1, "2024-01-01"), (2, "2024-01-02")]
    done(bulk, "loads", table="t", format="csv", path="days/*2/*.csv")
    done(bulk, "loads", table="t", format="csv", path=str(data / "days/**/part.[a-c]sv"))
    assert bulk.rows("t") == [(1, "2024-01-01")] * 2 + [(2, "2024-01-02")] * 3


def test_names_that_spark_would_expand(bulk: Client, data: Path) -> None:
    (data / "x{a,b}").mkdir()
    (data / "x{a,b}" / "a b%20[1]^.csv").write_text("id\n1\n")
    bulk.table("t", {"id": "BIGINT"})
    done(bulk, "loads", table="t", format="csv", path="x{a,b}")
    assert bulk.rows("t") == [(1,)]


def test_csv_without_a_header_and_with_other_names(bulk: Client, data: Path) -> None:
    (data / "bare.csv").write_text("1;x\n2;-\n")
    (data / "named.csv").write_text('ID,The "name"\n3,z\n')
    bulk.table("t", {"id": "BIGINT", "name": "TEXT", "more": "DATE"})
    options = {"header": False, "sep": ";", "NULLVALUE": "-"}
    done(bulk, "loads", table="t", format="csv", path="bare.csv", options=options)
    done(bulk, "loads", table="t", format="csv", path="named.csv", columns={'The "name"': "name"})
    assert bulk.rows("t") == [(1, "x", None), (2, None, None), (3, "z", None)]


def test_json_structures_are_text(bulk: Client, data: Path) -> None:
    (data / "a.json").write_text(
        '{"id": 1, "doc": {"x": 1.50, "y": [1, null]}}\n{"doc": "s", "id": 2}\n{"id": 3}\n'
    )
    bulk.table("t", {"id": "BIGINT", "doc": "TEXT"})
    done(bulk, "loads", table="t", format="json", path="a.json")
    assert bulk.rows("t") == [(1, '{"x": 1.50, "y": [1, null]}'), (2, "s"), (3, None)]


BAD = {
    "SMALLINT": (["32767", " -32768 ", "7"], ["32768", "1.5", "", "x", "1e2", "0x1"]),
    "INTEGER": (["2147483647", "517.0", "-517."], ["2147483648", "2 3", "517.01", ".0"]),
    "BIGINT": (["-9223372036854775807"], ["-9223372036854775808", "9223372036854775808"]),
    "NUMERIC(5, 2)": (
        ["999.99", "-1", "1.500", ".5", "2.", "12e1", "+1.25E-0", " 7 "],
        ["1000", "0.005", "1.001", "1e-3", "1e3", "NaN", ".", "1.0000000000000000001", "1_0"],
    ),
    "DOUBLE PRECISION": (["1e300", "-.5", "nan", "-inf", "Infinity"], ["1e999", "1d", "0x1p3", "x", "1,5"]),
    "REAL": (["1e38", "0.1"], ["1e39", "1f"]),
    "BOOLEAN": (["true", "F", "1", "no"], ["2", "truth"]),
    "DATE": (["2024-02-29", "0001-01-01"], ["2023-02-29", "2024-01-01 x", "2024-01", "2024-01-01T00:00:00"]),
    "TIMESTAMP": (
        ["2024-01-01", "2024-01-01 10:11", "2024-01-01T10:11:12.1234560", "2024-01-01T10:11:12Z"],
        ["2024-01-01 24:01:00", "2024-01-01 10:00:00.1234567", "2024-01-01T10:00:00+02:00", "now"],
    ),
    "TIME": (["10:11", "23:59:59.1234560", " 00:00:00 "], ["24:00:00", "10", "10:11:12.1234567", "10:11Z"]),
    "TIMESTAMPTZ": (
        ["2024-01-01T10:00:00+02:00", "2024-01-01 10:11", "2024-01-01", "2024-01-01T10:11:12.123456Z"],
        ["2024-01-01 10:00:00 Europe/Berlin", "10:00", "2024-01-01 10:00:00.1234567+02:00"],
    ),
    "INTERVAL": (["P1Y2M3DT4H5M6.5S", "-PT1S", "P1W"], ["1 day", "P", "PT", "PT0.1234567S", "P99999999999D"]),
    "BYTEA": (["YWI=", ""], ["*", "Y"]),
    "UUID": (
        ["F47AC10B-58cc-4372-a567-0e02b2c3d479"],
        ["f47ac10b58cc4372a5670e02b2c3d479x", "f47ac10b", "g47ac10b-58cc-4372-a567-0e02b2c3d479"],
    ),
    "JSON": (["[1, 2.5]", "5", "null", "{}"], ["{", "x", ""]),
    "ENUM('sad', 'happy')": (["sad", "happy"], ["Sad", "", "sad "]),
    "INTEGER[]": (["[1, null]", "[]"], ["{1}", "5", "1,2"]),
}


def test_what_text_is_a_value(bulk: Client, data: Path) -> None:
    """A column for each type, and a row for each text, which fills one column."""
    bulk.table("t", {"id": "TEXT", **{f"c{i}": type for i, type in enumerate(BAD)}})
    good, bad, lines = [], [], []
    for i, (type, (fit, misfit)) in enumerate(BAD.items()):
        for text in fit + misfit:
            (good if text in fit else bad).append(f"{type} {text}")
            lines.append(f'"{type} {text}"{"," * (i + 1)}"{text}"{"," * (len(BAD) - i - 1)}')
    header = ",".join(["id", *(f"c{i}" for i in range(len(BAD)))])
    (data / "a.csv").write_text("\n".join([header, *lines]) + "\n")
    job = done(bulk, "loads", table="t", format="csv", path="a.csv", bad_rows="skip")
    assert sorted(id for id, *_ in bulk.rows("t")) == sorted(good)
    assert (job["rows"], job["skipped"]) == (len(good), len(bad))


CASTS = [
    ("BIGINT", "DOUBLE", ["1", "-9007199254740993"], ["1.5", "9223372036854775808", "'nan'", "1e300"]),
    ("SMALLINT", "BIGINT", ["32767"], ["32768", "-9223372036854775808"]),
    ("BIGINT", "BIGINT", ["-9223372036854775807"], ["-9223372036854775808"]),
    ("INTEGER", "DECIMAL(38, 2)", ["7.00"], ["7.01", "2147483648", "99999999999999999999"]),
    ("NUMERIC(5, 2)", "DECIMAL(38, 10)", ["1.25", "-999.99"], ["1.255", "1000", "999.995"]),
    ("NUMERIC(12, 3)", "DECIMAL(5, 4)", ["1.2500"], ["9.9999", "0.0001"]),
    ("NUMERIC(5, 2)", "DOUBLE", ["0.1", "2.675e2"], ["0.125", "1e3", "'inf'", "'nan'"]),
    ("NUMERIC(5, 2)", "INTEGER", ["999"], ["1000"]),
    ("NUMERIC(38, 0)", "BIGINT", ["999999999999999999", "1000000000000000000"], []),
    ("REAL", "DOUBLE", ["0.1", "'inf'", "'nan'"], ["1e39"]),
    ("DATE", "TIMESTAMP", ["'2024-01-01'"], ["'2024-01-01 00:00:00.000001'"]),
    ("DATE", "TIMESTAMPTZ", ["'2024-01-01 00:00:00+00'"], ["'2024-01-01 00:00:00+02'"]),
    ("TIMESTAMP", "TIMESTAMPTZ", ["'2024-01-01 00:00:00+02'"], []),
    ("TIMESTAMP", "DATE", ["'2024-01-01'"], []),
    ("TEXT", "BLOB", [r"'\xC3\xA9'"], [r"'\xFF'"]),
    ("TEXT", "INTEGER[]", ["[1, NULL, 2]"], []),
    ("TEXT", "DATE", ["'2024-01-01'"], []),
    ("TIMESTAMPTZ", "TIMESTAMPTZ", ["'2024-01-01 00:00:00+02'"], []),
    ("TIMESTAMPTZ", "TIMESTAMP", ["'2024-01-01 00:00:00'"], []),
    ("BYTEA", "BLOB", [r"'\xFF'"], []),
    ("JSON", "STRUCT(a INTEGER, b VARCHAR[])", ["{'a': 1, 'b': ['x']}"], []),
    ("JSON", "INTEGER", ["5"], []),
    ("SMALLINT[]", "BIGINT[]", ["[1, NULL]", "[]"], ["[40000]"]),
    ("UUID[][]", "VARCHAR[][]", ["[['f47ac10b-58cc-4372-a567-0e02b2c3d479', NULL], NULL]"], ["[['x']]"]),
]


def test_which_typed_values_fit(bulk: Client, data: Path, duck: duckdb.DuckDBPyConnection) -> None:
    """A column for each pair of types, and a row for each value, which fills one column."""
    bulk.table("t", {"id": "TEXT", **{f"c{i}": type for i, (type, *_) in enumerate(CASTS)}})
    fitting, queries = [], []
    for i, (type, source, good, bad) in enumerate(CASTS):
        for value in good + bad:
            id = f"{type} of {source} {value}"
            fitting += [id] if value in good else []
            queries.append(f"SELECT '{id.replace(chr(39), chr(34))}' AS id, ({value})::{source} AS c{i}")
    duck.execute(f"COPY ({' UNION ALL BY NAME '.join(queries)}) TO '{data}/a.parquet' (FORMAT parquet)")
    job = done(bulk, "loads", table="t", format="parquet", path="a.parquet", bad_rows="skip")
    assert sorted(id for id, *_ in bulk.rows("t")) == sorted(id.replace("'", '"') for id in fitting)
    assert job["skipped"] == len(queries) - len(fitting)


def test_bad_rows_fail_a_load_or_are_counted(bulk: Client, data: Path) -> None:
    lines = ["1,a", "x,b", "3", "4,d,e", ",f", "6,"]
    (data / "a.csv").write_text("id,name\n" + "\n".join(lines) + "\n")
    bulk.post("/v1/tables", {"sql": "CREATE TABLE t (id BIGINT NOT NULL, name TEXT)"})
    problem = failed(bulk, "loads", table="t", format="csv", path="a.csv")
    assert (problem["status"], problem["code"]) == (422, "bad_rows")
    assert problem["detail"] == (
        "4 bad rows: column id: x is not a valid BIGINT; not a record: 3; not a record: 4,d,e; "
        "column id: NULL in a column that is NOT NULL"
    )
    assert bulk.get("/v1/status").json()["epoch"] == 0
    job = done(bulk, "loads", table="t", format="csv", path="a.csv", bad_rows="skip")
    assert (job["rows"], job["skipped"], job["epoch"]) == (2, 4, 1)
    assert bulk.rows("t") == [(1, "a"), (6, None)]


@pytest.mark.parametrize("spark_", ["auto", "never"])
def test_many_rows_that_this_process_judges(
    settings: Settings, sessions: Sessions, data: Path, spark_: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They come part by part, in the order of the file, whatever says that Spark might take them."""
    monkeypatch.setattr("engine.spark.fetched_rows._SPLIT_BYTES", 500)
    lines = [f"{number},{number * 1.5:.1f}" for number in range(400)]
    (data / "good.csv").write_text("id,price\n" + "\n".join(lines) + "\n")
    lines[350], lines[17], lines[170] = "350,-1", "x,1", "170"
    (data / "bad.csv").write_text("id,price\n" + "\n".join(lines) + "\n")
    there = replace(settings, local_load_bytes=0, spark_rows=10, spark=spark_)
    with Client(there, sessions) as bulk:
        columns = "id BIGINT PRIMARY KEY, price NUMERIC(9, 1) CHECK (price >= 0), kind TEXT DEFAULT 'a'"
        bulk.post("/v1/tables", {"sql": f"CREATE TABLE t ({columns})"})
        problem = failed(bulk, "loads", table="t", format="csv", path="bad.csv")
        assert problem["detail"].startswith(
            "2 bad rows: column id: x is not a valid BIGINT; not a record: 170"
        )
        assert bulk.get("/v1/status").json()["epoch"] == 0
        job = done(bulk, "loads", table="t", format="csv", path="bad.csv", bad_rows="skip")
        assert (job["rows"], job["skipped"], job["epoch"]) == (397, 3, 1)
        assert failed(bulk, "loads", table="t", format="csv", path="good.csv")["code"] == "key_exists"
        rows = sorted(bulk.rows("t"))
        assert len(rows) == 397 and rows[16:18] == [(16, "24.0", "a"), (18, "27.0", "a")]


def test_lines_that_are_no_json_are_bad_rows(bulk: Client, data: Path) -> None:
    (data / "a.json").write_text('{"id": 1}\n{"id": \n[2]\n')
    bulk.table("t", {"id": "BIGINT"})
    assert failed(bulk, "loads", table="t", format="json", path="a.json")["code"] == "bad_rows"
    job = done(bulk, "loads", table="t", format="json", path="a.json", bad_rows="skip")
    assert (job["rows"], job["skipped"]) == (1, 2)


SCHEMAS = [
    ({}, "unknown_column", "b, c"),
    ({"columns": {"b": "x"}}, "unknown_column", "c"),
    ({"columns": {"c": "a"}}, "duplicate_column", "a"),
    ({"columns": {"z": "x"}}, "unknown_column", "z"),
    ({"unknown_columns": "ignore", "columns": {"b": "nothing"}}, "unknown_column", "b"),
    ({"unknown_columns": "ignore"}, "missing_column", "x"),
]


@pytest.mark.parametrize(("request_", "code", "named"), SCHEMAS)
def test_columns_that_do_not_fit(bulk: Client, data: Path, request_: dict, code: str, named: str) -> None:
    (data / "a.csv").write_text("a,b,c\n1,2,3\n")
    bulk.post("/v1/tables", {"sql": "CREATE TABLE t (a BIGINT, x BIGINT NOT NULL)"})
    problem = failed(bulk, "loads", table="t", format="csv", path="a.csv", **request_)
    assert (problem["status"], problem["code"]) == (422, code)
    assert named in problem["detail"]


def test_a_type_that_never_fits(bulk: Client, data: Path, duck: duckdb.DuckDBPyConnection) -> None:
    duck.execute(f"COPY (SELECT DATE '2024-01-01' AS a) TO '{data}/a.parquet' (FORMAT parquet)")
    bulk.table("t", {"a": "BIGINT"})
    assert failed(bulk, "loads", table="t", format="parquet", path="a.parquet")["code"] == "type_mismatch"


def test_a_file_that_is_something_else(bulk: Client, data: Path) -> None:
    (data / "a.parquet").write_text("this is no parquet file")
    bulk.table("t", {"a": "BIGINT"})
    problem = failed(bulk, "loads", table="t", format="parquet", path="a.parquet")
    assert (problem["status"], problem["code"]) == (422, "spark_failed")
    assert "parquet" in problem["detail"].lower()
    assert "\tat " not in problem["detail"]


def test_a_key_that_is_there(bulk: Client, data: Path) -> None:
    (data / "a.csv").write_text("id,name\n1,a\n2,b\n")
    (data / "twice.csv").write_text("id,name\n3,a\n3,a\n")
    bulk.table("t", {"id": "BIGINT", "name": "TEXT"}, key=["name", "id"])
    bulk.insert("t", {"id": 2, "name": "b"})
    for path, named in (("a.csv", "name = b, id = 2"), ("twice.csv", "name = a, id = 3")):
        problem = failed(bulk, "loads", table="t", format="csv", path=path)
        assert (problem["status"], problem["code"]) == (409, "key_exists")
        assert named in problem["detail"]
    assert bulk.rows("t") == [(2, "b")]


def test_paths_outside_the_roots(bulk: Client, data: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a.csv").write_text("a\n1\n")
    (data / "in").mkdir()
    (data / "in" / "link").symlink_to(tmp_path / "out")
    (data / "file").symlink_to(tmp_path / "out" / "a.csv")
    (data / "loop").mkdir()
    (data / "loop" / "again").symlink_to(data / "loop")
    bulk.table("t", {"a": "BIGINT"})
    for path in (
        "../out/a.csv",
        "in/../../out/a.csv",
        str(tmp_path / "out"),
        "in",
        "in/link/a.csv",
        "in/*/a.csv",
        "in/**/../../../out/*",
        "file",
        "fil?",
        "loop",
        f"file://{data}/in",
        f"file:{tmp_path}/out",
        "s3a://bucket/a",
        "hdfs://host:8020/a",
        "freshet.db",
        "freshet*",
        "state",
        ".",
    ):
        answer = bulk.post("/v1/loads", {"table": "t", "format": "csv", "path": path})
        assert code(answer) == (422, "path_not_allowed"), path
    for path in ("nothing", "no*thing", "in/\0"):
        answer = bulk.post("/v1/loads", {"table": "t", "format": "csv", "path": path})
        assert answer.status_code == 422, path


def test_requests_that_are_refused(bulk: Client, data: Path) -> None:
    (data / "a.csv").write_text("a\n1\n")
    bulk.table("t", {"a": "BIGINT"})
    bulk.view("v", "SELECT a FROM t")
    good = {"table": "t", "format": "csv", "path": "a.csv"}
    for change, status, problem in (
        ({"table": "nothing"}, 404, "unknown_name"),
        ({"table": "v"}, 404, "unknown_name"),
        ({"format": "xml"}, 422, "invalid_request"),
        ({"path": None}, 422, "invalid_request"),
        ({"more": 1}, 422, "invalid_request"),
        ({"options": {"path": "/etc"}}, 422, "invalid_option"),
        ({"options": {"MODE": "DROPMALFORMED"}}, 422, "invalid_option"),
        ({"options": {"basePath": "/"}}, 422, "invalid_option"),
        ({"format": "jdbc"}, 422, "invalid_option"),
        (
            {"format": "jdbc", "path": None, "options": {"driver": "x", "url": "jdbc:x"}},
            422,
            "invalid_option",
        ),
    ):
        assert code(bulk.post("/v1/loads", good | change)) == (status, problem), change
    assert bulk.get("/v1/loads").json() == {"loads": []}
    assert code(bulk.get("/v1/loads/nothing")) == (404, "unknown_job")
    assert code(bulk.delete("/v1/loads/nothing")) == (404, "unknown_job")
