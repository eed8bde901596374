"""Parameters of `/v1/sql`: values of every kind, in every form and dialect, never read as SQL."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator

import pytest

from service.settings.settings import Settings
from tests.service.client import Client, code


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """One service for all tests, which drop what they create."""
    with Client(Settings(data=tmp_path_factory.mktemp("data"))) as client:
        yield client


@pytest.fixture(autouse=True)
def _nothing_left(client: Client) -> Iterator[None]:
    yield
    for table in client.get("/v1/tables").json()["tables"]:
        client.delete(f"/v1/tables/{table['name']}")


def ask(client: Client, sql: str, parameters: object, dialect: str = "postgres") -> list:
    answer = client.post("/v1/sql", {"sql": sql, "parameters": parameters, "dialect": dialect})
    assert answer.status_code == 200, answer.text
    return answer.json()["results"][-1]["rows"]


def refusal(client: Client, sql: str, parameters: object, dialect: str = "postgres") -> dict:
    answer = client.post("/v1/sql", {"sql": sql, "parameters": parameters, "dialect": dialect})
    assert code(answer) == (422, "invalid_query"), answer.text
    return answer.json()


FORMS = [
    ("postgres", "SELECT $1::int - $2::int", [7, 5]),
    ("postgres", "SELECT $2::int - $1::int", [5, 7]),
    ("postgres", "SELECT :a::int - :b::int", {"a": 7, "b": 5}),
    ("postgres", "SELECT ? - ?", [7, 5]),
    ("postgres", "SELECT %(a)s - %(b)s", {"a": 7, "b": 5}),
    ("duckdb", "SELECT $a - $b", {"a": 7, "b": 5}),
    ("duckdb", "SELECT ? - $2", [7, 5]),
    ("mysql", "SELECT ? - ?", [7, 5]),
    ("tsql", "SELECT @a - @b", {"a": 7, "b": 5}),
    ("bigquery", "SELECT @a - @b", {"a": 7, "b": 5}),
    ("snowflake", "SELECT :1 - :2", [7, 5]),
    ("spark", "SELECT :a - :b", {"a": 7, "b": 5}),
    ("clickhouse", "SELECT {a: Int32} - {b: Int32}", {"a": 7, "b": 5}),
]


@pytest.mark.parametrize(("dialect", "sql", "parameters"), FORMS)
def test_each_form_of_a_parameter(client: Client, dialect: str, sql: str, parameters: object) -> None:
    assert ask(client, sql, parameters, dialect) == [[2]]


TYPED = [
    ("SMALLINT", 3),
    ("BIGINT", -(2**63) + 1),
    ("NUMERIC(38, 2)", "123456789012345678901234567890123456.78"),
    ("DOUBLE PRECISION", -1.5e300),
    ("DOUBLE PRECISION", "NaN"),
    ("REAL", 0.5),
    ("BOOLEAN", False),
    ("TEXT", 'it\'s \\ "x"; -- $1 :a ?'),
    ("DATE", "2026-01-31"),
    ("TIME", "23:59:59.500000"),
    ("TIMESTAMP", "2026-01-01T12:30:00"),
    ("TIMESTAMPTZ", "2026-01-01T12:30:00Z"),
    ("INTERVAL", "P1M2DT3H"),
    ("BYTEA", "AP8="),
    ("UUID", "c1a2b3c4-0000-4000-8000-000000000001"),
    ("JSON", {"a": [1, None, "x"]}),
    ("BIGINT[]", [1, None, 3]),
    ("TEXT[]", ["a", "it's", None]),
    ("BIGINT", None),
]


@pytest.mark.parametrize(("type", "value"), TYPED)
def test_a_value_with_a_type_comes_back(client: Client, type: str, value: object) -> None:
    """It is a value of exactly this type, in a query and in a row that is inserted."""
    given = {"v": {"type": type, "value": value}}
    assert ask(client, "SELECT :v AS v", given) == [[value]]
    client.table("t", {"v": type})
    client.post("/v1/sql", {"sql": "INSERT INTO t VALUES (:v)", "parameters": given})
    assert client.rows("t") == [(value,)]
    answer = client.post("/v1/sql", {"sql": "SELECT :v AS v", "parameters": given}).json()
    named = client.get("/v1/tables/t").json()["columns"][0]["type"]
    assert answer["results"][0]["columns"] == [{"name": "v", "type": named}]


@pytest.mark.parametrize(
    "value", [1, -1, 2**62, 0, 1.5, -0.25, 1e300, True, False, None, "x", "", "1", [1, 2], ["a", None]]
)
def test_a_value_without_a_type_is_a_literal(client: Client, value: object) -> None:
    (found,) = ask(client, "SELECT $1 AS v", [value])
    expected = str(value) if value in (1.5, -0.25) and not isinstance(value, list) else value
    assert found == [expected] or found == [value]


def test_a_text_takes_the_type_of_its_place(client: Client) -> None:
    client.table("t", {"d": "DATE", "n": "NUMERIC(5, 2)"})
    client.insert("t", {"d": "2026-01-01", "n": "1.50"}, {"d": "2026-02-01", "n": "2.50"})
    assert ask(client, "SELECT n FROM t WHERE d > :d", {"d": "2026-01-15"}) == [["2.50"]]
    assert ask(client, "SELECT d FROM t WHERE n = :n", {"n": 1.5}) == [["2026-01-01"]]


@pytest.mark.parametrize("seed", range(10))
def test_no_text_is_read_as_sql(client: Client, seed: int) -> None:
    chance = random.Random(seed)
    words = [
        "'",
        '"',
        "\\",
        ";",
        "--",
        "/*",
        "*/",
        "$1",
        ":a",
        "?",
        "$$",
        "{",
        "}",
        "\n",
        "%",
        "DROP",
        "é",
        "E'",
    ]
    text = "".join(chance.choices(words, k=8))
    marks = {"postgres": ":", "mysql": ":", "bigquery": "@", "snowflake": ":", "duckdb": "$"}
    for dialect, mark in marks.items():
        assert ask(client, f"SELECT {mark}a AS v", {"a": text}, dialect) == [[text]], (dialect, text)


def test_statements_that_change_rows(client: Client) -> None:
    client.table("t", {"id": "BIGINT", "s": "TEXT"}, ["id"])
    run = "INSERT INTO t VALUES ($1, $2), ($3, $2);"
    run += "UPDATE t SET s = $4 WHERE id = $3; DELETE FROM t WHERE id = $1"
    ask_all = client.post("/v1/sql", {"sql": run, "parameters": [1, "x", 2, "y"]})
    assert [result["count"] for result in ask_all.json()["results"]] == [2, 1, 1]
    assert client.rows("t") == [(2, "y")]
    sql = "MERGE INTO t USING (SELECT :id AS id, :s AS s) AS n ON t.id = n.id"
    sql += " WHEN MATCHED THEN UPDATE SET s = n.s"
    assert client.post("/v1/sql", {"sql": sql, "parameters": {"id": 2, "s": "z"}}).status_code == 200
    assert client.rows("t") == [(2, "z")]
    assert ask(client, "SELECT s FROM t WHERE id = ANY(:ids) LIMIT :most", {"ids": [1, 2], "most": 1}) == [
        ["z"]
    ]
    block = "BEGIN; INSERT INTO t VALUES (:id, 'b'); COMMIT"
    assert client.post("/v1/sql", {"sql": block, "parameters": {"id": 9}}).status_code == 200
    assert ask(client, "CREATE TABLE c AS SELECT $1 AS a; SELECT a FROM c", [5]) == [[5]]


def test_a_version_of_a_table(client: Client) -> None:
    client.table("t", {"a": "BIGINT"})
    first = client.insert("t", {"a": 1})
    client.insert("t", {"a": 2})
    assert ask(client, "SELECT a FROM t VERSION AS OF $1", [first]) == [[1]]


def test_a_long_query_and_long_parameters(client: Client) -> None:
    """Both are planned in a process of their own."""
    client.table("t", {"a": "BIGINT"})
    client.insert("t", {"a": 5}, {"a": 6})
    long = f"SELECT a FROM t WHERE a = :a AND a NOT IN ({', '.join(map(str, range(100, 9000)))})"
    assert ask(client, long, {"a": 5}) == [[5]]
    assert ask(client, "SELECT a FROM t WHERE a = ANY(:many)", {"many": list(range(6, 6000))}) == [[6]]


def test_a_named_type(client: Client) -> None:
    client.post("/v1/sql", {"sql": "CREATE TYPE mood AS ENUM ('sad', 'happy')"})
    assert ask(client, "SELECT $1 AS m", [{"type": "mood", "value": "happy"}]) == [["happy"]]
    found = refusal(client, "SELECT $1 AS m", [{"type": "mood", "value": "glad"}])
    assert found["position"] == {"line": 1, "column": 8}


REFUSED = [
    ("SELECT 1,\n  :nmae, :name", {"name": 1}, "parameter nmae has no value", "did you mean name?", (2, 3)),
    ("SELECT $1", None, "parameter $1 has no value", "parameters", (1, 8)),
    ("SELECT $1, $2", [1], "parameter 2 has no value", "parameters", (1, 12)),
    ("SELECT ?, ?", [1], "number 2 of the statement", "parameters", (1, 11)),
    ("SELECT ?", {"a": 1}, "parameter a", "", None),
    ("SELECT :a", {"a": 1, "b": 2}, "parameter b, which the SQL does not have", "leave the value out", None),
    ("SELECT $1", [1, 2], "parameter 2, which the SQL does not have", "leave the value out", None),
    ("SELECT ?; SELECT ?", [1, 2], "? counts the parameters of one statement", "$1", (1, 8)),
    ("SELECT 1 FROM $1", ["t"], "not for a name", "", (1, 15)),
    ("SELECT 1 AS $1", ["t"], "not for a name", "", (1, 13)),
    ("SELECT 1 AS a ORDER BY $1", [1], "not the number of a column", "name", (1, 24)),
    ("SELECT 1 AS a ORDER BY ($1) DESC", [1], "not the number of a column", "name", (1, 25)),
    ("SELECT 1 AS a GROUP BY $1", [1], "not the number of a column", "name", (1, 24)),
    ("CREATE TABLE x (a INT DEFAULT $1)", [1], "a definition cannot have parameters", "", (1, 31)),
    ("SELECT $1", [{"type": "DATE", "value": "2026-13-01"}], "not a valid DATE", "", (1, 8)),
    ("SELECT\n $1", [{"type": "BIGINT", "value": 1.5}], "not a valid BIGINT", "", (2, 2)),
    ("SELECT $1", ["a\0b"], "U+0000", "", (1, 8)),
    ("SELECT $1", [10**38], "more than 38 digits", "", (1, 8)),
    ("SELECT $1", [[[{}]]], "an object is not the value", "JSON", (1, 8)),
]


@pytest.mark.parametrize(("sql", "parameters", "detail", "hint", "place"), REFUSED)
def test_what_is_refused(
    client: Client, sql: str, parameters: object, detail: str, hint: str, place: tuple | None
) -> None:
    found = refusal(client, sql, parameters)
    assert detail.replace("$1 has", "1 has") in found["detail"] and hint in found["hint"]
    assert (tuple(found["position"].values()) if "position" in found else None) == place


def test_a_view_cannot_have_parameters(client: Client) -> None:
    client.table("t", {"a": "BIGINT"})
    sql = "CREATE VIEW v AS\nSELECT a FROM t WHERE a = $1"
    answer = client.post("/v1/sql", {"sql": sql, "parameters": [1]})
    assert answer.status_code == 422
    assert answer.json()["detail"] == "a parameter is not supported in a definition"
    assert answer.json()["hint"] == "write the value itself"
    assert answer.json()["position"]["line"] == 2


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        (1, "invalid_request"),
        ("x", "invalid_request"),
        ([{}], "invalid_request"),
        ([{"type": "DATE"}], "invalid_request"),
        ([{"type": 1, "value": 2}], "invalid_request"),
        ([{"type": "DAET", "value": None}], "invalid_type"),
        ([{"type": ")", "value": None}], "invalid_type"),
    ],
)
def test_parameters_of_another_shape(client: Client, parameters: object, expected: str) -> None:
    body = json.dumps({"sql": "SELECT $1", "parameters": parameters})
    answer = client.post("/v1/sql", content=body, headers={"Content-Type": "application/json"})
    assert code(answer) == (422, expected), answer.text
