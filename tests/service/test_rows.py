"""Reading rows: epochs and times, predicates and order, pages and formats."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import BytesIO

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet
import pytest

from engine.schema import BIGINT, Column, Schema
from service.decoding.parsing import ARROW, CSV, NDJSON, PARQUET
from service.reading.page_cursors import Cursor
from service.reading.row_readings import Reading
from service.settings.settings import Settings
from tests.service.client import Client, code


@pytest.fixture
def people(client: Client) -> Client:
    client.table("people", {"id": "BIGINT", "name": "TEXT", "age": "INTEGER"}, key=["id"])
    names = ["ada", "bob", "cyd", None, "eve", "fay"]
    client.insert("people", *({"id": i, "name": n, "age": 20 + i % 3} for i, n in enumerate(names)))
    return client


def ids(client: Client, **params: object) -> list[int]:
    return [row[0] for row in client.rows("people", **params)]


def test_the_shape_of_a_page(people: Client) -> None:
    assert people.get("/v1/tables/people/rows", limit=1).json() == {
        "table": "people",
        "epoch": 1,
        "columns": [
            {"name": "id", "type": "BIGINT", "nullable": False},
            {"name": "name", "type": "TEXT", "nullable": True},
            {"name": "age", "type": "INTEGER", "nullable": True},
        ],
        "rows": [{"id": 0, "name": "ada", "age": 20}],
        "next": people.get("/v1/tables/people/rows", limit=1).json()["next"],
    }
    people.view("names", "SELECT name FROM people")
    assert people.get("/v1/views/names/rows").json()["view"] == "names"


# Time


def test_as_of_an_epoch(people: Client) -> None:
    people.change("people", {"delete": {"id": 0}})
    assert ids(people, as_of=1) == [0, 1, 2, 3, 4, 5]
    assert ids(people, as_of=2) == ids(people) == [1, 2, 3, 4, 5]
    assert ids(people, as_of=0) == []


def test_as_of_a_time(people: Client) -> None:
    between = datetime.now(UTC)
    people.change("people", {"delete": {"id": 0}})
    later = timedelta(hours=1)
    assert len(ids(people, as_of=between.isoformat())) == 6
    assert len(ids(people, as_of=between.isoformat().replace("+00:00", "Z"))) == 6
    assert len(ids(people, as_of=(between + later).isoformat())) == 5
    assert ids(people, as_of=(between - later).isoformat()) == []
    zone = between.astimezone(datetime.fromisoformat("2026-01-01T00:00:00+05:30").tzinfo).isoformat()
    assert "+05:30" in zone
    assert len(ids(people, as_of=zone)) == 6
    # Not encoded, a query string's + is a space.
    assert len(ids(people, as_of=zone.replace("+", " "))) == 6


@pytest.mark.parametrize(
    ("as_of", "expected"),
    [
        ("2", (422, "epoch_not_reached")),
        ("-1", (400, "invalid_as_of")),
        ("yesterday", (400, "invalid_as_of")),
        ("2026-01-01T00:00:00", (400, "invalid_as_of")),
        ("1" * 30, (422, "epoch_not_reached")),
        ("٣", (400, "invalid_as_of")),
    ],
)
def test_bad_as_of(people: Client, as_of: str, expected: tuple[int, str]) -> None:
    assert code(people.get("/v1/tables/people/rows", as_of=as_of)) == expected


# Predicates and order


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("age > 20", [1, 2, 4, 5]),
        ("name LIKE '%a%' OR id = 4", [0, 4, 5]),
        ("name IS NULL", [3]),
        ("upper(Name) = 'BOB'", [1]),
        ("id IN (1, 2) AND NOT age = 21", [2]),
        ("CASE WHEN id > 3 THEN TRUE END", [4, 5]),
        ("age / 2 = 10 -- a comment", [0, 1, 3, 4]),
        ("age / 2.0 = 10.5", [1, 4]),
        ("TRUE", [0, 1, 2, 3, 4, 5]),
        ("name::text ~ '^[ab]'", [0, 1]),
        ("'2026-01-01'::date > '2025-01-01'::date AND id = 1", [1]),
    ],
)
def test_where(people: Client, where: str, expected: list[int]) -> None:
    assert ids(people, where=where) == expected


@pytest.mark.parametrize(
    ("order_by", "expected"),
    [
        ("age DESC, id", [2, 5, 1, 4, 0, 3]),
        ("age", [0, 3, 1, 4, 2, 5]),
        ("name DESC NULLS LAST", [5, 4, 2, 1, 0, 3]),
        ("length(name), -id", [5, 4, 2, 1, 0, 3]),
    ],
)
def test_order_by(people: Client, order_by: str, expected: list[int]) -> None:
    assert ids(people, order_by=order_by) == expected


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("age >", (400, "syntax_error")),
        ("age > 1)", (400, "syntax_error")),
        ("age > 1) OR (TRUE", (400, "syntax_error")),
        ("TRUE) ORDER BY (1", (400, "syntax_error")),
        ("TRUE) UNION SELECT (1", (400, "syntax_error")),
        ("TRUE); DROP TABLE people; SELECT (1", (400, "syntax_error")),
        ("colour = 1", (422, "unknown_column")),
        ("people.id = 1", (422, "unknown_column")),
        ("'#' > 0", (422, "invalid_value")),
        ('"#" > 0', (422, "unknown_column")),
        ("name = 1", (422, "invalid_value")),
        ("id = (SELECT 1)", (422, "invalid_clause")),
        ("EXISTS (SELECT 1 FROM people)", (422, "invalid_clause")),
        ("id IN (SELECT id FROM read_csv('/etc/passwd'))", (422, "invalid_clause")),
        ("count(*) > 1", (422, "invalid_clause")),
        ("row_number() OVER () = 1", (422, "invalid_clause")),
        ("random() < 0.5", (422, "invalid_clause")),
        ("now() > '2026-01-01'", (422, "invalid_clause")),
        ("pg_sleep(9) IS NULL", (422, "invalid_clause")),
        ("sleep_ms(9000) IS NULL", (422, "invalid_clause")),
        ("current_setting('memory_limit') = ''", (422, "invalid_clause")),
        ("write_log('x') IS NULL", (422, "invalid_clause")),
        ("gen_random_uuid() IS NULL", (422, "invalid_clause")),
        ("age / 0 = 1", (422, "invalid_value")),
        ("id = $1", (422, "invalid_clause")),
        ("getenv('HOME') = 'x'", (422, "unknown_function")),
        ("nosuch(id) = 1", (422, "unknown_function")),
    ],
)
def test_bad_where(people: Client, where: str, expected: tuple[int, str]) -> None:
    assert code(people.get("/v1/tables/people/rows", where=where)) == expected


@pytest.mark.parametrize(
    ("order_by", "expected"),
    [
        ("id LIMIT 1", (400, "syntax_error")),
        ("id; SELECT 1", (400, "syntax_error")),
        ("1", (422, "invalid_clause")),
        ("(SELECT 1)", (422, "invalid_clause")),
        ("colour", (422, "unknown_column")),
    ],
)
def test_bad_order_by(people: Client, order_by: str, expected: tuple[int, str]) -> None:
    assert code(people.get("/v1/tables/people/rows", order_by=order_by)) == expected


# Pages


def pages(client: Client, path: str, **params: object) -> list[list[dict]]:
    found, cursor = [], None
    while True:
        answer = client.get(path, **params, **({"cursor": cursor} if cursor else {}))
        assert answer.status_code == 200, answer.text
        found.append(answer.json()["rows"])
        cursor = answer.json()["next"]
        if cursor is None:
            return found


def test_pages_of_a_bag(client: Client) -> None:
    client.table("bag", {"a": "BIGINT"})
    values = [1, 1, 1, 2, 3, 3]
    client.insert("bag", *({"a": a} for a in values))
    for limit in range(1, 8):
        found = pages(client, "/v1/tables/bag/rows", limit=limit)
        assert [row["a"] for page in found for row in page] == values
        assert all(len(page) == limit for page in found[:-1])
    assert client.get("/v1/tables/bag/rows", limit=0).json()["rows"] == []


@pytest.fixture
def huge(client: Client) -> Client:
    """A view of two rows, (1) and (2), 10**12 times each."""
    client.table("one", {"a": "BIGINT"})
    client.insert("one", *({"a": 1} for _ in range(1000)))
    client.table("two", {"a": "BIGINT"})
    client.insert("two", {"a": 1}, {"a": 2})
    client.view("huge", "SELECT t.a FROM two AS t, one AS b, one AS c, one AS d, one AS e")
    return client


def test_a_part_of_a_huge_bag_in_every_format(huge: Client) -> None:
    path = "/v1/views/huge/rows"

    def read(accept: str, **params: object) -> bytes:
        answer = huge.get(path, accept=accept, limit=10, **params)
        assert answer.status_code == 200, answer.text
        return answer.content

    assert huge.rows("huge", limit=10) == [(1,)] * 10
    assert huge.rows("huge", limit=10, order_by="a DESC") == [(2,)] * 10
    assert huge.rows("huge", limit=10, where="a > 1") == [(2,)] * 10
    assert read(NDJSON) == b'{"a":1}\n' * 10
    assert read(CSV) == b"a\r\n" + b"1\r\n" * 10
    assert pyarrow.ipc.open_stream(read(ARROW)).read_all().to_pydict() == {"a": [1] * 10}
    assert pyarrow.parquet.read_table(BytesIO(read(PARQUET))).to_pydict() == {"a": [1] * 10}


def test_sql_over_a_huge_bag(huge: Client) -> None:
    def select(sql: str) -> list[list]:
        answer = huge.post("/v1/sql", {"sql": sql})
        assert answer.status_code == 200, answer.text
        return answer.json()["results"][0]["rows"]

    assert select("SELECT a FROM huge WHERE a = 2 LIMIT 3") == [[2]] * 3
    assert select("SELECT a, count(*) FROM one GROUP BY a") == [[1, 1000]]


def test_parts_where_the_number_of_rows_is_beyond_64_bits() -> None:
    words, counts = np.array([[7, 8, 9]]), np.array([2, 2**61 - 1, 2**62], np.int64)
    reading = Reading(Schema((Column("a", BIGINT),)), 1, words, counts)
    assert reading.part(0, 4).tolist() == [[7, 7, 8, 8]]
    at = 2**61 + 1
    assert reading.part(at - 2, at + 2).tolist() == [[8, 8, 9, 9]]
    assert reading.part(2**62 - 1, 2**62 + 3).tolist() == [[9]]
    most = Reading(reading.schema, 1, words, np.full(3, 2**62, np.int64))
    assert most.part(2**62 - 2, 2**62 + 2).tolist() == [[7, 7]]


def test_a_cursor_pins_its_epoch(people: Client) -> None:
    path = "/v1/tables/people/rows"
    first = people.get(path, limit=2, order_by="id DESC").json()
    people.change("people", *({"delete": {"id": i}} for i in range(6)))
    second = people.get(path, limit=9, order_by="id DESC", cursor=first["next"]).json()
    assert second["epoch"] == first["epoch"] == 1
    assert [row["id"] for row in first["rows"] + second["rows"]] == [5, 4, 3, 2, 1, 0]
    # The cursor alone is enough.
    assert people.get(path, limit=9, cursor=first["next"]).json() == second


def test_cursors_of_other_queries(people: Client) -> None:
    path = "/v1/tables/people/rows"
    cursor = people.get(path, limit=2, where="age > 20").json()["next"]
    for changed in ({"where": "age > 21"}, {"order_by": "id"}, {"as_of": "0"}):
        answer = people.get(path, limit=2, cursor=cursor, **changed)
        assert code(answer) == (400, "cursor_mismatch")
    people.table("others", {"id": "BIGINT", "age": "BIGINT"})
    assert code(people.get("/v1/tables/others/rows", cursor=cursor)) == (400, "cursor_mismatch")
    for nonsense in ("x", "ü", "e30", cursor[:-4], "W10"):
        assert code(people.get(path, cursor=nonsense)) == (400, "invalid_cursor")


def test_a_cursor_names_the_row_that_comes_next(people: Client) -> None:
    path = "/v1/tables/people/rows"
    found = Cursor.decode(people.get(path, limit=2).json()["next"])
    assert found.first is not None
    assert (found.first[0], found.offset) == (2, 0)
    shorter = replace(found, first=found.first[:1]).encode()
    assert code(people.get(path, cursor=shorter)) == (400, "cursor_mismatch")
    beyond = replace(found, first=(2**63, *found.first[1:])).encode()
    assert code(people.get(path, cursor=beyond)) == (400, "invalid_cursor")
    counted = replace(found, first=None, offset=4).encode()
    assert [row["id"] for row in people.get(path, cursor=counted).json()["rows"]] == [4, 5]


def test_limits(settings: Settings) -> None:
    with Client(Settings(data=settings.data, page_rows=3, page_rows_most=5)) as client:
        client.table("t", {"a": "BIGINT"})
        client.insert("t", *({"a": a} for a in range(9)))
        assert len(client.rows("t")) == 3
        assert len(client.rows("t", limit=5)) == 5
        assert code(client.get("/v1/tables/t/rows", limit=6)) == (422, "limit_too_large")
        assert code(client.get("/v1/tables/t/rows", limit=-1)) == (422, "invalid_request")
        csv = client.get("/v1/tables/t/rows", accept="text/csv").text
        assert len(csv.splitlines()) == 10
        assert len(client.get("/v1/tables/t/rows", accept="text/csv", limit=6).text.splitlines()) == 7


# Formats


@pytest.fixture
def mixed(client: Client) -> Client:
    client.table("mixed", {"i": "BIGINT", "n": "NUMERIC(5, 2)", "t": "TEXT", "b": "BOOLEAN", "d": "DATE"})
    client.insert(
        "mixed",
        {"i": 1, "n": "1.50", "t": 'a, "b"\nc', "b": True, "d": "2026-01-02"},
        {"i": 2, "n": None, "t": "", "b": False, "d": None},
        {"i": 2, "n": None, "t": "", "b": False, "d": None},
        {"i": 3, "n": "-0.07", "t": None, "b": None, "d": "1969-12-31"},
    )
    return client


def test_ndjson(mixed: Client) -> None:
    answer = mixed.get("/v1/tables/mixed/rows", accept="application/x-ndjson")
    assert answer.headers["content-type"] == "application/x-ndjson"
    assert answer.headers["freshet-epoch"] == "1"
    assert [orjson.loads(line) for line in answer.content.splitlines()] == (
        mixed.get("/v1/tables/mixed/rows").json()["rows"]
    )


def test_csv(mixed: Client) -> None:
    answer = mixed.get("/v1/tables/mixed/rows", accept="text/csv")
    assert answer.headers["content-type"].startswith("text/csv")
    assert answer.content == (
        b'i,n,t,b,d\r\n1,1.50,"a, ""b""\nc",true,2026-01-02\r\n'
        b'2,,"",false,\r\n2,,"",false,\r\n3,-0.07,,,1969-12-31\r\n'
    )


def read_arrow(content: bytes) -> pa.Table:
    return pa.ipc.open_stream(content).read_all()


def read_parquet(content: bytes) -> pa.Table:
    return pa.parquet.read_table(BytesIO(content))


@pytest.mark.parametrize(
    ("media_type", "read"),
    [
        ("application/vnd.apache.arrow.stream", read_arrow),
        ("application/vnd.apache.parquet", read_parquet),
    ],
)
def test_columnar(mixed: Client, media_type: str, read) -> None:
    answer = mixed.get("/v1/tables/mixed/rows", accept=media_type)
    assert answer.headers["content-type"] == media_type
    table = read(answer.content)
    assert table.column("i").to_pylist() == [1, 2, 2, 3]
    assert table.column("t").to_pylist() == ['a, "b"\nc', "", "", None]
    assert table.schema.field("n").type == pa.decimal128(5, 2)
    empty = read(mixed.get("/v1/tables/mixed/rows", accept=media_type, where="FALSE").content)
    assert empty.num_rows == 0
    assert empty.column_names == ["i", "n", "t", "b", "d"]


def test_what_is_read_can_be_written(mixed: Client) -> None:
    columns = {"i": "BIGINT", "n": "NUMERIC(5, 2)", "t": "TEXT", "b": "BOOLEAN", "d": "DATE"}
    rows = mixed.rows("mixed")
    for number, media_type in enumerate(
        ["text/csv", "application/vnd.apache.arrow.stream", "application/vnd.apache.parquet"]
    ):
        content = mixed.get("/v1/tables/mixed/rows", accept=media_type).content
        mixed.table(f"copy{number}", columns)
        headers = {"Content-Type": media_type}
        answer = mixed.post(f"/v1/tables/copy{number}/deltas", content=content, headers=headers)
        assert answer.json()["changes"] == 4
        assert mixed.rows(f"copy{number}") == rows


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        ("*/*", "application/json"),
        ("text/*", "text/csv"),
        ("text/html, application/xhtml+xml, */*;q=0.8", "application/json"),
        ("application/json;q=0.1, text/csv;q=0.9", "text/csv"),
        ("text/csv;q=0, application/x-ndjson", "application/x-ndjson"),
    ],
)
def test_accept(mixed: Client, accept: str, media_type: str) -> None:
    answer = mixed.get("/v1/tables/mixed/rows", accept=accept)
    assert answer.headers["content-type"].split(";")[0] == media_type


def test_not_acceptable(mixed: Client) -> None:
    assert code(mixed.get("/v1/tables/mixed/rows", accept="image/png")) == (406, "not_acceptable")
