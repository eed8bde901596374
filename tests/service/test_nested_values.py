"""Structs and maps at every door: what goes in comes out, in each format and after a restart."""

from __future__ import annotations

import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from service.settings.settings import Settings
from tests.service.client import Client

TABLE = (
    "CREATE TABLE {name} (id BIGINT PRIMARY KEY, s STRUCT(a INTEGER, b TEXT), m MAP(TEXT, NUMERIC(20, 2)), "
    "n MAP(INTEGER, DATE), l STRUCT(x INTERVAL, y BYTEA)[], big NUMERIC(38, 0)[], "
    "r STRUCT(t TIMESTAMPTZ, u UUID))"
)
ROWS: list[dict[str, object]] = [
    {
        "id": 1,
        "s": {"a": 1, "b": 'x "y", (z)'},
        "m": {"k": "1.50", "": None},
        "n": [[2, "2026-01-02"], [1, None]],
        "l": [{"x": "P1D", "y": "YWI="}, None, {"x": None, "y": None}],
        "big": ["9" * 38, "-" + "9" * 38, None, "1"],
        "r": {"t": "2026-01-01T00:00:00Z", "u": "00000000-0000-0000-0000-000000000001"},
    },
    {"id": 2, "s": {"a": None, "b": ""}, "m": {}, "n": [], "l": [], "big": [], "r": {"t": None, "u": None}},
    {"id": 3, "s": None, "m": None, "n": None, "l": None, "big": None, "r": None},
]


def sql(client: Client, text: str, **more: object) -> dict:
    answer = client.post("/v1/sql", {"sql": text, "dialect": "duckdb", **more})
    assert answer.status_code == 200, answer.text
    return answer.json()


def selected(client: Client, text: str, **more: object) -> list:
    return sql(client, text, **more)["results"][-1]["rows"]


def read(client: Client, name: str) -> list[dict]:
    answer = client.get(f"/v1/tables/{name}/rows")
    assert answer.status_code == 200, answer.text
    return sorted(answer.json()["rows"], key=lambda row: row["id"])


@pytest.fixture
def filled(client: Client) -> Client:
    sql(client, TABLE.format(name="t"))
    client.change("t", *({"insert": row} for row in ROWS))
    return client


def test_what_goes_in_comes_out(filled: Client) -> None:
    assert read(filled, "t") == ROWS


@pytest.mark.parametrize("form", ["text/csv", "application/vnd.apache.arrow.stream"])
def test_each_format_is_read_back(filled: Client, form: str) -> None:
    sql(filled, TABLE.format(name="back"))
    body = filled.get("/v1/tables/t/rows", accept=form)
    assert body.status_code == 200, body.text
    data = body.content
    answer = filled.post("/v1/tables/back/deltas", content=data, headers={"Content-Type": form})
    assert answer.status_code == 200, answer.text
    assert read(filled, "back") == ROWS


def test_parquet(filled: Client) -> None:
    sql(filled, TABLE.format(name="back"))
    data = filled.get("/v1/tables/t/rows", accept="application/vnd.apache.arrow.stream").content
    table = pa.ipc.open_stream(data).read_all()
    lists = table.column("l").combine_chunks()
    written = table.set_column(4, "l", pa.array([None] * len(lists), pa.string()))
    held = io.BytesIO()
    pq.write_table(written, held)
    form = {"Content-Type": "application/vnd.apache.parquet"}
    answer = filled.post("/v1/tables/back/deltas", content=held.getvalue(), headers=form)
    assert answer.status_code == 200, answer.text
    assert read(filled, "back") == [{**row, "l": None} for row in ROWS]


@pytest.mark.parametrize(
    ("column", "value", "why"),
    [
        ("s", {"a": 1, "c": 2}, "there is no field c"),
        ("s", [1, "x"], "is not a valid STRUCT"),
        ("s", {"a": "1"}, "is not a valid INTEGER"),
        ("s", 7, "is not a valid STRUCT"),
        ("m", {"k": "x"}, "is not a valid NUMERIC"),
        ("m", [["k", 1], ["k", 2]], "a key twice"),
        ("n", {"x": None}, "is not a valid INTEGER"),
        ("n", [[None, None]], "cannot be NULL"),
        ("n", [[1]], "is not a valid MAP"),
        ("l", [{"x": "P1D", "y": 1}], "is not a valid BYTEA"),
        ("big", ["1" + "0" * 38], "out of range"),
    ],
)
def test_what_does_not_fit_is_refused(filled: Client, column: str, value: object, why: str) -> None:
    answer = filled.deltas("t", {"insert": {"id": 9, column: value}})
    assert answer.status_code in (400, 422), answer.text
    assert why in answer.json()["detail"]


def test_questions_outside_of_views(filled: Client) -> None:
    assert selected(filled, "SELECT s, m, n, l, big, r FROM t ORDER BY id") == [
        [row[name] for name in ("s", "m", "n", "l", "big", "r")] for row in ROWS
    ]
    assert selected(
        filled, "SELECT s.a, m['k'], l[1].x, r.u, map_keys(n) FROM t WHERE s = {'a': 1, 'b': s.b}"
    ) == [[1, "1.50", "P1D", "00000000-0000-0000-0000-000000000001", [2, 1]]]
    result = sql(filled, "SELECT {'x': id, 'j': to_json(s)} AS o, row(id, 'y') AS r FROM t WHERE id = 1")[
        "results"
    ][0]
    assert result["columns"] == [
        {"name": "o", "type": "STRUCT(x BIGINT, j JSON)"},
        {"name": "r", "type": "STRUCT(f1 BIGINT, f2 TEXT)"},
    ]
    assert result["rows"] == [[{"x": 1, "j": ROWS[0]["s"]}, {"f1": 1, "f2": "y"}]]


def test_rows_are_found_and_watched(filled: Client) -> None:
    sql(filled, "CREATE VIEW v AS SELECT id, s, m, s.a AS a FROM t WHERE s IS NOT NULL")
    answer = filled.get("/v1/views/v/rows", where="(s).a = 1")
    assert [row["id"] for row in answer.json()["rows"]] == [1]
    answer = filled.get("/v1/views/v/rows", where="s = ROW(NULL, '') AND s.b = ''")
    assert [row["id"] for row in answer.json()["rows"]] == [2]
    epoch = filled.change("t", {"delete": {"id": 1}})
    changes = filled.get("/v1/views/v/changes", since=epoch - 1, format="json").json()["changes"]
    assert [(each["diff"], each["row"]["s"], each["row"]["m"]) for each in changes] == [
        (-1, ROWS[0]["s"], ROWS[0]["m"])
    ]


def test_statements_that_change(filled: Client) -> None:
    sql(
        filled,
        "INSERT INTO t (id, s, m) VALUES (4, {'a': 4, 'b': 'd'}, MAP {'z': 1}), (5, row(5, 'e'), MAP {})",
    )
    sql(filled, "INSERT INTO t (id, s, l) VALUES (6, '(6,\"f g\")', NULL)", dialect="postgres")
    sql(filled, "INSERT INTO t (id, s) SELECT id + 10, s FROM t WHERE s.a = 4")
    sql(
        filled,
        "UPDATE t SET s = {'a': s.a + 1, 'b': s.b}, m = map_concat(m, MAP {'y': CAST(2 AS NUMERIC(20, 2))}) "
        "WHERE id = 4",
    )
    sql(filled, "DELETE FROM t WHERE s = {'a': 5, 'b': 'e'}")
    assert [(row["id"], row["s"], row["m"]) for row in read(filled, "t")[3:]] == [
        (4, {"a": 5, "b": "d"}, {"z": "1.00", "y": "2.00"}),
        (6, {"a": 6, "b": "f g"}, None),
        (14, {"a": 4, "b": "d"}, None),
    ]


def test_dialects_declare_them(client: Client) -> None:
    for dialect, type in {
        "bigquery": "STRUCT<a INT64, b ARRAY<STRING>>",
        "spark": "STRUCT<a: BIGINT, b: ARRAY<STRING>>",
        "trino": "ROW(a BIGINT, b ARRAY(VARCHAR))",
        "duckdb": "STRUCT(a BIGINT, b VARCHAR[])",
        "clickhouse": "Tuple(a Int64, b Array(String))",
        "postgres": "STRUCT(a BIGINT, b TEXT[])",
    }.items():
        answer = client.post("/v1/sql", {"sql": f"CREATE TABLE {dialect} (x {type})", "dialect": dialect})
        assert answer.status_code == 200, answer.text
        (column,) = client.get(f"/v1/tables/{dialect}").json()["columns"]
        assert column["type"] == "STRUCT(a BIGINT, b TEXT[])"
        client.table(f"{dialect}2", {"x": column["type"]})
        shown = selected(client, f"SHOW CREATE TABLE {dialect}")
        assert "STRUCT(a BIGINT, b TEXT[])" in json.dumps(shown)


def test_after_a_restart(settings: Settings) -> None:
    with Client(settings) as client:
        sql(client, TABLE.format(name="t"))
        sql(
            client, "CREATE VIEW v AS SELECT s, max(m) AS m, array_agg(r ORDER BY id) AS rs FROM t GROUP BY s"
        )
        client.change("t", *({"insert": row} for row in ROWS))
        before = client.get("/v1/views/v/rows").json()["rows"]
    with Client(settings) as client:
        assert read(client, "t") == ROWS
        assert client.get("/v1/views/v/rows").json()["rows"] == before
        client.change("t", *({"delete": {"id": row["id"]}} for row in ROWS))
        assert client.get("/v1/views/v/rows").json()["rows"] == []


def test_deep_types_are_refused(client: Client) -> None:
    type = "INTEGER" + "[]" * 17
    answer = client.post("/v1/sql", {"sql": f"CREATE TABLE deep (x {type})"})
    assert answer.status_code == 422
    assert "deep" in answer.json()["detail"]


def test_whole_keys_may_be_texts(filled: Client) -> None:
    filled.change("t", {"insert": {"id": 9, "n": {"7": "2026-01-01", "-1": None}}})
    assert read(filled, "t")[-1]["n"] == [[7, "2026-01-01"], [-1, None]]
