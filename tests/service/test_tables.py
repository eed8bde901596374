"""Tables over HTTP: definitions, changes in every format, and refusals."""

from __future__ import annotations

import gzip
from io import BytesIO

import orjson
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet
import pytest

from service.settings.settings import Settings
from tests.service.client import Client, code

ORDERS = {"id": "BIGINT", "price": "NUMERIC(10, 2)", "name": "TEXT"}


@pytest.fixture
def orders(client: Client) -> Client:
    client.table("orders", ORDERS, key=["id"])
    return client


@pytest.fixture
def bag(client: Client) -> Client:
    client.table("bag", {"a": "BIGINT", "b": "TEXT"})
    return client


def order(id: int, price: str | None = "1.50", name: str | None = "x") -> dict[str, object]:
    return {"id": id, "price": price, "name": name}


# Definitions


def test_create_describe_list_drop(client: Client) -> None:
    answer = client.post(
        "/v1/tables",
        {"name": "Orders", "columns": [{"name": "Id", "type": "bigint"}], "primary_key": ["ID"]},
    )
    assert answer.status_code == 201
    table = {
        "name": "orders",
        "columns": [{"name": "id", "type": "BIGINT", "nullable": False}],
        "primary_key": ["id"],
    }
    assert answer.json() == {**table, "epoch": 0}
    assert answer.headers["location"] == "/v1/tables/orders"
    assert client.get("/v1/tables").json() == {"tables": [table]}
    assert client.get("/v1/tables/ORDERS").json() == table
    assert client.delete("/v1/tables/orders").status_code == 204
    assert client.get("/v1/tables").json() == {"tables": []}
    assert code(client.get("/v1/tables/orders")) == (404, "unknown_name")


def test_create_from_sql(client: Client) -> None:
    sql = 'CREATE TABLE "Big" (a INT NOT NULL, "B" VARCHAR(10), PRIMARY KEY ("B", a))'
    answer = client.post("/v1/tables", {"sql": sql})
    assert answer.status_code == 201, answer.text
    assert answer.json()["name"] == "Big"
    assert answer.json()["primary_key"] == ["B", "a"]
    assert client.get('/v1/tables/"Big"').status_code == 200
    assert code(client.get("/v1/tables/big")) == (404, "unknown_name")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({}, (422, "invalid_request")),
        ({"name": "t"}, (422, "invalid_request")),
        ({"name": "t", "columns": []}, (422, "no_columns")),
        ({"name": "t-1", "columns": [{"name": "a", "type": "BIGINT"}]}, (422, "invalid_name")),
        ({"name": "t", "columns": [{"name": "a", "type": "POINT"}]}, (422, "unsupported_sql")),
        ({"name": "t", "columns": [{"name": "a", "type": ") x ("}]}, (422, "invalid_type")),
        ({"name": "t", "columns": [{"name": "a", "type": "INT NOT NULL"}]}, (422, "invalid_type")),
        ({"name": "t", "columns": [{"name": "a", "type": "INT; SELECT 1"}]}, (422, "invalid_type")),
        ({"name": "t", "columns": [{"name": "a", "type": "INT", "x": 1}]}, (422, "invalid_request")),
        (
            {"name": "t", "columns": [{"name": "a", "type": "INT"}, {"name": "A", "type": "INT"}]},
            (422, "duplicate_column"),
        ),
        (
            {"name": "t", "columns": [{"name": "a", "type": "INT"}], "primary_key": ["b"]},
            (422, "unknown_column"),
        ),
        ({"sql": "CREATE TABLE t (a INT", "name": "t"}, (422, "invalid_request")),
        ({"sql": "CREATE TABLE t (a INT"}, (400, "syntax_error")),
        ({"sql": "SELECT 1"}, (422, "invalid_request")),
        ([1], (422, "invalid_request")),
    ],
)
def test_bad_definitions(client: Client, body: object, expected: tuple[int, str]) -> None:
    assert code(client.post("/v1/tables", body)) == expected
    assert client.get("/v1/tables").json() == {"tables": []}


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("BIT[]", "BIT[]"),
        ("bit varying[]", "BIT[]"),
        ("mood", "ENUM('ok', 'bad')"),
        ("public.MOOD[]", "ENUM('ok', 'bad')[]"),
        ("timestamp with time zone", "TIMESTAMPTZ"),
    ],
)
def test_a_column_has_the_whole_type_that_is_written(client: Client, written: str, expected: str) -> None:
    assert client.post("/v1/sql", {"sql": "CREATE TYPE mood AS ENUM ('ok', 'bad')"}).status_code == 200
    client.table("t", {"a": written})
    assert client.get("/v1/tables/t").json()["columns"][0]["type"] == expected


def test_not_json(client: Client) -> None:
    headers = {"Content-Type": "application/json"}
    assert code(client.post("/v1/tables", content=b"{", headers=headers)) == (400, "invalid_json")


def test_a_name_is_taken_once(orders: Client) -> None:
    body = {"name": "ORDERS", "columns": [{"name": "a", "type": "INT"}]}
    assert code(orders.post("/v1/tables", body)) == (409, "name_in_use")


def test_a_table_that_a_view_reads_stays(orders: Client) -> None:
    orders.view("v", "SELECT name FROM orders")
    assert code(orders.delete("/v1/tables/orders")) == (409, "in_use")
    assert orders.delete("/v1/views/v").status_code == 204
    assert orders.delete("/v1/tables/orders").status_code == 204


def test_a_dropped_tables_rows_are_not_its_namesakes(orders: Client) -> None:
    orders.insert("orders", order(1))
    orders.delete("/v1/tables/orders")
    orders.table("orders", ORDERS, key=["id"])
    assert orders.rows("orders") == []
    assert orders.insert("orders", order(1)) == 2


# Changes


def test_each_call_is_an_epoch(orders: Client) -> None:
    assert orders.insert("orders", order(1), order(2)) == 1
    answer = orders.deltas(
        "orders", {"upsert": order(1, "2")}, {"delete": {"id": 2}}, {"insert": order(3, None)}
    )
    assert answer.json() == {"epoch": 2, "changes": 3}
    assert orders.rows("orders") == [(1, "2.00", "x"), (3, None, "x")]
    assert orders.rows("orders", as_of=1) == [(1, "1.50", "x"), (2, "1.50", "x")]
    assert orders.rows("orders", as_of=0) == []


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ([{"insert": order(1)}], "key_exists"),
        ([{"insert": order(2)}, {"insert": order(2)}], "key_exists"),
        ([{"delete": {"id": 2}}], "row_not_found"),
        ([{"delete": {"id": 1}}, {"delete": {"id": 1}}], "row_not_found"),
    ],
)
def test_conflicts_apply_nothing(orders: Client, changes: list, expected: str) -> None:
    orders.insert("orders", order(1))
    first = {"insert": order(9)}
    assert code(orders.deltas("orders", first, *changes)) == (409, expected)
    assert orders.rows("orders") == [(1, "1.50", "x")]
    assert orders.get("/v1/status").json()["epoch"] == 1


def test_order_inside_a_call_counts(orders: Client) -> None:
    orders.change("orders", {"insert": order(1)}, {"delete": {"id": 1}})
    orders.change("orders", {"insert": order(2)}, {"delete": {"id": 2}}, {"insert": order(2, name="y")})
    assert orders.rows("orders") == [(2, "1.50", "y")]


def test_a_bag_counts(bag: Client) -> None:
    row = {"a": 1, "b": "x"}
    bag.insert("bag", row, row, {"a": 2, "b": None})
    assert bag.rows("bag") == [(1, "x"), (1, "x"), (2, None)]
    bag.change("bag", {"delete": row}, {"insert": row}, {"delete": row})
    assert bag.rows("bag") == [(1, "x"), (2, None)]
    assert code(bag.deltas("bag", {"delete": row}, {"delete": row})) == (409, "row_not_found")
    assert code(bag.deltas("bag", {"upsert": row})) == (422, "no_primary_key")
    assert len(bag.rows("bag")) == 2


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"insert": order(1)}, "invalid_change"),
        ([order(1)], "invalid_change"),
        ([{"insert": [1]}], "invalid_change"),
        ([{"merge": order(1)}], "invalid_change"),
        ([{"insert": order(1), "delete": order(2)}], "invalid_change"),
        ([{"insert": {**order(1), "colour": 1}}], "unknown_column"),
        ([{"insert": {"id": 1, "ID": 2}}], "duplicate_column"),
        ([{"insert": {"price": "1"}}], "null_not_allowed"),
        ([{"delete": {}}], "null_not_allowed"),
        ([{"insert": order("one")}], "invalid_value"),
        ([{"insert": order(1, "1.234")}], "invalid_value"),
        ([{"insert": order(2**63)}], "invalid_value"),
    ],
)
def test_bad_changes(orders: Client, changes: object, expected: str) -> None:
    assert code(orders.post("/v1/tables/orders/deltas", changes)) == (422, expected)
    assert orders.get("/v1/status").json()["epoch"] == 0


def test_a_bad_value_is_found(orders: Client) -> None:
    changes = [{"insert": order(i)} for i in range(20)]
    changes[17]["insert"]["price"] = "dear"
    answer = orders.post("/v1/tables/orders/deltas", changes)
    assert code(answer) == (422, "invalid_value")
    assert answer.json()["detail"].startswith("change 17: column price: ")


def test_columns_fold_case_and_may_be_left_out(orders: Client) -> None:
    orders.insert("orders", {"ID": 1})
    assert orders.rows("orders") == [(1, None, None)]


def test_several_tables_one_epoch(orders: Client) -> None:
    orders.table("bag", {"a": "BIGINT"})
    answer = orders.post(
        "/v1/deltas", {"tables": {"Orders": [{"insert": order(1)}], "bag": [{"insert": {"a": 1}}] * 2}}
    )
    assert answer.json() == {"epoch": 1, "changes": 3}
    refused = {"tables": {"orders": [{"insert": order(2)}], "bag": [{"delete": {"a": 7}}]}}
    assert code(orders.post("/v1/deltas", refused)) == (409, "row_not_found")
    assert orders.rows("orders") == [(1, "1.50", "x")]
    assert code(orders.post("/v1/deltas", {"tables": {"none": []}})) == (404, "unknown_name")
    assert code(orders.post("/v1/deltas", {"orders": []})) == (422, "invalid_change")
    assert code(orders.post("/v1/deltas", {"tables": {"bag": [], "BAG": []}})) == (422, "invalid_change")


def test_a_view_is_not_changed(orders: Client) -> None:
    orders.view("v", "SELECT name FROM orders")
    assert code(orders.deltas("v", {"insert": {"name": "x"}})) == (404, "unknown_name")


# Formats


def send(client: Client, content: bytes, content_type: str, **headers: str):
    named = {"Content-Type": content_type, **{k.replace("_", "-"): v for k, v in headers.items()}}
    return client.post("/v1/tables/orders/deltas", content=content, headers=named)


def test_ndjson(orders: Client) -> None:
    lines = [{"insert": order(i)} for i in range(100)]
    body = b"\n\n".join(map(orjson.dumps, lines)) + b"\r\n"
    assert send(orders, body, "application/x-ndjson").json() == {"epoch": 1, "changes": 100}
    assert len(orders.rows("orders")) == 100


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        (b'{"insert": {"id": 1}}\n{"insert"\n', "line 2"),
        (b'{"insert": {"id": 1}},{"insert": {"id": 2}}\n', "line 1"),
        (b'{"insert":\n{"id": 1}}\n', "line 1"),
    ],
)
def test_bad_ndjson_names_its_line(orders: Client, body: bytes, detail: str) -> None:
    answer = send(orders, body, "application/x-ndjson")
    assert code(answer) == (400, "invalid_json")
    assert answer.json()["detail"].startswith(detail)


def test_csv(orders: Client) -> None:
    body = b'name,ID,price\r\n"a, ""b""\nc",1,2.5\r\n,2,\r\n"",3,0\r\n'
    assert send(orders, body, "text/csv; charset=utf-8").status_code == 200
    assert orders.rows("orders") == [(1, "2.50", 'a, "b"\nc'), (2, None, None), (3, "0.00", "")]
    body = b"_op,id,name\nupsert,1,z\ndelete,2,\n,4,four\n"
    assert send(orders, body, "text/csv").json()["changes"] == 3
    assert orders.rows("orders") == [(1, None, "z"), (3, "0.00", ""), (4, None, "four")]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"id,colour\n1,red\n", (422, "unknown_column")),
        (b"id,id\n1,2\n", (422, "duplicate_column")),
        (b"id,name\n1\n", (400, "invalid_body")),
        (b"", (400, "invalid_body")),
        (b"id\none\n", (422, "invalid_value")),
        (b"_op,id\nmerge,1\n", (422, "invalid_change")),
        (b"name\nx\n", (422, "null_not_allowed")),
    ],
)
def test_bad_csv(orders: Client, body: bytes, expected: tuple[int, str]) -> None:
    assert code(send(orders, body, "text/csv")) == expected


def as_arrow(table: pa.Table) -> bytes:
    sink = BytesIO()
    with pyarrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=2)
    return sink.getvalue()


def as_parquet(table: pa.Table) -> bytes:
    sink = BytesIO()
    pyarrow.parquet.write_table(table, sink)
    return sink.getvalue()


TABLES = [
    ("application/vnd.apache.arrow.stream", as_arrow),
    ("application/vnd.apache.parquet", as_parquet),
]


@pytest.mark.parametrize(("media_type", "write"), TABLES)
def test_columnar(orders: Client, media_type: str, write) -> None:
    table = pa.table({"name": ["a", None, "c"], "id": pa.array([1, 2, 3], pa.int32())})
    assert send(orders, write(table), media_type).json() == {"epoch": 1, "changes": 3}
    assert orders.rows("orders") == [(1, None, "a"), (2, None, None), (3, None, "c")]
    table = pa.table({"id": [1, 2], "_op": ["delete", "upsert"], "name": [None, "b"]})
    assert send(orders, write(table), media_type).status_code == 200
    assert orders.rows("orders") == [(2, None, "b"), (3, None, "c")]
    assert code(send(orders, write(pa.table({"id": [[1]]})), media_type)) == (422, "invalid_value")
    assert code(send(orders, b"nonsense", media_type)) == (400, "invalid_body")
    assert code(send(orders, write(table)[:-40], media_type)) == (400, "invalid_body")


def test_content_types(orders: Client) -> None:
    assert code(send(orders, b"x", "image/png")) == (415, "unsupported_format")
    assert send(orders, b"[]", "application/json; charset=utf-8").status_code == 200


@pytest.mark.parametrize("encoding", ["gzip", "zstd"])
def test_content_encoding(orders: Client, encoding: str) -> None:
    body = orjson.dumps([{"insert": order(1)}])
    packed = gzip.compress(body) if encoding == "gzip" else pa.Codec("zstd").compress(body, asbytes=True)
    assert send(orders, packed, "application/json", Content_Encoding=encoding).status_code == 200
    assert orders.rows("orders") == [(1, "1.50", "x")]
    answer = send(orders, packed[:-6], "application/json", Content_Encoding=encoding)
    assert code(answer) == (400, "invalid_encoding")
    assert code(send(orders, body, "application/json", Content_Encoding=encoding)) == (
        400,
        "invalid_encoding",
    )
    assert code(send(orders, body, "application/json", Content_Encoding="br")) == (415, "unsupported_format")


def test_the_limit_counts_decompressed_bytes(settings: Settings) -> None:
    with Client(Settings(data=settings.data, body_limit=10_000)) as client:
        client.table("orders", ORDERS, key=["id"])
        body = orjson.dumps([{"insert": order(i, name="x" * 100)} for i in range(100)])
        assert len(gzip.compress(body)) < 10_000 < len(body)
        assert code(send(client, body, "application/json")) == (413, "too_large")
        packed = gzip.compress(body)
        answer = send(client, packed, "application/json", Content_Encoding="gzip")
        assert code(answer) == (413, "too_large")
        assert code(client.post("/v1/views", {"name": "v", "sql": "x" * 20_000})) == (413, "too_large")
        wide = pa.table({"id": range(50), "name": ["y" * 1000] * 50})
        assert len(as_parquet(wide)) < 10_000
        assert code(send(client, as_parquet(wide), TABLES[1][0])) == (413, "too_large")
        assert client.rows("orders") == []


# Idempotency


def test_the_same_key_and_body_apply_once(orders: Client) -> None:
    first = orders.deltas("orders", {"insert": order(1)}, Idempotency_Key="k")
    again = orders.deltas("orders", {"insert": order(1)}, Idempotency_Key="k")
    assert first.json() == again.json() == {"epoch": 1, "changes": 1}
    assert orders.change("orders", {"insert": order(2)}) == 2
    assert orders.deltas("orders", {"insert": order(1)}, Idempotency_Key="k").json()["epoch"] == 1


def test_the_same_key_and_another_body(orders: Client) -> None:
    orders.change("orders", {"insert": order(1)}, Idempotency_Key="k")
    answer = orders.deltas("orders", {"insert": order(2)}, Idempotency_Key="k")
    assert code(answer) == (422, "idempotency_key_reused")
    assert code(orders.deltas("orders", {"insert": order(2)}, Idempotency_Key="")) == (
        422,
        "invalid_idempotency_key",
    )


def test_what_was_refused_may_be_tried_again(orders: Client) -> None:
    assert orders.deltas("orders", {"delete": {"id": 1}}, Idempotency_Key="k").status_code == 409
    orders.insert("orders", order(1))
    assert orders.deltas("orders", {"delete": {"id": 1}}, Idempotency_Key="k").status_code == 200


def test_keys_survive_restarts(settings: Settings) -> None:
    for _ in range(2):
        with Client(settings) as client:
            if not client.runtime.definitions():
                client.table("orders", ORDERS, key=["id"])
            answer = client.deltas("orders", {"insert": order(1)}, Idempotency_Key="k")
            assert answer.json() == {"epoch": 1, "changes": 1}


# Many clients at once


def test_one_of_many_inserts_of_a_key_wins(orders: Client) -> None:
    path = "/v1/tables/orders/deltas"
    answers = orders.together(
        *(orders.http.post(path, json=[{"insert": order(1, name=f"client {i}")}]) for i in range(20))
    )
    assert sorted(answer.status_code for answer in answers) == [200] + [409] * 19
    [winner] = [i for i, answer in enumerate(answers) if answer.status_code == 200]
    assert orders.rows("orders") == [(1, "1.50", f"client {winner}")]


def test_every_request_has_its_own_epoch_and_every_view_follows(orders: Client) -> None:
    orders.view("counts", "SELECT name, count(*) AS n FROM orders GROUP BY name")
    path = "/v1/tables/orders/deltas"
    answers = orders.together(
        *(orders.http.post(path, json=[{"insert": order(i, name="xy"[i % 2])}]) for i in range(40))
    )
    epochs = [answer.json()["epoch"] for answer in answers]
    assert sorted(epochs) == list(range(1, 41))
    for epoch in (1, 17, 40):
        names = sorted(name for _, _, name in orders.rows("orders", as_of=epoch))
        assert len(names) == epoch
        expected = [(name, names.count(name)) for name in sorted(set(names))]
        assert sorted(orders.rows("counts", as_of=epoch)) == expected


def test_the_same_idempotent_request_at_once(orders: Client) -> None:
    post = {"json": [{"insert": order(1)}], "headers": {"Idempotency-Key": "k"}}
    answers = orders.together(*(orders.http.post("/v1/tables/orders/deltas", **post) for _ in range(10)))
    assert {answer.text for answer in answers} == {'{"epoch":1,"changes":1}'}
