"""What can never work is told when the view is made: constants that always fail, texts beside numbers."""

from __future__ import annotations

import pytest

from engine.plan.nodes import Source
from engine.schema import BIGINT, BOOLEAN, DATE, JSON, TEXT, UUID, Column, Schema, enumeration
from planner import plan_query
from planner.errors import InvalidQuery, TypeMismatch
from planner.relation import Relation

COLUMNS = {"id": BIGINT, "s": TEXT, "d": DATE, "b": BOOLEAN, "j": JSON, "u": UUID, "e": enumeration("a", "b")}
SCHEMA = Schema(tuple(Column(name, type) for name, type in COLUMNS.items()))
CATALOG = {"t": Relation("t", SCHEMA, Source("t", SCHEMA))}


def plan(sql: str, dialect: str = "postgres") -> None:
    plan_query(sql, CATALOG, dialect)


@pytest.mark.parametrize("dialect", ["postgres", "duckdb"])
@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("DATE '2026-13-01'", "'2026-13-01' is not a valid DATE"),
        ("CAST('x' AS INTEGER)", "'x' is not a valid INTEGER"),
        ("'x'::boolean", "'x' is not a valid BOOLEAN"),
        ("'x'::uuid", "'x' is not a valid UUID"),
        ("'{'::json", "'{' is not a valid JSON"),
        ("TIMESTAMP '2020-13-01 05:00'", "is not a valid TIMESTAMP"),
        ("INTERVAL 'x'", "INTERVAL"),
        ("CAST(100000 AS SMALLINT)", "out of range"),
        ("CAST(12345.6 AS NUMERIC(5, 2))", "out of range"),
        ("'{1,x}'::int[]", "is not a valid INTEGER"),
        ("-('x'::int)", "'x' is not a valid INTEGER"),
        ("CASE WHEN id > 5 THEN CAST('x' AS INT) END", "'x' is not a valid INTEGER"),
        ("coalesce(id, CAST('x' AS INT))", "'x' is not a valid INTEGER"),
        ("CAST(CAST('300' AS BIGINT) * 200 AS SMALLINT)", "60000 is not a valid SMALLINT"),
    ],
)
def test_a_cast_that_always_fails_is_refused(expression: str, reason: str, dialect: str) -> None:
    with pytest.raises(TypeMismatch, match="always fails") as refused:
        plan(f"SELECT {expression} AS x FROM t", dialect)
    assert reason in refused.value.message
    assert refused.value.line == 1 and refused.value.column is not None


def test_a_time_that_no_clock_shows_is_refused() -> None:
    with pytest.raises(TypeMismatch, match="25:00 in 2020-01-01 25:00 is no time of day") as refused:
        plan("SELECT TIMESTAMP '2020-01-01 25:00' AS x FROM t")
    assert refused.value.line == 1 and refused.value.column is not None


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("1 / 0", "division by zero"),
        ("1 % 0", "division by zero"),
        ("1 / (2 - 2)", "division by zero"),
        ("2147483647 + 1", "INTEGER overflow"),
        ("9223372036854775807 * 2", "BIGINT overflow"),
    ],
)
def test_an_operator_that_always_fails_is_refused(expression: str, reason: str) -> None:
    with pytest.raises(InvalidQuery, match=f"always fails: {reason}"):
        plan(f"SELECT {expression} AS x FROM t")
    with pytest.raises(InvalidQuery, match=f"always fails: {reason}"):
        plan(f"SELECT id FROM t WHERE {expression} = id")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT TRY_CAST('x' AS INT) FROM t",
        "SELECT CAST('12' AS INT) + 1, DATE '2024-02-29', 'infinity'::date FROM t",
        "SELECT id / 0 FROM t",
        "SELECT CAST(s AS INT) FROM t",
        "SELECT 1 / NULLIF(0, 0) FROM t",
        "SELECT NULL::int / 0 FROM t",
        "SELECT id FROM t WHERE d < 'infinity' AND d > '-infinity'",
        "SELECT CAST(NULL AS DATE) FROM t",
    ],
)
def test_what_may_work_is_planned(sql: str) -> None:
    plan(sql, "duckdb")


PAIRS = [
    "s > 3",
    "3 = s",
    "s <> 1.5",
    "s = id",
    "s = d",
    "s = true",
    "s = u",
    "upper(s) = id",
    "s IN (1, 2)",
    "s NOT IN (SELECT id FROM t)",
    "s BETWEEN 1 AND 2",
    "s IS DISTINCT FROM 3",
    "(s, id) = (1, 2)",
    "(s, id) IN (SELECT id, id FROM t)",
    "s = ANY (SELECT id FROM t)",
    "s > ALL (SELECT id FROM t)",
    "NULLIF(s, 3) IS NULL",
    "CASE s WHEN 1 THEN true END",
    "EXISTS (SELECT 1 FROM t AS o WHERE o.s = t.id)",
]


@pytest.mark.parametrize("condition", PAIRS)
@pytest.mark.parametrize("dialect", ["postgres", "trino"])
def test_texts_and_others_are_not_compared(condition: str, dialect: str) -> None:
    with pytest.raises(TypeMismatch, match="cannot be compared") as refused:
        plan(f"SELECT id FROM t WHERE {condition}", dialect)
    assert refused.value.line == 1
    assert "TEXT" in refused.value.hint


@pytest.mark.parametrize("condition", ["id > true", "b = 1", "id IN (true)", "id BETWEEN false AND true"])
def test_booleans_and_numbers_are_not_compared(condition: str) -> None:
    with pytest.raises(TypeMismatch, match="BOOLEAN") as refused:
        plan(f"SELECT id FROM t WHERE {condition}", "postgres")
    assert refused.value.line == 1
    assert refused.value.hint == "cast the boolean to INTEGER"
    plan(f"SELECT id FROM t WHERE {condition}", "duckdb")


@pytest.mark.parametrize("value", ["coalesce(id, '1.5')", "CASE WHEN d IS NULL THEN id ELSE '1.5' END"])
def test_a_fraction_is_no_alternative_of_a_whole_number(value: str) -> None:
    with pytest.raises(TypeMismatch, match=r"'1\.5' is not a value of type"):
        plan(f"SELECT {value} AS v FROM t", "postgres")


def test_what_has_no_common_type_cannot_be_compared() -> None:
    with pytest.raises(TypeMismatch, match=r"NUMERIC\(2, 1\) and BOOLEAN cannot be compared"):
        plan("SELECT id FROM t WHERE 2.5 > true", "duckdb")


@pytest.mark.parametrize("condition", PAIRS)
def test_dialects_that_cast_texts_go_on_casting(condition: str) -> None:
    plan(f"SELECT id FROM t WHERE {condition}", "duckdb")


@pytest.mark.parametrize(
    "condition",
    [
        "id = '5'",
        "'5' > id",
        "d = '2026-01-01'",
        "s = 'x'",
        "s = NULL",
        "CAST(s AS INT) > 3",
        "s = CAST(id AS TEXT)",
        "s = e",
        "e = 'a'",
        "id IN ('1', '2')",
        "d BETWEEN '2026-01-01' AND '2026-02-01'",
    ],
)
def test_literals_take_the_type_beside_them(condition: str) -> None:
    plan(f"SELECT id FROM t WHERE {condition}")


@pytest.mark.parametrize("condition", ["id", "NOT id", "b AND id", "CASE WHEN id THEN b END", "id IS TRUE"])
def test_a_number_is_no_condition(condition: str) -> None:
    with pytest.raises(TypeMismatch, match="not BOOLEAN") as refused:
        plan(f"SELECT id FROM t WHERE {condition}", "postgres")
    assert refused.value.hint == "compare it with 0"
    plan(f"SELECT id FROM t WHERE {condition}", "mysql")
