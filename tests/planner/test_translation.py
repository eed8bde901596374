"""Translations of queries: DuckDB runs them as they are, and their answers are those of their dialects."""

from __future__ import annotations

import duckdb
import pytest

from planner.adhoc.translating import Translation, translate
from planner.errors import InvalidQuery, PlannerError, PlanningLimit
from planner.limits import DEFAULT, PlanningLimits

TABLE = """
CREATE TABLE t (id INTEGER, n INTEGER, s VARCHAR, d DATE, moment TIMESTAMPTZ, xs INTEGER[]);
INSERT INTO t VALUES
  (1, 7, 'a_b', '2024-01-31', '2024-03-31 00:30:15+00', [10, 20]),
  (2, NULL, '', '2024-02-29', '2024-10-27 01:30:15+00', NULL)
"""


def answer(found: Translation) -> list[tuple]:
    connection = duckdb.connect()
    connection.execute(TABLE)
    for statement in found.before:
        connection.execute(statement)
    return connection.execute(found.sql).fetchall()


@pytest.mark.parametrize(
    ("dialect", "sql", "rows", "noted"),
    [
        ("postgres", "SELECT id, n / 2 FROM t ORDER BY n", [(1, 3), (2, None)], {"n / 2"}),
        ("postgres", "SELECT id FROM t ORDER BY n DESC", [(2,), (1,)], {"n DESC"}),
        ("mysql", "SELECT n / 2 FROM t ORDER BY n", [(None,), (3.5,)], {"n"}),
        ("mysql", "SELECT 1 / 0", [(None,)], {"1 / 0"}),
        ("mysql", "SELECT DATE_ADD(d, INTERVAL 1 MONTH) = '2024-02-29' FROM t WHERE id = 1", [(True,)], None),
        ("oracle", "SELECT s || 'x' FROM t WHERE id = 2", [("x",)], {"s || 'x'"}),
        ("oracle", "SELECT id FROM t WHERE s || NULL IS NULL", [(2,)], None),
        ("bigquery", "SELECT xs[OFFSET(1)] FROM t ORDER BY id", [(20,), (None,)], {"xs[OFFSET(1)]", "id"}),
        ("spark", "SELECT p, x FROM t LATERAL VIEW posexplode(xs) e AS p, x", [(0, 10), (1, 20)], set()),
        ("snowflake", "CREATE VIEW v AS SELECT IFF(n IS NULL, 0, n) FROM t ORDER BY id", [(7,), (0,)], set()),
        ("tsql", "SELECT TOP 1 DATEADD(day, 1, d) AS x FROM t ORDER BY id", None, None),
        ("duckdb", "SELECT n / 2, xs[1] FROM t ORDER BY id", [(3.5, 10), (None, None)], set()),
        ("postgres", "SELECT count(*) FROM t WHERE s LIKE 'a\\_%'", [(1,)], {"s LIKE 'a\\_%'"}),
    ],
)
def test_a_translation_runs_in_duckdb(
    dialect: str, sql: str, rows: list[tuple] | None, noted: set[str] | None
) -> None:
    found = translate(sql, dialect, DEFAULT)
    got = answer(found)
    assert rows is None or got == rows
    assert noted is None or {note.written for note in found.notes} == noted
    assert all(note.line == 1 and note.column for note in found.notes)


def test_what_has_no_equal_in_duckdb_keeps_our_words() -> None:
    sql = "WITH MUTUALLY RECURSIVE r (a INT) AS (SELECT 1 UNION SELECT a + 1 FROM r) SELECT * FROM r"
    assert "WITH MUTUALLY RECURSIVE r(a INTEGER) AS" in translate(sql, "postgres", DEFAULT).sql


def test_only_queries_are_translated() -> None:
    with pytest.raises(InvalidQuery) as refused:
        translate("DELETE FROM t", "postgres", DEFAULT)
    assert (refused.value.line, refused.value.column) == (1, 1)


def test_limits_hold() -> None:
    with pytest.raises(PlanningLimit):
        translate("SELECT 1", "postgres", PlanningLimits(bytes=4))
    with pytest.raises(PlannerError):
        translate("SELECT " + "(" * 5000 + "1" + ")" * 5000, "postgres", DEFAULT)
