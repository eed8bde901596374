"""Constructs of other systems that have no equal query; `tests/property/test_rewritten.py` has the others."""

from __future__ import annotations

from collections import Counter

import pytest

from planner.errors import PlannerError
from planner.parsing.namespace import Namespace
from planner.parsing.qualified_texts import qualified_text
from planner.parsing.script import Excerpt
from tests.planner.samples import answer, planned


@pytest.mark.parametrize(
    ("dialect", "sql", "code", "message", "column"),
    [
        (
            "oracle",
            "SELECT sum(c) KEEP (DENSE_RANK FIRST ORDER BY a) FROM t GROUP BY ROLLUP (b)",
            "unsupported_sql",
            "KEEP with several grouping sets",
            8,
        ),
        (
            "oracle",
            "SELECT sum(c) KEEP (DENSE_RANK FIRST ORDER BY a) OVER (ORDER BY a) FROM t",
            "unsupported_sql",
            "KEEP over an ordered window",
            8,
        ),
        (
            "oracle",
            "SELECT sum(b) KEEP (DENSE_RANK FIRST ORDER BY a) OVER (PARTITION BY b) FROM t GROUP BY b",
            "unsupported_sql",
            "KEEP over the groups of GROUP BY",
            8,
        ),
        (
            "snowflake",
            "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY a MEASURES last(c) AS f PATTERN (x) DEFINE x AS c)",
            "unsupported_sql",
            "MATCH_RECOGNIZE",
            43,
        ),
        ("duckdb", "SELECT * FROM t POSITIONAL JOIN u", "unsupported_sql", "POSITIONAL JOIN", 33),
        ("oracle", "SELECT ROWNUM AS n, a FROM t", "unsupported_sql", "ROWNUM of rows without an order", 8),
        ("oracle", "SELECT a FROM t WHERE ROWNUM > 2", "invalid_query", "this condition on ROWNUM", 23),
        (
            "oracle",
            "SELECT a FROM (SELECT a FROM t ORDER BY c) WHERE a > 1 AND ROWNUM < 3",
            "unsupported_sql",
            "ROWNUM beside other conditions",
            50,
        ),
        (
            "oracle",
            "SELECT ROWNUM AS n FROM (SELECT DISTINCT a FROM t ORDER BY c)",
            "unsupported_sql",
            "ROWNUM in this order",
            60,
        ),
        ("oracle", "SELECT 1 FROM t CONNECT BY ROWNUM < 3", "unsupported_sql", "ROWNUM in CONNECT BY", 28),
        ("oracle", "SELECT LEVEL CONNECT BY LEVEL < 3", "invalid_query", "CONNECT BY needs a FROM clause", 8),
        (
            "oracle",
            "SELECT CONNECT_BY_ISCYCLE FROM edges CONNECT BY PRIOR dst = src",
            "invalid_query",
            "CONNECT_BY_ISCYCLE needs NOCYCLE",
            8,
        ),
        (
            "oracle",
            "SELECT * FROM edges e, k CONNECT BY PRIOR e.dst = e.src",
            "unsupported_sql",
            "* over several tables",
            8,
        ),
        (
            "oracle",
            "SELECT q FROM edges e, k WHERE dst = id CONNECT BY PRIOR e.dst = e.src",
            "unsupported_sql",
            "CONNECT BY over a join whose WHERE",
            32,
        ),
        (
            "oracle",
            "SELECT SYS_CONNECT_BY_PATH(dst) FROM edges CONNECT BY NOCYCLE PRIOR dst = src",
            "invalid_query",
            "SYS_CONNECT_BY_PATH takes a value and a separator",
            8,
        ),
        (
            "oracle",
            "SELECT max(c) KEEP (DENSE_RANK LAST ORDER BY a) OVER (ORDER BY a) FROM t",
            "unsupported_sql",
            "KEEP over an ordered window",
            8,
        ),
        (
            "oracle",
            "SELECT nth_value(c, 2) FROM LAST OVER w FROM t WINDOW w AS (ORDER BY a)",
            "unsupported_sql",
            "FROM LAST over a named window",
            8,
        ),
        (
            "postgres",
            "SELECT ARRAY(SELECT a, c FROM t)",
            "invalid_query",
            "ARRAY takes a query of one column",
            8,
        ),
        ("postgres", "SELECT * FROM TUMBLE(days, at)", "invalid_query", "TUMBLE takes other arguments", 15),
        (
            "postgres",
            "SELECT * FROM HOP((SELECT 1), at, at)",
            "invalid_query",
            "HOP takes other arguments",
            15,
        ),
        *(
            ("oracle", f"SELECT t.a FROM t, days WHERE {test}", "unsupported_sql", "this use of (+)", column)
            for test, column in (
                ("a = days.a(+) AND days.a = t.a(+)", 31),
                ("t.a = b(+)", 31),
                ("t.a = days.a(+) OR t.a = 1", 31),
            )
        ),
        ("postgres", "SELECT b LIKE ANY () FROM t", "invalid_query", "ANY and ALL take a list", 8),
        ("bigquery", "SELECT AS STRUCT a FROM t", "unsupported_sql", "SELECT AS STRUCT", 18),
        ("snowflake", "SELECT OBJECT_CONSTRUCT(*) FROM t", "unsupported_sql", "an object of these", 25),
        ("databricks", "SELECT skewness(c) OVER () FROM t", "unsupported_sql", "skewness with FILTER", 8),
        ("snowflake", "SELECT v.$1 FROM t AS v", "unsupported_sql", "a column by its place", 8),
        ("postgres", "SELECT * FROM TUMBLE(none, b, INTERVAL '1 day')", "type_mismatch", "", 28),
    ],
)
def test_what_is_refused_has_a_name_and_a_place(
    dialect: str, sql: str, code: str, message: str, column: int
) -> None:
    with pytest.raises(PlannerError) as caught:
        planned(sql, dialect)
    assert caught.value.code == code, caught.value
    assert message in caught.value.message
    assert (caught.value.line, caught.value.column) == (1, column)


def test_the_table_of_a_window_gets_its_schema_once() -> None:
    names = Namespace(("s",), frozenset({"s"}), frozenset({"s.e"}))
    sql = "SELECT * FROM TABLE(SESSION(TABLE e PARTITION BY k, DESCRIPTOR(at), INTERVAL '2' HOUR))"
    assert qualified_text(Excerpt(sql), "postgres", names).text == sql.replace("TABLE e ", 'TABLE "s".e ')


@pytest.mark.parametrize(
    ("dialect", "sql"),
    [
        ("mysql", "VALUES ROW(1, 2), ROW(3, 4)"),
        ("mysql", "SELECT column_0, column_1 FROM (VALUES ROW(1, 2), ROW(3, 4)) AS v"),
        ("snowflake", "SELECT column1, v.column2 FROM (VALUES (1, 2), (3, 4)) AS v"),
        ("spark", "SELECT col1, col2 FROM VALUES (1, 2), (3, 4)"),
        ("trino", "SELECT _col0, _col1 FROM (VALUES (1, 2), (3, 4)) AS v"),
        ("duckdb", "SELECT col0, col1 FROM (VALUES (1, 2), (3, 4)) AS v"),
    ],
)
def test_columns_of_values_have_the_names_of_their_system(dialect: str, sql: str) -> None:
    assert answer(planned(sql, dialect)) == Counter({(1, 2): 1, (3, 4): 1})
