"""What random cases have found, each as small as it came: regressions that must not come back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal

from tests.property.cases import Case, answers
from tests.property.check import check
from tests.property.duck import Bag
from tests.property.examples import table
from tests.property.histories import Change
from tests.property.schemas import Row
from tests.property.terms import Term
from tests.property.views import View


def found(
    tables: Sequence[str],
    views: Mapping[str, str | tuple[str, str]],
    history: Sequence[Sequence[tuple[str, Row, int]]],
    rows: Mapping[str, Sequence[Sequence[Row]]] | None = None,
    fragile: bool = False,
) -> None:
    """Check views over a history, as `test_views.py` does.

    A view is its SQL, or that and DuckDB's spelling of it. `rows` has the answers by epoch where DuckDB
    cannot give them.
    """
    made = tuple(View(name, _query(sql), (), None, fragile) for name, sql in views.items())
    epochs = tuple(tuple(Change(*change) for change in epoch) for epoch in history)
    case = Case(0, tuple(map(table, tables)), made, epochs)
    if rows is None:
        expected = answers(case)
        assert expected.keys() == set(views), "DuckDB takes every view"
    else:
        expected = {name: (None, *map(Bag, each)) for name, each in rows.items()}
    mismatch = check(case, expected)
    assert mismatch is None, mismatch


def _query(sql: str | tuple[str, str]) -> Term:
    return Term("query", sql) if isinstance(sql, str) else Term("query", sql[0], (), sql[1])


def test_numbers_compare_with_all_their_digits() -> None:
    """The common type of CASE has no room for fractions, and rounds 1.5 to 2."""
    comparisons = (
        "a = b",
        "a < b",
        "a IN (b, 7)",
        "a BETWEEN b AND 3",
        "a IS DISTINCT FROM b",
        "nullif(a, b)",
    )
    row = (Decimal("1.50000"), Decimal(2))
    found(
        tables=["t(a NUMERIC(30, 5), b NUMERIC(38, 0))"],
        views={f"v{i}": f"SELECT {each} AS c0 FROM t" for i, each in enumerate(comparisons)}
        | {"joined": "SELECT t.a AS c0 FROM t JOIN t AS u ON t.a = u.b"},
        history=[[("t", row, 1)], [("t", (Decimal("2.00000"), Decimal(2)), 1)], [("t", row, -1)]],
    )


def test_an_aggregate_of_a_not_null_value_over_no_rows() -> None:
    found(
        tables=["log(b TEXT NOT NULL, PRIMARY KEY (b))"],
        views={"v0": "SELECT min('a') AS c0, sum(1) AS c1 FROM log AS t1"},
        history=[[], [("log", ("x",), 1)], [("log", ("x",), -1)]],
    )


def test_rows_that_fail() -> None:
    sql = "SELECT a / k AS x FROM t WHERE a / k IS NOT NULL"
    rows = [("t", (1, 0), 1), ("t", (2, 0), 2), ("t", (4, 2), 1)]
    found(
        tables=["t(a INTEGER, k INTEGER)"],
        views={"v0": (sql, sql.replace("/", "//"))},
        history=[rows, [("t", (1, 0), -1), ("t", (2, 0), -2)]],
    )


def test_a_distinct_aggregate_of_a_constant() -> None:
    found(
        tables=["t(a INTEGER, d DATE)"],
        views={"v0": "SELECT sum(DISTINCT 1) AS c0, count(*) AS c1 FROM t GROUP BY d"},
        history=[[("t", (1, date(2024, 1, 1)), 2), ("t", (2, None), 1)]],
    )


def test_arithmetic_on_a_filtered_aggregate() -> None:
    found(
        tables=["t(b TIMESTAMP)"],
        views={
            "v0": "SELECT min(b) FILTER (WHERE b < TIMESTAMP '2024-01-01') - INTERVAL '36 hours' AS c0 FROM t"
        },
        history=[[("t", (None,), 1)]],
    )


def test_subqueries_over_names_of_one_with() -> None:
    found(
        tables=["edges(src INTEGER NOT NULL, dst INTEGER NOT NULL)", "stock(h TEXT)"],
        views={
            "v0": "WITH r1(c0) AS (SELECT CAST(2 AS bigint) AS c0 FROM stock AS t6),"
            " r2(c0, c1) AS (SELECT t3.c0 AS c0, CAST(count(DISTINCT t4.dst) AS bigint) AS c1"
            " FROM r1 AS t3 JOIN edges AS t4 ON t3.c0 = t4.src GROUP BY t3.c0)"
            " SELECT (SELECT CAST(1 AS real) AS c0 FROM r1 AS t9"
            " WHERE EXISTS (SELECT 1 AS c0 FROM r2 AS t10 WHERE 1 = t9.c0)) AS c1 FROM r1 AS t7"
        },
        history=[[("edges", (2, 1), 1), ("stock", ("a",), 1)]],
    )


def test_a_correlated_scalar_subquery_that_is_not_in_another() -> None:
    found(
        tables=["people(c SMALLINT NOT NULL)", "items(b INTEGER NOT NULL)"],
        views={
            "v0": "SELECT t2.c AS c0 FROM people AS t2"
            " WHERE (SELECT 1 AS c0 FROM (VALUES (1, 1)) AS t4(c0, c1) WHERE 1 > t2.c)"
            " NOT IN (SELECT t3.b AS c0 FROM items AS t3)"
        },
        history=[[("people", (0,), 1), ("people", (2,), 2)], [("items", (3,), 1)], [("items", (1,), 1)]],
    )


def test_lateral() -> None:
    found(
        tables=["t(a INTEGER, b TEXT)"],
        views={
            "v0": "SELECT t1.a AS c0, t2.c0 AS c1 FROM t AS t1"
            " LEFT JOIN LATERAL (SELECT max(t3.b) AS c0 FROM t AS t3 WHERE t3.a > t1.a GROUP BY t3.a) AS t2"
            " ON TRUE"
        },
        history=[[("t", (1, "a"), 1), ("t", (2, "b"), 1), ("t", (None, "c"), 1)], [("t", (2, "b"), -1)]],
    )


def test_joins_that_differ_only_in_what_they_project() -> None:
    """Here it was DuckDB that lost rows; see the settings in `duck.py`."""
    found(
        tables=[
            "log(m REAL NOT NULL, g TEXT, p INTEGER)",
            "people(k BIGINT NOT NULL, p REAL, PRIMARY KEY (k))",
        ],
        views={
            "v0": "(SELECT t2.g AS c0, t3.p AS c1, t2.p AS c2 FROM log AS t1 RIGHT JOIN log AS t2 USING (m),"
            " people AS t3) UNION (SELECT t5.g AS c0, CAST(0.5 AS double precision) AS c1, t4.p AS c2"
            " FROM log AS t4 RIGHT JOIN log AS t5 ON (t4.m = t5.m))"
        },
        history=[[("log", (2.0, "", None), 1), ("log", (2.0, None, 0), 1), ("people", (1, None), 1)]],
    )


def test_the_merged_column_of_a_full_join_is_null_where_either_side_has_null() -> None:
    query = (
        "WITH MUTUALLY RECURSIVE (RETURN AT RECURSION LIMIT 3)"
        " r1(c0 bigint) AS (SELECT c0 FROM r2 AS t3 FULL JOIN r1 AS t4 USING (c0)),"
        " r2(c0 bigint) AS (SELECT sum(t.a) AS c0 FROM t) SELECT c0 FROM r1"
    )
    found(
        tables=["t(a INTEGER)"],
        views={"v0": (query, "SELECT 1")},
        history=[[("t", (None,), 1)]],
        rows={"v0": [[(None,), (None,)]]},
    )


def test_a_subscript_of_an_expression_counts_from_one() -> None:
    found(
        tables=["t(f INTEGER[] NOT NULL)"],
        views={"v0": "SELECT (ARRAY[1, 2] || f)[2] AS c0, ((f || ARRAY[1, 2]))[1] AS c1 FROM t"},
        history=[[("t", ((3,),), 1)]],
    )


def test_comparisons_with_an_array_that_is_null() -> None:
    """DuckDB takes such an array for an empty one, so an ad-hoc query departed from the view."""
    array = "CASE WHEN a > 1 THEN ARRAY[1, 2, NULL] END"
    sql = f"SELECT a, a = ANY ({array}) AS x, a <> ALL (({array})) AS y, NOT a < ANY ({array}) AS z FROM t"
    rows = [(1, None, None, None), (2, True, False, None), (3, None, None, None), (None, None, None, None)]
    history = [[("t", (a,), 1)] for a in (1, 2, 3, None)]
    found(["t(a INTEGER)"], {"v": sql}, history, {"v": [rows[: i + 1] for i in range(4)]})


def test_rows_between_rows_are_compared_as_rows() -> None:
    """A NULL in a row leaves the comparison unknown; a struct would have it as its greatest value."""
    found(
        tables=["t(k INTEGER, m INTEGER)"],
        views={
            "v": (
                "SELECT k, m, (1, k) BETWEEN (1, m) AND (1, k) AS b FROM t",
                "SELECT k, m, k >= m AND k <= k AS b FROM t",
            ),
            "w": (
                "SELECT k FROM t WHERE (1, k) BETWEEN SYMMETRIC (1, 3) AND (1, m)",
                "SELECT k FROM t WHERE k BETWEEN least(3, m) AND greatest(3, m) AND m IS NOT NULL",
            ),
        },
        history=[[("t", (None, 1), 1), ("t", (2, None), 1), ("t", (2, 1), 1)], [("t", (2, 1), -1)]],
    )


def test_texts_of_constants_in_concat() -> None:
    """Asked ad hoc, DuckDB took them for truth values."""
    found(
        tables=["edges(src INTEGER NOT NULL, dst INTEGER NOT NULL, PRIMARY KEY (src, dst))"],
        views={"v0": "SELECT concat('a', min('a') FILTER (WHERE TRUE)) AS c0 FROM edges AS t1"},
        history=[[("edges", (3, 0), 1)]],
    )
