"""Messages about rows: the key of a conflict, the line of a value, and no path of the server."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.concealing import conceal, hide
from service.settings.settings import Settings
from tests.service.client import Client, code

CSV = {"Content-Type": "text/csv"}
NDJSON = {"Content-Type": "application/x-ndjson"}


def detail(client: Client, *changes: dict, table: str = "t") -> str:
    answer = client.deltas(table, *changes)
    assert answer.status_code == 409, answer.text
    return answer.json()["detail"]


def said(client: Client, sql: str) -> str:
    answer = client.post("/v1/sql", {"sql": sql})
    assert answer.status_code == 409, answer.text
    return answer.json()["detail"]


@pytest.fixture
def keyed(client: Client) -> Client:
    client.post(
        "/v1/sql",
        {
            "sql": "CREATE TABLE t (a BIGINT, b TEXT, c DATE, PRIMARY KEY (b, a));"
            "CREATE TABLE bag (a BIGINT, b TEXT);"
            "CREATE TABLE u (a BIGINT PRIMARY KEY, b TEXT UNIQUE, t_b TEXT, t_a BIGINT,"
            " FOREIGN KEY (t_b, t_a) REFERENCES t (b, a));"
        },
    )
    client.insert("t", {"a": 1, "b": "x", "c": "2026-01-01"})
    return client


def test_a_conflict_shows_the_key(keyed: Client) -> None:
    row = {"a": 1, "b": "x"}
    for found in (
        detail(keyed, {"insert": {"a": 2, "b": "y"}}, {"insert": row}),
        said(keyed, "INSERT INTO t (a, b) VALUES (1, 'x')"),
    ):
        assert "b = x, a = 1" in found or "a = 1, b = x" in found
    for found in (detail(keyed, {"delete": {"a": 7, "b": "new"}}),):
        assert "a = 7" in found and "b = new" in found
    assert "a = 3, b = NULL" in detail(keyed, {"delete": {"a": 3, "b": None}}, table="bag")
    assert "b = q" in detail(keyed, {"insert": {"a": 1, "b": "q"}}, {"insert": {"a": 2, "b": "q"}}, table="u")
    found = detail(keyed, {"insert": {"a": 1, "t_b": "none", "t_a": 9}}, table="u")
    assert "none" in found and "9" in found


def test_what_is_shown_of_a_key_is_bounded(keyed: Client) -> None:
    long = "x" * 1_000_000
    keyed.insert("t", {"a": 1, "b": long})
    found = detail(keyed, {"insert": {"a": 1, "b": long}})
    assert "xxx..." in found and len(found) < 600
    assert len(detail(keyed, {"delete": {"a": 1, "b": long}}, table="bag")) < 600
    keyed.insert("u", {"a": 1, "b": long})
    assert len(detail(keyed, {"insert": {"a": 2, "b": long}}, table="u")) < 600


# Lines


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("a,b\n1,x\ntwo,y\n", 3),
        ("a,b\r\n1,x\r\ntwo,y\r\n", 3),
        ('a,b\n1,"x\n\ny"\ntwo,z', 5),
        ('a,b\n1,"x""\n""y"\n\n\ntwo,z', 6),
        ('"a","b"\n1,"x\r\ny"\ntwo,z', 4),
        ("a,b\n" + "1,x\n" * 100_000 + "two,y\n" + "1,x\n" * 1000, 100_002),
        ("\n\na,b\n1,x\n\ntwo,y", 6),
    ],
)
def test_a_value_of_csv_has_its_line_and_column(client: Client, body: str, line: int) -> None:
    client.table("t", {"a": "BIGINT", "b": "TEXT"})
    answer = client.post("/v1/tables/t/deltas", content=body.encode(), headers=CSV)
    assert code(answer) == (422, "invalid_value")
    assert answer.json()["detail"].startswith(f"line {line}: column a: ")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"a,b\n1,x\n2\n", "line 3 has 1 fields, and the header has 2"),
        (b'a,b\n1,"x\ny"\n2,x,y\n', "line 4 has 3 fields, and the header has 2"),
        (b"a,b\n1,x\n2,\xff\n", "line 3 is not UTF-8"),
    ],
)
def test_broken_csv_has_its_line(client: Client, body: bytes, said: str) -> None:
    client.table("t", {"a": "BIGINT", "b": "TEXT"})
    answer = client.post("/v1/tables/t/deltas", content=body, headers=CSV)
    assert code(answer) == (400, "invalid_body")
    assert answer.json()["detail"] == said


def test_lines_and_elements_of_json(client: Client) -> None:
    client.table("t", {"a": "BIGINT"})
    good, bad = b'{"insert": {"a": 1}}', b'{"insert": {"a": "x"}}'
    for lines, number in (([good, b"", bad], 3), ([good] * 2000 + [b"  ", bad], 2002)):
        answer = client.post("/v1/tables/t/deltas", content=b"\n".join(lines), headers=NDJSON)
        assert answer.json()["detail"].startswith(f"line {number}: column a: ")
    for lines, said in (
        ([good, b"{"], "line 2 is not JSON"),
        ([good, b"[]"], "line 2 is not a change"),
        ([good, b'{"insert": {"b": 1}}'], "line 2 has a column b"),
    ):
        answer = client.post("/v1/tables/t/deltas", content=b"\n".join(lines), headers=NDJSON)
        assert answer.json()["detail"].startswith(said)
    answer = client.deltas("t", {"insert": {"a": 1}}, {"insert": {"a": "x"}})
    assert answer.json()["detail"].startswith("change 1: column a: ")


def test_an_operation_of_csv_has_its_line(client: Client) -> None:
    client.table("t", {"a": "BIGINT"})
    answer = client.post("/v1/tables/t/deltas", content=b"a,_op\n1,insert\n2,remove\n", headers=CSV)
    assert code(answer) == (422, "invalid_change")
    assert answer.json()["detail"].startswith("line 3: _op 'remove'")


# Names with a schema


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ('CREATE TABLE "analytics"."stg_orders" (a BIGINT)', (404, "unknown_schema")),
        ("CREATE VIEW analytics.v AS SELECT 1 AS a", (404, "unknown_schema")),
        ("INSERT INTO analytics.stg_orders VALUES (1)", (422, "unknown_table")),
        ("DELETE FROM analytics.stg_orders", (422, "unknown_table")),
        ("UPDATE analytics.stg_orders SET a = 1", (422, "unknown_table")),
        ("SELECT * FROM analytics.stg_orders", (422, "unknown_table")),
        ("SELECT * FROM db.public.stg_orders", (422, "unknown_table")),
        ("DROP TABLE analytics.stg_orders", (404, "unknown_name")),
    ],
)
def test_a_schema_that_is_not_there(client: Client, sql: str, expected: tuple[int, str]) -> None:
    client.table("stg_orders", {"a": "BIGINT"})
    answer = client.post("/v1/sql", {"sql": sql})
    assert code(answer) == expected
    assert ("analytics" if "analytics" in sql else "db.public") in answer.json()["detail"]


def test_the_schema_that_everything_is_in(client: Client) -> None:
    client.post("/v1/sql", {"sql": "CREATE TABLE public.t (a BIGINT); INSERT INTO public.t VALUES (1)"})
    answer = client.post("/v1/sql", {"sql": "SELECT t.a FROM public.t"})
    assert answer.json()["results"][0]["rows"] == [[1]]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("analytics.stg_orders", (404, "unknown_name")),
        ('"analytics"."stg_orders"', (404, "unknown_name")),
        ('db.a."stg_orders"', (404, "unknown_name")),
        ("a.b.c.d", (422, "invalid_name")),
        ("a..b", (422, "invalid_name")),
    ],
)
def test_paths_with_a_schema_that_is_not_there(client: Client, name: str, expected: tuple[int, str]) -> None:
    for path in ("/v1/tables/{}", "/v1/tables/{}/rows", "/v1/views/{}", "/v1/views/{}/changes"):
        assert code(client.get(path.format(name))) == expected


# Paths


def test_paths_of_the_server_are_concealed(tmp_path: Path) -> None:
    hide([tmp_path / "data"])
    assert conceal(f"no file {tmp_path}/data/in/x.csv") == "no file in/x.csv"
    assert conceal(f"no file file://{tmp_path}/data/in/x.csv") == "no file in/x.csv"
    assert conceal(f"cannot list {tmp_path}/data") == "cannot list ..."
    assert conceal("1/2 of a/b") == "1/2 of a/b"
    assert conceal("GET /v1/tables/x") == "GET /v1/tables/x"


def test_no_answer_has_a_path_of_the_server(settings: Settings) -> None:
    with Client(settings) as client:
        client.table("t", {"a": "BIGINT"})
        client.view("v", "SELECT a FROM t")
        outside = str(settings.data.parent)
        file = settings.data / "full"
        file.mkdir()
        (file / "x").write_text("")
        for path, body in [
            ("/v1/loads", {"table": "t", "format": "csv", "path": "nowhere.csv"}),
            ("/v1/loads", {"table": "t", "format": "csv", "path": "../../etc"}),
            ("/v1/loads", {"table": "t", "format": "csv", "path": "\0"}),
            ("/v1/exports", {"view": "v", "format": "csv", "path": "full"}),
            ("/v1/exports", {"view": "v", "format": "csv", "path": "full/x"}),
            ("/v1/exports", {"view": "v", "format": "csv", "path": "."}),
            ("/v1/exports", {"view": "v", "format": "csv", "path": "state"}),
            ("/v1/sinks", {"name": "s", "view": "v", "path": ".."}),
            ("/v1/sources", {"name": "s", "table": "t", "format": "csv", "path": "nowhere"}),
        ]:
            answer = client.post(path, body)
            assert answer.status_code in (409, 422), (path, body, answer.text)
            assert outside not in answer.text, (path, body, answer.text)
