"""NaN and the infinities of NUMERIC at every door: JSON, CSV, Arrow, SQL, reads, and a start from the log."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import httpx
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet
import pytest

from service.settings.settings import Settings
from tests.service.client import Client, Process

NDJSON, CSV, ARROW = "application/x-ndjson", "text/csv", "application/vnd.apache.arrow.stream"
PARQUET = "application/vnd.apache.parquet"
SCHEMA = """
CREATE TABLE t (id INTEGER PRIMARY KEY, x NUMERIC(38, 2), n NUMERIC(12, 2));
CREATE VIEW v AS SELECT sum(x) AS s, max(x) AS m, count(*) AS n FROM t;
INSERT INTO t (id, x) VALUES (1, 'NaN'), (2, 'inf'), (3, 7.5), (4, '-Infinity'::numeric)
"""
NAMES = {1: "NaN", 2: "Infinity", 3: "7.50", 4: "-Infinity"}


def levels(client: Client) -> dict[int, str]:
    return {row[0]: row[1] for row in client.rows("t")}


def sql(client: Client, text: str, **options: object) -> httpx.Response:
    return client.post("/v1/sql", {"sql": text, **options})


def test_all_formats_of_texts_give_and_take_them(client: Client) -> None:
    assert sql(client, SCHEMA).status_code == 200
    assert levels(client) == NAMES
    assert client.rows("v") == [("NaN", "NaN", 4)]
    path = "/v1/tables/t/deltas"
    assert client.post(path, [{"insert": {"id": 5, "x": "-Infinity"}}]).status_code == 200
    body = b'{"insert":{"id":6,"x":"NaN"}}\n' * 1 + b'{"insert":{"id":7,"x":"1"}}\n'
    assert client.post(path, content=body, headers={"Content-Type": NDJSON}).status_code == 200
    body = b"id,x\n8,nan\n9,+inf\n10,-Infinity\n11,5\n12,\n"
    assert client.post(path, content=body, headers={"Content-Type": CSV}).status_code == 200
    table = pa.table({"id": pa.array([13, 14], pa.int32()), "x": [float("nan"), 2.5]})
    sink = io.BytesIO()
    with pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    sent = client.post(path, content=sink.getvalue(), headers={"Content-Type": ARROW})
    assert sent.status_code == 200, sent.text
    new = {
        5: "-Infinity",
        6: "NaN",
        7: "1.00",
        8: "NaN",
        9: "Infinity",
        10: "-Infinity",
        11: "5.00",
        12: None,
    }
    assert levels(client) == NAMES | new | {13: "NaN", 14: "2.50"}
    written = client.get("/v1/tables/t/rows", accept=NDJSON).text
    assert '{"id":9,"x":"Infinity","n":null}' in written
    assert "10,-Infinity,\r\n" in client.get("/v1/tables/t/rows", accept=CSV).text


@pytest.mark.parametrize("value", ["nan", "inf", "-INFINITY"])
def test_json_has_one_spelling(client: Client, value: str) -> None:
    sql(client, SCHEMA)
    refused = client.post("/v1/tables/t/deltas", [{"insert": {"id": 5, "x": value}}])
    assert refused.status_code == 422 and "they are NaN, Infinity and -Infinity" in refused.text


def test_a_number_of_few_digits_has_none(client: Client) -> None:
    sql(client, SCHEMA)
    refused = client.post("/v1/tables/t/deltas", [{"insert": {"id": 5, "n": "NaN"}}])
    assert refused.status_code == 422 and "a NUMERIC of more than 18 digits has them" in refused.text
    refused = sql(client, "INSERT INTO t VALUES (5, 1, 'NaN')")
    assert refused.status_code == 422, refused.text


def test_sql_of_other_dialects_does_not_take_them(client: Client) -> None:
    sql(client, SCHEMA)
    for dialect in ("duckdb", "mysql", "trino"):
        refused = sql(client, "INSERT INTO t (id, x) VALUES (5, 'NaN')", dialect=dialect)
        assert refused.status_code == 422, (dialect, refused.text)


@pytest.mark.parametrize("format", [ARROW, PARQUET])
def test_formats_with_decimals_refuse_them_by_the_columns_name(client: Client, format: str) -> None:
    sql(client, SCHEMA)
    refused = client.get("/v1/tables/t/rows", accept=format)
    assert refused.status_code == 422 and "column x" in refused.text and "JSON" in refused.text
    assert sql(client, "DELETE FROM t WHERE id <> 3").status_code == 200
    found = client.get("/v1/tables/t/rows", accept=format)
    assert found.status_code == 200 and found.content


def test_reads_by_key_give_them_and_queries_of_their_column_are_refused(client: Client) -> None:
    sql(client, SCHEMA)
    assert sql(client, "SELECT x FROM t WHERE id = 1").json()["results"][0]["rows"] == [["NaN"]]
    assert client.get("/v1/tables/t/rows", where="id = 4").json()["rows"][0]["x"] == "-Infinity"
    assert sql(client, "SELECT id FROM t").status_code == 200
    for text in ("SELECT * FROM t", "SELECT sum(x) FROM t", "DELETE FROM t WHERE x = 1"):
        refused = sql(client, text)
        assert refused.status_code == 422 and "column x" in refused.text, text
    refused = client.get("/v1/tables/t/rows", where="x > 3")
    assert refused.status_code == 422 and "column x" in refused.text


def test_rows_with_them_are_changed_and_deleted(client: Client) -> None:
    sql(client, SCHEMA)
    assert sql(client, "UPDATE t SET n = 1 WHERE id = 1").status_code == 200
    assert sql(client, "UPDATE t SET x = 1 WHERE id = 1").status_code == 200
    assert sql(client, "DELETE FROM t WHERE id = 2").status_code == 200
    assert client.rows("v") == [("-Infinity", "7.50", 3)]
    gone = client.post("/v1/tables/t/deltas", [{"delete": {"id": 4, "x": "-Infinity", "n": None}}])
    assert gone.status_code == 200, gone.text
    assert client.rows("v") == [("8.50", "7.50", 2)]


def test_checks_and_generated_columns_compare_them(client: Client) -> None:
    text = """
    CREATE TABLE c (id INTEGER PRIMARY KEY, x NUMERIC(30, 2) CHECK (x > 0 AND x < 'NaN'),
                    y NUMERIC(30, 2) GENERATED ALWAYS AS (-x) STORED)"""
    assert sql(client, text).status_code == 200
    assert sql(client, "INSERT INTO c (id, x) VALUES (1, 'Infinity')").status_code == 200
    assert sql(client, "INSERT INTO c (id, x) VALUES (2, 'NaN')").status_code == 422
    assert sql(client, "INSERT INTO c (id, x) VALUES (3, '-Infinity')").status_code == 422
    assert client.rows("c") == [(1, "Infinity", "-Infinity")]


def test_functions_that_do_not_know_them_fail_their_rows(client: Client) -> None:
    sql(client, SCHEMA)
    assert sql(client, "CREATE VIEW w AS SELECT id, to_char(x, '999.99') AS a FROM t").status_code == 200
    failed = client.get("/v1/views/w/rows")
    assert failed.status_code == 409 and "of a NUMERIC is no argument of this function here" in failed.text
    sql(client, "DELETE FROM t WHERE id <> 3")
    assert client.rows("w") == [(3, "   7.50")]


def test_they_are_there_after_a_kill(settings: Settings, tmp_path: Path) -> None:
    process = Process(tmp_path, {})
    process.wait_ready()
    assert httpx.post(f"{process.url}/v1/sql", timeout=240, json={"sql": SCHEMA}).status_code == 200
    process.kill()
    with Client(replace(settings, data=tmp_path)) as client:
        assert levels(client) == NAMES
        assert client.rows("v") == [("NaN", "NaN", 4)]
        sql(client, "DELETE FROM t WHERE id = 1 OR id = 4")
        assert client.rows("v") == [("Infinity", "Infinity", 2)]
