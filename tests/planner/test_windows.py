"""Window functions where they stand among other constructs."""

from __future__ import annotations

import pytest

from planner import PlannerError
from planner.explain import explain
from tests.planner.samples import planned
from tests.property.test_found import found

ROWS = [
    [
        ("t", (1, 1, 10), 1),
        ("t", (1, 1, 10), 1),
        ("t", (1, 2, 20), 1),
        ("t", (2, 1, None), 1),
        ("u", (1,), 1),
    ],
    [("t", (1, 1, 10), -1), ("t", (None, 3, 7), 1), ("u", (2,), 1), ("u", (None,), 1)],
    [("t", (1, 1, 10), -1), ("t", (1, 2, 20), -1), ("t", (2, 2, 5), 1), ("u", (1,), -1)],
    [("t", (2, 2, 5), -1), ("t", (2, 1, None), -1), ("t", (None, 3, 7), -1)],
]
TABLES = ("t(k INTEGER, o INTEGER, x BIGINT)", "u(k INTEGER)")


def maintained(*queries: str) -> None:
    found(TABLES, {f"v{i}": query for i, query in enumerate(queries)}, ROWS)


def test_over_aggregates() -> None:
    maintained(
        "SELECT k, sum(x) AS s, rank() OVER (ORDER BY sum(x) DESC NULLS LAST) AS r FROM t GROUP BY k",
        "SELECT k, sum(sum(x)) OVER (ORDER BY k NULLS FIRST) AS s, count(*) OVER () AS n FROM t GROUP BY k",
        "SELECT k FROM t GROUP BY k HAVING k > 0 QUALIFY row_number() OVER (ORDER BY k NULLS LAST) < 2",
    )


def test_named_windows() -> None:
    maintained(
        "SELECT k, rank() OVER w AS a, sum(x) OVER (w ROWS 1 PRECEDING) AS b, max(x) OVER v AS c "
        "FROM (SELECT DISTINCT * FROM t) AS t WINDOW v AS (PARTITION BY k), w AS (v ORDER BY o NULLS LAST)",
    )


def test_in_subqueries() -> None:
    maintained(
        "SELECT k, (SELECT max(r) FROM (SELECT rank() OVER (ORDER BY o NULLS LAST) AS r FROM t "
        "WHERE t.k = u.k) AS ranked) AS most FROM u",
        "SELECT u.k, w.o, w.n FROM u, LATERAL (SELECT o, row_number() OVER (ORDER BY o DESC NULLS LAST) AS n "
        "FROM t WHERE t.k = u.k OR u.k IS NULL) AS w",
        "SELECT k FROM u "
        "WHERE 2 IN (SELECT dense_rank() OVER (ORDER BY o NULLS LAST) FROM t WHERE t.k = u.k)",
        "SELECT k, o, (SELECT count(*) FROM u WHERE u.k = t.k) + sum(x) OVER (PARTITION BY k) AS s FROM t",
    )


def test_filters_above() -> None:
    maintained(
        "SELECT k, o FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY o, x) AS n FROM t) "
        "AS s WHERE n <= 2 AND k = 1",
        "SELECT k, o FROM (SELECT *, rank() OVER (PARTITION BY k ORDER BY o NULLS LAST) AS n FROM t) AS s "
        "WHERE n = 1 AND o > 1",
        "SELECT k, n FROM (SELECT k, o, count(*) OVER (PARTITION BY k) AS n FROM t) AS s WHERE o = 1",
    )


def test_ties_are_broken_by_the_columns_that_the_query_uses() -> None:
    by = "PARTITION BY k ORDER BY"
    found(
        TABLES,
        {
            "v0": (
                f"SELECT k, o, row_number() OVER ({by} o) AS n, lag(x) OVER ({by} o) AS l FROM t",
                f"SELECT k, o, row_number() OVER ({by} o, x) AS n, lag(x) OVER ({by} o, x) AS l FROM t",
            )
        },
        ROWS,
    )


def test_inside_recursion_over_other_relations() -> None:
    maintained(
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION SELECT s.n + 1 FROM r JOIN "
        "(SELECT row_number() OVER (ORDER BY o NULLS LAST, x) AS n FROM t) AS s ON s.n = r.n) SELECT n FROM r"
    )


@pytest.mark.parametrize(
    ("query", "code", "message"),
    [
        (
            "SELECT a FROM t WHERE rank() OVER (ORDER BY a) = 1",
            "invalid_query",
            "WHERE cannot contain a window",
        ),
        ("SELECT sum(rank() OVER ()) OVER () FROM t", "invalid_query", "cannot contain a window function"),
        ("SELECT rank() OVER w FROM t", "invalid_query", 'no window "w"'),
        (
            "SELECT rank() OVER (w PARTITION BY a) FROM t WINDOW w AS (ORDER BY a)",
            "invalid_query",
            "PARTITION",
        ),
        ("SELECT lag(a ORDER BY b) OVER (ORDER BY a) FROM t", "unsupported_sql", "ORDER BY inside"),
        (
            "SELECT sum(a) OVER (ORDER BY b RANGE 1 PRECEDING) FROM t",
            "type_mismatch",
            "no TEXT - INTEGER",
        ),
    ],
)
def test_refused(query: str, code: str, message: str) -> None:
    with pytest.raises(PlannerError, match=message) as caught:
        planned(query)
    assert caught.value.code == code


def test_row_numbers_up_to_a_constant_need_the_first_rows_alone() -> None:
    first = "SELECT a, b FROM t QUALIFY row_number() OVER (PARTITION BY b ORDER BY a) <= 3"
    plan = explain(planned(first), "optimized")
    assert "places 1 to 3" in plan
    assert "window" not in plan
    numbered = "SELECT * FROM (SELECT *, row_number() OVER (ORDER BY a) AS n FROM t) AS s WHERE n = 2"
    assert "places 1 to 2" in explain(planned(numbered), "optimized")
    later = "SELECT a, lead(a) OVER w FROM t QUALIFY row_number() OVER w <= 3 WINDOW w AS (ORDER BY a)"
    assert "places" not in explain(planned(later), "optimized")
    maintained(
        "SELECT k, o, lag(o) OVER w FROM t WINDOW w AS (PARTITION BY k ORDER BY o NULLS LAST, x NULLS LAST) "
        "QUALIFY row_number() OVER w <= 2",
        "SELECT k, o, n FROM (SELECT *, row_number() OVER (ORDER BY o, x NULLS LAST, k NULLS LAST) AS n "
        "FROM t) AS s WHERE 2 > n",
        "SELECT k, o, n FROM (SELECT *, row_number() OVER (ORDER BY o, x NULLS LAST, k NULLS LAST) AS n "
        "FROM t) AS s WHERE n = 2 OR k = 1",
        "SELECT k, o, n FROM (SELECT *, row_number() OVER (ORDER BY o, x NULLS LAST, k NULLS LAST) AS n "
        "FROM t) AS s WHERE n BETWEEN 2 AND 3",
    )
