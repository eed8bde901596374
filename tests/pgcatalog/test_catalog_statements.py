"""Statements that read the catalogs besides SELECT: what runs, and what is refused and why."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from service.settings.settings import Settings
from tests.service.client import Client

_RELATIONS = "SELECT oid, relname, relkind, relacl FROM pg_class WHERE relnamespace = 11"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with Client(Settings(data=tmp_path_factory.mktemp("statements") / "data")) as client:
        _run(client, "CREATE TABLE notes (id BIGINT PRIMARY KEY, name TEXT)")
        yield client


def _run(client: Client, sql: str) -> list[list]:
    answer = client.post("/v1/sql", {"sql": sql})
    assert answer.status_code == 200, answer.text
    return answer.json()["results"][-1].get("rows", [])


def test_a_table_of_the_rows_of_a_catalog(client: Client) -> None:
    _run(client, f"CREATE TABLE kept AS {_RELATIONS}")
    asked = f"SELECT * FROM ({_RELATIONS}) AS r ORDER BY oid"
    assert _run(client, "SELECT * FROM kept ORDER BY oid") == _run(client, asked)
    _run(
        client, "CREATE TABLE names (name, shown) AS SELECT amname, amhandler FROM pg_catalog.pg_am WITH DATA"
    )
    assert ["btree", "bthandler"] in _run(client, "SELECT * FROM names")
    _run(client, "CREATE TABLE columns AS SELECT table_name, column_name FROM information_schema.columns")
    assert _run(client, "SELECT count(*) FROM columns WHERE table_name = 'notes'") == [[2]]
    _run(client, "CREATE TABLE mine AS SELECT current_user AS me, n.name FROM notes AS n")
    _run(client, "CREATE VIEW kinds AS SELECT relkind, count(*) AS n FROM kept GROUP BY relkind")
    assert _run(client, "SELECT sum(n) > 100 FROM kinds") == [[True]]


@pytest.mark.parametrize(
    ("insert", "rows"),
    [
        ("INSERT INTO notes SELECT oid, nspname FROM pg_namespace WHERE oid = 11", [[11, "pg_catalog"]]),
        ("INSERT INTO notes (name, id) SELECT 'public'::regnamespace::text, 1", [[1, "public"]]),
        ("INSERT INTO notes WITH a AS (SELECT oid FROM pg_am) SELECT min(oid), 'am' FROM a", [[2, "am"]]),
        ("WITH a AS (SELECT oid FROM pg_am) INSERT INTO notes SELECT max(oid), 'am' FROM a", [[4000, "am"]]),
        ("INSERT INTO notes SELECT c.relnatts, n.name FROM pg_class c JOIN notes n ON n.id = c.oid", []),
        ("INSERT INTO notes SELECT oid, amname FROM pg_am WHERE oid < 3 ON CONFLICT DO NOTHING", [[2, "heap"]]),  # noqa: E501
        ("BEGIN; INSERT INTO notes SELECT oid, amname FROM pg_am WHERE oid = 403; COMMIT", [[403, "btree"]]),
    ],
)  # fmt: skip
def test_rows_of_the_catalogs_are_inserted(client: Client, insert: str, rows: list[list]) -> None:
    _run(client, insert)
    assert _run(client, "SELECT id, name FROM notes") == rows
    _run(client, "DELETE FROM notes")


@pytest.mark.parametrize(
    ("sql", "detail"),
    [
        ("CREATE VIEW v AS SELECT relname FROM pg_class", "a view cannot read the catalog pg_class"),
        (
            "CREATE VIEW v AS SELECT 1 AS one FROM information_schema.tables",
            "a view cannot read the catalog information_schema.tables",
        ),
        ("UPDATE notes SET name = 'x' WHERE id IN (SELECT oid FROM pg_am)", "UPDATE cannot read the catalog pg_am"),  # noqa: E501
        ("DELETE FROM notes USING pg_catalog.pg_am a WHERE a.oid = id", "DELETE cannot read the catalog pg_am"),  # noqa: E501
        (
            "INSERT INTO notes SELECT 1, pg_cancel_backend(1)::text",
            "pg_cancel_backend can only be a column of the whole query",
        ),
        (
            "CREATE TABLE signals AS SELECT pg_cancel_backend(1) AS sent",
            "pg_cancel_backend can only be a column of the whole query",
        ),
        ("INSERT INTO pg_catalog.pg_am SELECT * FROM pg_am", 'no table or view "pg_catalog.pg_am"'),
        (
            "EXPLAIN LOGICAL SELECT relname FROM pg_class",
            "a query of the catalogs has no plan, because it cannot be a view",
        ),
    ],
)  # fmt: skip
def test_a_refusal_names_the_construct_and_the_way_out(client: Client, sql: str, detail: str) -> None:
    answer = client.post("/v1/sql", {"sql": sql})
    assert answer.status_code == 422
    assert answer.json()["detail"] == detail
    assert answer.json()["hint"] or "INSERT INTO pg_catalog" in sql


def test_explain_says_how_a_query_of_the_catalogs_is_answered(client: Client) -> None:
    found = _run(client, "EXPLAIN SELECT amname, pg_get_userbyid(10) FROM pg_am JOIN notes ON id = oid")
    assert found == [["DuckDB over pg_catalog.pg_am (7 rows), notes (0 rows)"]]


def test_formats_are_those_of_other_queries(client: Client) -> None:
    """Also with places and widths; a part that is not known is refused, and does not stay in the text."""
    asked = "SELECT format('Hello %s, %1$s|%3s|%-3s|%%|%I', 'World', 1, 2, 'a b'), quote_ident('Foo bar')"
    assert _run(client, asked) == [['Hello World, World|  1|2  |%|"a b"', '"Foo bar"']]
    refused = client.post("/v1/sql", {"sql": "SELECT format('%d', 1), quote_ident('a')"})
    assert refused.status_code == 422
