"""Numbers, characters and types that are none: each is refused with a code at every door."""

from __future__ import annotations

import pytest

from tests.service.client import Client, code

DIGITS = "9" * 5_000
"""More than Python reads as an integer."""
HALF = "\\ud800"
"""JSON's escape of half a character."""


@pytest.fixture
def filled(client: Client) -> Client:
    client.table("t", {"a": "BIGINT"})
    client.insert("t", {"a": 1})
    client.view("v", "SELECT a FROM t")
    return client


STATEMENTS = {
    "epoch": (f"SELECT * FROM v VERSION AS OF {DIGITS}", "constant_too_large"),
    "epoch as a text": (f"SELECT * FROM v VERSION AS OF '{DIGITS}'", "invalid_query"),
    "epoch of Snowflake": (f"SELECT * FROM v AT (VERSION => '{DIGITS}')", "invalid_query"),
    "digits of another script": ("SELECT * FROM v VERSION AS OF '\u0661'", "invalid_query"),
    "precision": (f"CREATE TABLE w (a NUMERIC({DIGITS}))", "constant_too_large"),
    "large precision": (f"CREATE TABLE w (a NUMERIC({'9' * 900}))", "type_mismatch"),
    "dimensions": (f"CREATE TABLE w (a BIGINT{'[]' * 300})", "sql_too_deep"),
}


@pytest.mark.parametrize(("sql", "expected"), STATEMENTS.values(), ids=STATEMENTS)
def test_statements(filled: Client, sql: str, expected: str) -> None:
    assert code(filled.post("/v1/sql", {"sql": sql})) == (422, expected)


@pytest.mark.parametrize("before", ["", "INSERT INTO t ", "EXPLAIN ", "CREATE VIEW w AS "])
def test_half_a_character_in_sql(filled: Client, before: str) -> None:
    sql = "SELECT length(U&'\\d800') AS n"
    assert code(filled.post("/v1/sql", {"sql": before + sql})) == (400, "syntax_error")
    assert code(filled.post("/v1/views", {"name": "w", "sql": sql})) == (400, "syntax_error")


TYPES = {
    "precision": (f"NUMERIC({DIGITS})", "type_mismatch"),
    "digits of another script": ("NUMERIC(\u0661)", "type_mismatch"),
    "dimensions": (f"BIGINT{'[]' * 5_000}", "sql_too_deep"),
    "dimensions that fit Python": (f"BIGINT{'[]' * 300}", "sql_too_deep"),
    "parentheses": ("(" * 5_000, "invalid_type"),
}


@pytest.mark.parametrize(("type", "expected"), TYPES.values(), ids=TYPES)
def test_types_of_columns(filled: Client, type: str, expected: str) -> None:
    columns = [{"name": "a", "type": type}]
    assert code(filled.post("/v1/tables", {"name": "w", "columns": columns})) == (422, expected)


def test_types_nest_sixteen_levels_deep(filled: Client) -> None:
    """Each level doubles the marks in the text of a value."""
    columns = [{"name": "a", "type": f"BIGINT{'[]' * 16}"}]
    assert filled.post("/v1/tables", {"name": "w", "columns": columns}).status_code == 201
    assert filled.get("/v1/tables/w").json()["columns"][0]["type"] == f"BIGINT{'[]' * 16}"
    columns = [{"name": "a", "type": f"BIGINT{'[]' * 17}"}]
    assert code(filled.post("/v1/tables", {"name": "x", "columns": columns})) == (422, "sql_too_deep")


@pytest.mark.parametrize(
    "path", ["/v1/sql", "/v1/tables", "/v1/views", "/v1/loads", "/v1/sources", "/v1/sinks"]
)
def test_half_a_character_in_json(filled: Client, path: str) -> None:
    for member in ("sql", "dialect", "name", "table", "path", "view", HALF):
        body = f'{{"name": "w", "sql": "SELECT 1", "{member}": "{HALF}"}}'.encode()
        answer = filled.post(path, content=body, headers={"Content-Type": "application/json"})
        status, _ = code(answer)
        assert status in (400, 404, 422), answer.text


@pytest.mark.parametrize("parameter", ["as_of", "limit", "cursor", "where", "order_by"])
def test_parameters_of_reads(filled: Client, parameter: str) -> None:
    for value in (DIGITS, "\u0661", "\0", "NaN", "9999-12-31T23:59:59-23:59", "1_0"):
        status = filled.get("/v1/views/v/rows", **{parameter: value}).status_code
        assert status in (200, 400, 410, 422), (value, status)
