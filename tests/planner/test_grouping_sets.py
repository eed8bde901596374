"""GROUPING SETS as the dialects write them, and what is wrong with some."""

from __future__ import annotations

import pytest

from planner import PlannerError
from tests.planner.samples import check, planned


@pytest.mark.parametrize(
    ("dialect", "sql"),
    [
        ("spark", "SELECT a, b, count(*) FROM t GROUP BY a, b WITH ROLLUP"),
        ("mysql", "SELECT a, b, count(*) FROM t GROUP BY a, b WITH ROLLUP"),
        ("postgres", "SELECT a, b, count(*) FROM t GROUP BY ROLLUP (a, b)"),
    ],
)
def test_rollup_behind_the_keys(dialect: str, sql: str) -> None:
    check(sql, "SELECT a, b, count(*) FROM t GROUP BY ROLLUP (a, b)", dialect)


def test_sets_behind_the_keys() -> None:
    check(
        "SELECT a, b, grouping_id() AS g, count(*) FROM t GROUP BY a, b GROUPING SETS ((a), (b), ())",
        "SELECT a, b, grouping(a, b), count(*) FROM t GROUP BY GROUPING SETS ((a), (b), ())",
        "spark",
    )


def test_a_cube_behind_the_keys() -> None:
    check(
        "SELECT a, b, grouping_id(b) AS g FROM t GROUP BY a, b WITH CUBE",
        "SELECT a, b, grouping(b) FROM t GROUP BY CUBE (a, b)",
        "spark",
    )


def test_the_input_is_planned_once() -> None:
    query = planned("SELECT t.a, u.d, count(*) FROM t JOIN u ON t.a = u.a GROUP BY CUBE (t.a, u.d)")
    joins = {id(node) for node in _nodes(query.plan) if type(node).__name__ == "Join"}
    assert len(joins) == 1


def _nodes(node: object) -> list:
    return [node, *(found for below in node.inputs for found in _nodes(below))]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT GROUPING(b) FROM t GROUP BY ROLLUP (a)", "GROUPING takes only expressions of GROUP BY"),
        ("SELECT a FROM t WHERE GROUPING(a) = 0 GROUP BY a", "WHERE cannot contain GROUPING"),
        ("SELECT a, b FROM t GROUP BY ROLLUP (a)", 'column "b" must be in GROUP BY'),
        ("SELECT a FROM t GROUP BY ROLLUP (2)", "GROUP BY 2 is not a position"),
        (f"SELECT 1 FROM t GROUP BY {', '.join(['CUBE (a, b, c)'] * 5)}", "32768 grouping sets"),
    ],
)
def test_what_is_wrong(sql: str, message: str) -> None:
    with pytest.raises(PlannerError, match=message):
        planned(sql)
