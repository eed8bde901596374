"""Columns of every type over HTTP: in every format, in clauses, statements and views."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet
import pytest

from service.decoding.parsing import ARROW, CSV, NDJSON, PARQUET
from service.settings.settings import Settings
from tests.service.client import Client

COLUMNS = {
    "id": "INTEGER",
    "clock": "TIME",
    "ts": "TIMESTAMPTZ",
    "span": "INTERVAL",
    "data": "BYTEA",
    "tag": "UUID",
    "doc": "JSON",
    "mood": "ENUM('sad', 'ok', 'happy')",
    "xs": "INTEGER[]",
    "words": "TEXT[][]",
    "zoned": "TIMETZ",
    "bits": "BIT",
    "shifts": "TIMETZ[]",
}
ROWS = [
    {
        "id": 1,
        "clock": "10:30:00",
        "ts": "2024-03-31T00:30:00Z",
        "span": "P1M2DT3.5S",
        "data": "YWL/",
        "tag": "00000000-0000-0000-0000-000000000007",
        "doc": {"b": [1, 2.5, None], "a": "x"},
        "mood": "ok",
        "xs": [1, None, 3],
        "words": [["x", 'it"s'], []],
        "zoned": "24:00:00+02",
        "bits": "0010",
        "shifts": ["08:00:00+01", None],
    },
    {
        "id": 2,
        "clock": "23:59:59.999999",
        "ts": "2023-12-31T23:59:59.000005Z",
        "span": "PT0S",
        "data": "",
        "tag": "80000000-0000-0000-0000-000000000000",
        "doc": "text",
        "mood": "sad",
        "xs": [],
        "words": [[None]],
        "zoned": "23:59:59.5-15:59:59",
        "bits": "1",
        "shifts": [],
    },
    {name: 3 if name == "id" else None for name in COLUMNS},
]


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Client]:
    with Client(Settings(data=tmp_path)) as service:
        columns = [{"name": name, "type": type} for name, type in COLUMNS.items()]
        for table in ("things", "copies"):
            answer = service.post("/v1/tables", {"name": table, "columns": columns, "primary_key": ["id"]})
            assert answer.status_code == 201, answer.text
        yield service


def insert(service: Client, table: str = "things") -> None:
    answer = service.post(f"/v1/tables/{table}/deltas", [{"insert": row} for row in ROWS])
    assert answer.status_code == 200, answer.text


def rows(service: Client, path: str) -> list[dict]:
    answer = service.get(path)
    assert answer.status_code == 200, answer.text
    return sorted(answer.json()["rows"], key=lambda row: row["id"])


def run(service: Client, sql: str) -> None:
    answered = service.post("/v1/sql", {"sql": sql})
    assert answered.status_code == 200, answered.text


def test_a_table_says_its_types(service: Client) -> None:
    described = service.get("/v1/tables/things").json()["columns"]
    assert {c["name"]: c["type"] for c in described} == COLUMNS


def test_json_comes_back(service: Client) -> None:
    insert(service)
    assert rows(service, "/v1/tables/things/rows") == ROWS


@pytest.mark.parametrize("format", [NDJSON, CSV, ARROW, PARQUET])
def test_what_a_format_gives_it_takes(service: Client, format: str) -> None:
    insert(service)
    given = service.get("/v1/tables/things/rows", accept=format)
    assert given.status_code == 200
    body = given.content
    if format == NDJSON:
        assert sorted(map(orjson.loads, body.splitlines()), key=lambda row: row["id"]) == ROWS
        body = b"".join(b'{"insert":' + line + b"}\n" for line in body.splitlines())
    taken = service.post("/v1/tables/copies/deltas", content=body, headers={"Content-Type": format})
    assert taken.status_code == 200, taken.text
    assert rows(service, "/v1/tables/copies/rows") == ROWS


def test_arrow_has_types_of_its_own_for_them(service: Client) -> None:
    insert(service)
    body = service.get("/v1/tables/things/rows", accept=ARROW).content
    with pyarrow.ipc.open_stream(body) as reader:
        schema = reader.schema
    assert [str(field.type) for field in schema][1:5] == [
        "time64[us]",
        "timestamp[us, tz=UTC]",
        "month_day_nano_interval",
        "large_binary",
    ]
    assert schema.field("xs").type == pa.list_(pa.int32())


@pytest.mark.parametrize(
    ("where", "ids"),
    [
        ("mood = 'sad'", [2]),
        ("clock >= '23:00:00'", [2]),
        ("ts < '2024-01-01 00:00:00+00'", [2]),
        ("span > interval '1 month'", [1]),
        ("tag = '00000000-0000-0000-0000-000000000007'", [1]),
        ("doc ->> 'a' = 'x' AND 1 = ANY(xs)", [1]),
        ("json_array_length(doc -> 'b') = 3", [1]),
        ("xs = ARRAY[]::int[]", [2]),
        ("data IS NULL", [3]),
        ("zoned > '12:00:00+00'", [1, 2]),
        ("zoned = '24:00:00+02'", [1]),
        ("extract(timezone_hour FROM zoned) = 2", [1]),
        ("bits < '01'", [1]),
        ("bits = '1'", [2]),
    ],
)
def test_where(service: Client, where: str, ids: list[int]) -> None:
    insert(service)
    answered = service.get("/v1/tables/things/rows", where=where)
    assert answered.status_code == 200, answered.text
    assert [row["id"] for row in answered.json()["rows"]] == ids


@pytest.mark.parametrize(
    ("order_by", "ids"),
    [
        ("mood DESC NULLS LAST", [1, 2, 3]),
        ("span NULLS FIRST", [3, 2, 1]),
        ("xs", [2, 1, 3]),
        ("zoned", [1, 2, 3]),
        ("bits DESC", [3, 2, 1]),
    ],
)
def test_order_by(service: Client, order_by: str, ids: list[int]) -> None:
    insert(service)
    answered = service.get("/v1/tables/things/rows", order_by=order_by)
    assert [row["id"] for row in answered.json()["rows"]] == ids


def test_select(service: Client) -> None:
    insert(service)
    answered = service.post(
        "/v1/sql", {"sql": "SELECT * FROM things ORDER BY mood DESC NULLS LAST, id"}
    ).json()
    (result,) = answered["results"]
    assert {c["name"]: c["type"] for c in result["columns"]} == COLUMNS
    assert [dict(zip(COLUMNS, row, strict=True)) for row in result["rows"]] == ROWS


INSERT = """
INSERT INTO copies VALUES
  (1, '10:30', '2024-03-31 01:30:00+01', '1 month 2 days 3.5 seconds', '\\x6162ff',
   '00000000-0000-0000-0000-000000000007', '{"b": [1, 2.5, null], "a": "x"}', 'ok', '{1,NULL,3}',
   '{{x,"it\\"s"},{}}', '24:00+02', '0010', '{08:00+01,NULL}'),
  (2, TIME '23:59:59.999999', '2023-12-31 23:59:59.000005Z', INTERVAL '0 days', ''::bytea,
   '80000000-0000-0000-0000-000000000000', '"text"', 'sad', ARRAY[]::int[], ARRAY[ARRAY[NULL::text]],
   TIMETZ '23:59:59.5-15:59:59', BIT '1', ARRAY[]::timetz[]),
  (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)
"""


def test_literals_of_statements(service: Client) -> None:
    run(service, INSERT)
    assert rows(service, "/v1/tables/copies/rows") == ROWS


def test_statements_over_them(service: Client) -> None:
    insert(service)
    run(service, "INSERT INTO copies SELECT * FROM things")
    assert rows(service, "/v1/tables/copies/rows") == ROWS
    sets = "xs = '{7}', mood = 'happy', span = 'P1D', doc = '[1]'"
    run(service, f"UPDATE copies SET {sets} WHERE mood = 'ok'")
    changed = ROWS[0] | {"xs": [7], "mood": "happy", "span": "P1D", "doc": [1]}
    assert rows(service, "/v1/tables/copies/rows?limit=1")[0] == changed
    run(service, "DELETE FROM copies WHERE doc ->> 'nothing' IS NULL")
    assert rows(service, "/v1/tables/copies/rows") == []


def test_views_over_them_follow(service: Client) -> None:
    view = """
        SELECT mood, max(ts) AS latest, min(span) AS shortest, max(xs) AS most, count(*) AS n,
               max(ts) AT TIME ZONE 'Europe/Berlin' AS there
        FROM things GROUP BY mood
    """
    assert service.post("/v1/views", {"name": "moods", "sql": view}).status_code == 201
    insert(service)
    found = {row["mood"]: row for row in service.get("/v1/views/moods/rows").json()["rows"]}
    assert found["ok"] == {
        "mood": "ok",
        "latest": "2024-03-31T00:30:00Z",
        "shortest": "P1M2DT3.5S",
        "most": [1, None, 3],
        "n": 1,
        "there": "2024-03-31T01:30:00",
    }
    service.post("/v1/tables/things/deltas", [{"delete": {"id": 1}}])
    assert {row["mood"] for row in service.get("/v1/views/moods/rows").json()["rows"]} == {"sad", None}


def test_a_restart_knows_them(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path)
    with Client(settings) as service:
        service.table("things", COLUMNS, ["id"])
        insert(service)
        service.view("moods", "SELECT mood, max(xs) AS xs FROM things WHERE mood >= 'sad' GROUP BY mood")
        before = service.rows("moods")
    with Client(settings) as service:
        assert rows(service, "/v1/tables/things/rows") == ROWS
        assert service.rows("moods") == before


def test_a_parquet_file_without_our_types(service: Client) -> None:
    table = pa.table({"id": [9], "doc": ['{"a" : 1}'], "xs": [[1]], "tag": [bytes(16)], "mood": ["ok"]})
    sink = BytesIO()
    pyarrow.parquet.write_table(table, sink)
    taken = service.post(
        "/v1/tables/things/deltas", content=sink.getvalue(), headers={"Content-Type": PARQUET}
    )
    assert taken.status_code == 422
    assert "column tag" in taken.json()["detail"]


# Types that have names


def test_a_type_has_a_name(service: Client, tmp_path: Path) -> None:
    run(
        service,
        """
        CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
        CREATE TABLE people (name TEXT PRIMARY KEY, feels mood NOT NULL, felt mood[]);
        INSERT INTO people VALUES ('ada', 'happy', '{sad,ok}'), ('bob', 'sad', NULL);
        CREATE VIEW glad AS SELECT name, felt[2] AS then FROM people WHERE feels > 'sad'::mood;
        ALTER TABLE people ADD COLUMN hopes mood DEFAULT 'ok'
        """,
    )
    assert service.rows("glad") == [("ada", "ok")]
    described = service.get("/v1/tables/people").json()["columns"]
    assert [c["type"] for c in described] == [
        "TEXT",
        "ENUM('sad', 'ok', 'happy')",
        "ENUM('sad', 'ok', 'happy')[]",
        "ENUM('sad', 'ok', 'happy')",
    ]
    service.table("more", {"id": "INTEGER", "m": "mood"})
    service.view("cast", "SELECT CAST(name AS mood) AS m FROM people WHERE name = 'ok'")
    answered = service.post("/v1/sql", {"sql": "SELECT 'ok'::mood AS m, max(feels) AS feels FROM people"})
    assert answered.json()["results"][0]["rows"] == [["ok", "happy"]]
    found = service.get("/v1/tables/people/rows", where="feels > 'ok'::mood", order_by="felt[1]::mood")
    assert [row["name"] for row in found.json()["rows"]] == ["ada"]
    refused = service.deltas("people", {"insert": {"name": "cyd", "feels": "angry"}})
    assert refused.status_code == 422


def test_a_dropped_name_leaves_what_was_made_with_it(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path)
    with Client(settings) as service:
        run(service, "CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE TYPE IF NOT EXISTS mood AS ENUM ('x')")
        assert service.post("/v1/sql", {"sql": "CREATE TYPE mood AS ENUM ('x')"}).status_code == 409
    with Client(settings) as service:
        run(service, "CREATE TABLE t (m mood); CREATE VIEW v AS SELECT m FROM t WHERE m = 'ok'::mood")
        run(service, "DROP TYPE mood; DROP TYPE IF EXISTS mood; INSERT INTO t VALUES ('ok')")
        assert service.post("/v1/sql", {"sql": "DROP TYPE mood"}).status_code == 404
    with Client(settings) as service:
        assert service.rows("v") == [("ok",)]
        answered = service.post("/v1/sql", {"sql": "CREATE TABLE u (m mood)"})
        assert answered.status_code == 422
        assert "type MOOD is not supported" in answered.json()["detail"].replace("mood", "MOOD")


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TYPE pair AS (a INTEGER, b TEXT)",
        "CREATE TYPE mood AS ENUM (sad)",
        "CREATE TYPE mood AS ENUM ('sad', 'sad')",
        "CREATE TYPE mood AS ENUM ()",
        "DROP TYPE",
    ],
)
def test_what_is_not_a_type(service: Client, sql: str) -> None:
    assert service.post("/v1/sql", {"sql": sql}).status_code in (400, 422)
