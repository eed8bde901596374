"""Results of `/v1/sql` in every format, and page by page."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import replace

import httpx
import orjson
import pyarrow as pa
import pyarrow.parquet
import pytest

from service.accounts.principals import ANYONE, Principal
from service.accounts.privileges import PREDEFINED
from service.decoding.parsing import JSON
from service.errors import HistoryGone, Invalid
from service.reading.kept_answers import KeptAnswers
from service.settings.settings import Settings
from tests.service.client import Client, code

VALUES = [
    "1::smallint",
    "(-5)::bigint",
    "1.50::decimal(10, 2)",
    "12345678901234567890123456789012345678::decimal(38, 0)",
    "0.1::real",
    "'nan'::double",
    "true",
    "'it''s, \"x\"'",
    "''",
    "NULL",
    "NULL::date",
    "date '2026-01-02'",
    "timestamp '2026-01-02 03:04:05.5'",
    "timestamptz '2026-01-02 03:04:05+02'",
    "time '10:00:01.5'",
    "interval '1 year 2 months 3 days 4 hours'",
    "'\\xAB'::bytea",
    """'{"a": [1, null]}'::json""",
    "'00000000-0000-0000-0000-000000000001'::uuid",
    "sum(5)",
    "sum(9223372036854775807) + sum(9223372036854775807)",
    "sum(170141183460469231731687303715884105727)",
    "ARRAY[sum(9223372036854775807) + sum(9223372036854775807)]",
    "ARRAY[sum(170141183460469231731687303715884105727), 1]",
    "ARRAY[sum(5), NULL]",
    "ARRAY[1, NULL]::bigint[]",
    "ARRAY[]::text[]",
    "ARRAY[date '2026-01-02']",
    "row(1, 'x')",
    "'x'::text COLLATE \"C\"",
]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """One service for all tests of this file."""
    with Client(Settings(data=tmp_path_factory.mktemp("data"))) as client:
        client.table("numbers", {"n": "BIGINT", "t": "TEXT"})
        client.table("wanted", {"a": "BIGINT"})
        client.insert("numbers", *({"n": n, "t": f"text {n}"} for n in range(250)))
        yield client


def sql(client: Client, text: str, format: str = "", **members: object) -> httpx.Response:
    path = "/v1/sql" + (f"?format={format}" if format else "")
    return client.post(path, {"sql": text} | members)


def table(body: bytes, format: str) -> pa.Table:
    if format == "arrow":
        return pa.ipc.open_stream(body).read_all()
    return pyarrow.parquet.read_table(io.BytesIO(body))


@pytest.mark.parametrize("value", VALUES)
def test_each_kind_of_value_in_each_format(client: Client, value: str) -> None:
    """NDJSON is the same as JSON, CSV too, and Arrow has as many rows and the same columns."""
    text = f"SELECT {value} AS v, 1 AS one"
    whole = sql(client, text)
    if whole.status_code != 200:  # the dialect does not have it
        assert code(whole)[0] in (400, 422)
        pytest.skip(whole.json()["detail"])
    (result,) = whole.json()["results"]
    v = result["rows"][0][0]
    lines = sql(client, text, "ndjson")
    assert lines.headers["content-type"] == "application/x-ndjson"
    assert [orjson.loads(line) for line in lines.content.splitlines()] == [{"v": v, "one": 1}]
    header, row = csv.reader(io.StringIO(sql(client, text, "csv").text))
    assert header == ["v", "one"]
    written = "" if v is None else v if isinstance(v, str) else None
    assert row[0] == written if written is not None else json.loads(row[0]) == v
    for format in ("arrow", "parquet"):
        answer = sql(client, text, format)
        assert answer.status_code == 200, answer.text
        assert answer.headers["freshet-epoch"] == str(result["epoch"])
        found = table(answer.content, format)
        assert (found.column_names, found.num_rows) == (["v", "one"], 1)
        assert (found.column(0)[0].as_py() is None) == (v is None)


def test_the_rows_of_the_last_statement(client: Client) -> None:
    text = "SELECT 1 AS a; SELECT n FROM numbers ORDER BY n DESC"
    assert sql(client, text, "csv").text.split()[:3] == ["n", "249", "248"]
    accepted = client.post("/v1/sql", {"sql": text}, headers={"Accept": "text/csv"})
    assert accepted.text == sql(client, text, "csv").text
    assert len(table(sql(client, text, "arrow", limit=7).content, "arrow")) == 7
    assert sql(client, "SHOW TABLES", "ndjson").content.startswith(b'{"name":"numbers"')
    assert (
        sql(client, "SELECT n FROM numbers WHERE n > :n", "csv", parameters={"n": 248}).text == "n\r\n249\r\n"
    )


def test_rows_that_a_change_returns(client: Client) -> None:
    client.table("kept", {"a": "BIGINT"})
    assert sql(client, "INSERT INTO kept VALUES (5) RETURNING a", "csv").text == "a\r\n5\r\n"
    assert client.rows("kept") == [(5,)]


@pytest.mark.parametrize(
    "text",
    ["", "INSERT INTO numbers VALUES (1, 'x')", "SELECT 1; CREATE TABLE made (a INT)", "BEGIN; COMMIT"],
)
def test_a_script_without_rows_is_refused_before_it_runs(client: Client, text: str) -> None:
    before = client.runtime.snapshot.upper
    answer = sql(client, text, "csv")
    assert code(answer) == (422, "invalid_query")
    assert client.runtime.snapshot.upper == before
    assert client.get("/v1/tables/made").status_code == 404


def test_two_columns_of_one_name(client: Client) -> None:
    assert sql(client, "SELECT 1 AS a, 2 AS a").json()["results"][0]["rows"] == [[1, 2]]
    assert code(sql(client, "SELECT 1 AS a, 2 AS a", "ndjson")) == (422, "duplicate_column")


def test_problems_are_problems_in_every_format(client: Client) -> None:
    for format in ("json", "csv", "arrow"):
        assert code(sql(client, "SELECT x FROM nowhere", format)) == (422, "unknown_table")
    answer = client.post("/v1/sql", {"sql": "SELECT 1"}, headers={"Accept": "image/png"})
    assert code(answer) == (406, "not_acceptable")


@pytest.mark.parametrize("limit", [1, 99, 125, 249, 250, 1000])
def test_pages_together_are_the_result(client: Client, limit: int) -> None:
    text = "SELECT n, t, sum(n) OVER () AS s, ARRAY[n, NULL] AS a, {'k': t} AS d FROM numbers"
    (whole,) = sql(client, text, dialect="duckdb").json()["results"]
    (page,) = sql(client, text, dialect="duckdb", limit=limit).json()["results"]
    rows, columns = page["rows"], page["columns"]
    while "next" in page:
        assert len(page["rows"]) == limit
        (page,) = client.post("/v1/sql", {"cursor": page["next"], "limit": limit}).json()["results"]
        assert (page["columns"], page["epoch"]) == (columns, whole["epoch"])
        rows += page["rows"]
    assert sorted(map(str, rows)) == sorted(map(str, whole["rows"]))
    assert columns == whole["columns"]


def test_a_page_stays_what_it_was(client: Client) -> None:
    """The result is kept: a change of the table, and the same cursor once more, show the same rows."""
    client.table("moving", {"n": "BIGINT"})
    client.insert("moving", *({"n": n} for n in range(10)))
    (page,) = sql(client, "SELECT n FROM moving ORDER BY n", limit=4).json()["results"]
    client.insert("moving", {"n": -1})
    for _ in range(2):
        rest = client.post("/v1/sql", {"cursor": page["next"]}).json()["results"][0]
        assert rest["rows"] == [[n] for n in range(4, 10)]
        assert "next" not in rest
    lines = client.post("/v1/sql?format=csv", {"cursor": page["next"], "limit": 2})
    assert lines.text == "n\r\n4\r\n5\r\n"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({}, (422, "invalid_request")),
        ({"sql": "SELECT 1", "cursor": "x"}, (422, "invalid_request")),
        ({"cursor": "x"}, (400, "invalid_cursor")),
        ({"cursor": "e30"}, (400, "invalid_cursor")),
        ({"cursor": "eyJhbnN3ZXIiOiJ4Iiwic3RhcnQiOjB9"}, (410, "cursor_gone")),
        ({"sql": "SELECT 1", "limit": 0}, (422, "invalid_request")),
        ({"cursor": "e30", "parameters": [1]}, (422, "invalid_request")),
    ],
)
def test_bad_requests(client: Client, body: dict, expected: tuple[int, str]) -> None:
    assert code(client.post("/v1/sql", body)) == expected


class Bytes(bytes):
    @property
    def nbytes(self) -> int:
        return len(self)


def test_what_is_kept_has_a_budget_and_a_time() -> None:
    now = [0.0]
    kept = KeptAnswers[Bytes](100, 10, lambda: now[0])
    first, second = kept.keep(Bytes(b"a" * 40)), kept.keep(Bytes(b"b" * 40))
    now[0] = 5.0
    assert kept.get(first) == b"a" * 40
    third = kept.keep(Bytes(b"c" * 40))  # the one that was not read for longest goes
    with pytest.raises(HistoryGone):
        kept.get(second)
    assert (kept.get(first)[:1], kept.get(third)[:1]) == (b"a", b"c")
    now[0] = 15.5
    with pytest.raises(HistoryGone):
        kept.get(first)
    with pytest.raises(Invalid) as refused:
        kept.keep(Bytes(101))
    assert refused.value.code == "answer_too_large"
    assert len({kept.keep(Bytes(b"")) for _ in range(50)}) == 50


def test_what_is_kept_is_for_the_one_who_has_asked() -> None:
    """Another key does not get it, nor the same one with other rights, nor anybody once there are keys."""
    kept = KeptAnswers[Bytes](100, 10)
    one = Principal("1", "one", "read", PREDEFINED["read"], ("t",), b"salt")
    name = kept.keep(Bytes(b"a"), one)
    assert kept.get(name, replace(one, stamp=b"of a new secret")) == b"a"
    for other in (replace(one, id="2"), replace(one, limits=("u",)), replace(one, limits=None), ANYONE):
        with pytest.raises(HistoryGone):
            kept.get(name, other)
    with pytest.raises(HistoryGone):
        kept.get(kept.keep(Bytes(b"b")), one)


@pytest.mark.parametrize(
    ("sql", "media_type", "told"),
    [
        ("SELECT 1 AS n", "text/csv", ("SELECT", None)),
        ("INSERT INTO wanted VALUES (1) RETURNING a", "text/csv", ("INSERT", "1")),
        ("INSERT INTO wanted VALUES (1)", JSON, (None, None)),
        ("SELECT 1 AS a, 2 AS a", JSON, (None, None)),
        ("SELECT 1 AS n; DELETE FROM wanted WHERE a = 7", JSON, (None, None)),
    ],
)
def test_json_where_another_format_says_less(
    client: Client, sql: str, media_type: str, told: tuple[str | None, str | None]
) -> None:
    accepted = {"Accept": "text/csv, application/json;q=0.5"}
    answer = client.post("/v1/sql", {"sql": sql}, headers=accepted)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].partition(";")[0] == media_type
    headers = answer.headers
    assert (headers.get("freshet-statement"), headers.get("freshet-count")) == told
    alone = client.post("/v1/sql", {"sql": sql}, headers={"Accept": "text/csv"})
    assert (alone.status_code == 200) == (media_type != JSON)
