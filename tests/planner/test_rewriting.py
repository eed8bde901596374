"""Constructs of other systems that have no equal query; `tests/property/test_rewritten.py` has the others."""

from __future__ import annotations

import pytest

from planner.errors import PlannerError
from planner.parsing.namespace import Namespace
from planner.parsing.qualified_texts import qualified_text
from planner.parsing.script import Excerpt
from tests.planner.samples import planned


@pytest.mark.parametrize(
    ("dialect", "sql", "code", "message", "column"),
    [
        (
            "oracle",
            "SELECT sum(c) KEEP (DENSE_RANK FIRST ORDER BY a) FROM t",
            "unsupported_sql",
            "SUM with KEEP",
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
