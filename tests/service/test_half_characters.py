"""Texts of which DuckDB quotes half a character in its message: the row fails, as others do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from engine.scalar.duck_evaluator import DuckRefusal, array, column, constants
from service.settings.settings import Settings
from tests.service.client import Client, code
from tests.service.test_bit_columns import ask

FAILING = {
    "t::bit varying": "bit conversion",
    "unhex(t)": "hex digit",
    "unbin(t)": "binary digit",
    "bitstring(t, 9)": "bit conversion",
    "printf('%' || t, 3)": "format",
}


@pytest.mark.parametrize("evaluate", [constants, array])
def test_half_a_character_of_a_constant_is_marked(evaluate: Callable[[list[str]], object]) -> None:
    with pytest.raises(DuckRefusal, match="hex digit: �"):
        evaluate(["unhex('é')"])


def test_half_a_character_of_a_column_is_marked() -> None:
    with pytest.raises(DuckRefusal, match="hex digit: �"):
        column("unhex(arguments.a0)", pa.table({"a0": ["é"]}))


@pytest.mark.parametrize("count", [1, 20])
def test_a_view_fails_at_the_row_and_recovers(tmp_path: Path, count: int) -> None:
    with Client(Settings(data=tmp_path)) as service:
        ask(service, "CREATE TABLE na (id BIGINT PRIMARY KEY, t TEXT)")
        dialect = {"t::bit varying": "postgres"}
        for number, expression in enumerate(FAILING):
            sql = f"CREATE VIEW v{number} AS SELECT id, {expression} IS NULL AS x FROM na"
            answered = service.post("/v1/sql", {"sql": sql, "dialect": dialect.get(expression, "duckdb")})
            assert answered.status_code == 200, answered.text
        ask(service, f"INSERT INTO na SELECT i, 'é' FROM generate_series(1, {count}) AS s(i)")
        for number, (expression, said) in enumerate(FAILING.items()):
            answered = service.get(f"/v1/views/v{number}/rows")
            assert code(answered) == (409, "view_has_errors"), (expression, answered.text)
            assert said in answered.json()["detail"], expression
            assert "�" in answered.json()["detail"], expression
        ask(service, "DELETE FROM na")
        for number in range(len(FAILING)):
            assert service.rows(f"v{number}") == []


def test_a_query_and_a_read_say_what_is_wrong(tmp_path: Path) -> None:
    with Client(Settings(data=tmp_path)) as service:
        ask(service, "CREATE TABLE na (vb BIT VARYING, t TEXT); INSERT INTO na VALUES (B'1', 'é')")
        for sql in (
            "SELECT 'é'::bit(3)",
            "SELECT unhex('é')",
            "SELECT unhex(t) FROM na",
            "CREATE VIEW f AS SELECT strftime(DATE '2026-01-05', '%é') AS x FROM na",
            "SELECT * FROM na WHERE vb = 'é'",
        ):
            answered = service.post("/v1/sql", {"sql": sql})
            assert answered.status_code == 422, answered.text
            assert answered.json()["code"] != "internal_error"
            assert "Unicode" not in answered.text and "�" in answered.text, sql
        for where in ("vb = 'é'", "unhex(t) IS NULL"):
            answered = service.get("/v1/tables/na/rows", where=where)
            assert answered.status_code == 422, answered.text
            assert "�" in answered.json()["detail"]
