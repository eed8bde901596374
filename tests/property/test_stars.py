"""`*` and COLUMNS with conditions on names, in the select list and in WHERE."""

from __future__ import annotations

from tests.planner.samples import planned
from tests.property.examples import SQL, hold

TABLES = ("t(k TEXT, a INTEGER, ab INTEGER, b INTEGER)", "u(a INTEGER, c INTEGER)")
STARS: list[SQL] = [
    "SELECT * LIKE 'a%' FROM t",
    "SELECT * NOT LIKE 'a%' FROM t",
    "SELECT t.* NOT ILIKE '%B' FROM t, u",
    "SELECT * SIMILAR TO 'a.*' FROM t",
    "SELECT * NOT SIMILAR TO 'a.*' FROM t",
    "SELECT * GLOB '?b' FROM t",
    ("SELECT COLUMNS(c -> c LIKE 'a%') FROM t", "SELECT a, ab FROM t"),
    "SELECT max(COLUMNS(lambda c: length(c) = 1 AND c <> 'k')) AS most, k FROM t GROUP BY k",
    "SELECT COLUMNS(['b', 'a']) * 2 FROM t",
    "SELECT COLUMNS('(.)b|.') AS 'x_\\0_\\1' FROM t",
    "SELECT COLUMNS(* REPLACE (a + 1 AS a)) FROM t",
    "SELECT COLUMNS(* EXCLUDE (k) REPLACE (a - b AS ab)) * 2 FROM t",
    "SELECT COLUMNS(u.*), t.k FROM t JOIN u ON t.a = u.a",
    "SELECT coalesce(*COLUMNS(['b', 'ab'])) AS v, greatest(0, *COLUMNS('^a')) AS w FROM t",
    "SELECT k FROM t WHERE COLUMNS(* EXCLUDE (k)) > 0",
    "SELECT k FROM t WHERE COLUMNS(['a', 'b']) IS NULL OR a > 2",
    "SELECT k FROM t WHERE coalesce(*COLUMNS('b')) > 1",
]


def test_conditions_on_names() -> None:
    hold(TABLES, [(sql, sql) if isinstance(sql, str) else sql for sql in STARS], dialect="duckdb")


def test_columns_have_the_groups_of_their_names() -> None:
    names = planned("SELECT COLUMNS('(.).*') AS 'x_\\1\\9' FROM u", "duckdb").schema.names
    assert names == ("x_a", "x_d", "x_e")
