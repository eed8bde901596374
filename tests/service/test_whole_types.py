"""Small, unsigned and huge whole numbers at every door: what is taken, refused and shown."""

from __future__ import annotations

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from engine.schema import WHOLES
from tests.service.client import Client, code

TYPES = {name.lower(): name for name in WHOLES}


@pytest.fixture
def filled(client: Client) -> Client:
    columns = ", ".join(f"{column} {type}" for column, type in TYPES.items())
    sql(client, f"CREATE TABLE t (id INTEGER PRIMARY KEY, {columns})")
    sql(client, "CREATE VIEW v AS SELECT * FROM t")
    return client


def row(id: int, place: int) -> dict[str, object]:
    """The least numbers of all types, or the greatest."""
    return {"id": id, **{column: WHOLES[name][1 + place] for column, name in TYPES.items()}}


def shown(id: int, place: int) -> dict[str, object]:
    """The same as answers have it: what is kept as NUMERIC is a text."""
    return {n: str(v) if n in ("ubigint", "hugeint") else v for n, v in row(id, place).items()}


def rows(client: Client, name: str = "v", **parameters: str) -> list[dict[str, object]]:
    answer = client.get(f"/v1/views/{name}/rows", **parameters)
    assert answer.status_code == 200, answer.text
    return sorted(answer.json()["rows"], key=lambda each: each["id"])


def sql(client: Client, text: str, dialect: str = "postgres") -> list[list[object]]:
    """The rows of the last statement."""
    answer = client.post("/v1/sql", {"sql": text, "dialect": dialect})
    assert answer.status_code == 200, answer.text
    return answer.json()["results"][-1].get("rows", [])


def test_the_declared_type_is_shown(filled: Client) -> None:
    columns = filled.get("/v1/tables/t").json()["columns"]
    assert {c["name"]: c["type"] for c in columns} == {"id": "INTEGER", **TYPES}
    columns = filled.get("/v1/views/v").json()["columns"]
    assert {c["name"]: c["type"] for c in columns} == {"id": "INTEGER", **TYPES}
    assert "utinyint UTINYINT" in str(sql(filled, "SHOW CREATE TABLE t"))


def test_json_and_sql(filled: Client) -> None:
    filled.insert("t", shown(1, 0), shown(2, 1))
    values = ", ".join(str(value) for value in row(3, 1).values())
    sql(filled, f"INSERT INTO t VALUES ({values})")
    assert rows(filled) == [shown(1, 0), shown(2, 1), shown(3, 1)]


def test_csv_arrow_and_parquet(filled: Client) -> None:
    lines = [",".join(map(str, each.values())) for each in (row(1, 0), row(2, 1))]
    body = "\n".join([",".join(row(1, 0)), *lines])
    path = "/v1/tables/t/deltas"
    assert filled.post(path, content=body, headers={"Content-Type": "text/csv"}).status_code == 200
    decimals = {name: pa.decimal128(38, 0) for name in ("ubigint", "hugeint")}
    made = {n: pa.array([v], decimals.get(n, pa.int64())) for n, v in row(3, 1).items()}
    sink = io.BytesIO()
    pq.write_table(pa.table(made), sink)
    for kind, content in (("arrow.stream", _stream(pa.table(made))), ("parquet", sink.getvalue())):
        headers = {"Content-Type": f"application/vnd.apache.{kind}"}
        assert filled.post(path, content=content, headers=headers).status_code == 200
        assert rows(filled) == [shown(1, 0), shown(2, 1), shown(3, 1)]
        sql(filled, "DELETE FROM t WHERE id = 3")
    stream = filled.get("/v1/views/v/rows", accept="application/vnd.apache.arrow.stream")
    table = pa.ipc.open_stream(stream.content).read_all()
    assert sorted(map(int, table["ubigint"].to_pylist())) == [0, 2**64 - 1]
    assert table.schema.field("utinyint").metadata[b"freshet.type"] == b"UTINYINT"


def _stream(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


@pytest.mark.parametrize("name", WHOLES)
@pytest.mark.parametrize("place", [1, 2])
def test_a_number_beyond_the_range_is_refused(filled: Client, name: str, place: int) -> None:
    beyond = WHOLES[name][place] + (1 if place == 2 else -1)
    column = name.lower()
    path = "/v1/tables/t/deltas"
    answer = filled.deltas("t", {"insert": {"id": 1, column: beyond if abs(beyond) < 2**63 else str(beyond)}})
    assert code(answer) == (422, "invalid_value")
    many = "\n".join([f"id,{column}", *(f"{n},{beyond}" for n in range(50))])
    assert code(filled.post(path, content=many, headers={"Content-Type": "text/csv"}))[0] == 422
    if name not in ("UBIGINT", "HUGEINT"):
        made = pa.table({"id": pa.array([1], pa.int32()), column: pa.array([beyond], pa.int64())})
        headers = {"Content-Type": "application/vnd.apache.arrow.stream"}
        assert code(filled.post(path, content=_stream(made), headers=headers))[0] == 422
    insert = f"INSERT INTO t (id, {column}) VALUES (1, {beyond})"
    assert code(filled.post("/v1/sql", {"sql": insert}))[0] == 422
    assert rows(filled) == []


def test_an_overflow_is_an_error_of_its_row(filled: Client) -> None:
    sql(filled, "CREATE VIEW more AS SELECT id, utinyint + utinyint AS x, ubigint - 1 AS y FROM t")
    filled.insert("t", {"id": 1, "utinyint": 100, "ubigint": 1})
    assert rows(filled, "more") == [{"id": 1, "x": 200, "y": "0"}]
    filled.insert("t", {"id": 2, "utinyint": 200, "ubigint": 2}, {"id": 3, "utinyint": 1, "ubigint": 0})
    found = filled.get("/v1/views/more/rows")
    assert code(found) == (409, "view_has_errors")
    assert "UTINYINT overflow: 200 + 200" in found.text and "UBIGINT overflow: 0 - 1" in found.text
    sql(filled, "DELETE FROM t WHERE id > 1")
    assert rows(filled, "more") == [{"id": 1, "x": 200, "y": "0"}]


def test_lookups_and_ad_hoc_queries_agree(filled: Client) -> None:
    filled.insert("t", shown(1, 0), shown(2, 1))
    sql(filled, "CREATE INDEX ON t (ubigint)")
    sql(filled, "CREATE INDEX ON t (utinyint)")
    for column in TYPES:
        value = row(2, 1)[column]
        for condition in (f"{column} = {value}", f"{column} - 0 = {value}"):
            assert sql(filled, f"SELECT id FROM t WHERE {condition}") == [[2]], condition
        assert sql(filled, f"SELECT id FROM t WHERE {column} = {int(str(value)) - 1}") == []
        assert [each["id"] for each in rows(filled, where=f"{column} = {value}")] == [2]
    assert sql(filled, "SELECT sum(ubigint), max(utinyint) FROM t") == [[str(2**64 - 1), 255]]


def test_names_of_other_dialects(client: Client) -> None:
    for dialect, types in {
        "mysql": {
            "a TINYINT UNSIGNED": "UTINYINT",
            "a INT UNSIGNED": "UINTEGER",
            "a BIGINT UNSIGNED": "UBIGINT",
        },
        "clickhouse": {"a UInt8": "UTINYINT", "a Nullable(UInt64)": "UBIGINT", "a Int128": "HUGEINT"},
        "tsql": {"a TINYINT": "UTINYINT"},
        "duckdb": {"a UTINYINT": "UTINYINT", "a INT1": "TINYINT", "a HUGEINT": "HUGEINT"},
    }.items():
        for declared, expected in types.items():
            sql(client, f"CREATE TABLE d ({declared})", dialect)
            assert client.get("/v1/tables/d").json()["columns"][0]["type"] == expected, (dialect, declared)
            sql(client, "DROP TABLE d")
