"""How rows compare, and the names of columns; `tests/corpus` has the queries."""

from __future__ import annotations

from engine.plan.nodes import Source
from engine.schema import INTEGER, TEXT
from planner import Relation, plan_query
from tests.planner.samples import check, planned, schema


def test_rows_compare_as_the_standard_says() -> None:
    """A row that is equal but for a NULL is neither in a list nor out of it (in DuckDB it is out)."""
    check(
        "SELECT (a, b) IN ((1, 'x'), (2, 'y')) FROM t",
        "SELECT (a = 1 AND b = 'x') OR (a = 2 AND b = 'y') FROM t",
    )


def test_names_of_columns() -> None:
    """An alias as it is quoted or in lower case, a column's own name however it is written, else the text."""
    query = planned(
        'SELECT A, t.B, c AS Total, c AS "Total", upper(b), a + 1, count(*) OVER_ALL FROM t GROUP BY 1, 2, c'
    )
    assert query.schema.names == ("a", "b", "total", "Total", "upper(b)", "a + 1", "over_all")
    assert planned("SELECT x.* FROM t AS x(P, q)").schema.names == ("p", "q", "c")
    assert planned("WITH v(N) AS (SELECT 1) SELECT n FROM v UNION SELECT 2 AS m").schema.names == ("n",)


def test_quoted_names_are_found_exactly_first() -> None:
    both = schema(a=INTEGER, A=TEXT)
    catalog = {"T": Relation("T", both, Source("T", both)), "t": Relation("t", both, Source("t", both))}
    query = plan_query('SELECT a, "A" FROM "T"', catalog)
    assert query.reads == {"T"}
    assert [str(c.type) for c in query.schema.columns] == ["INTEGER", "TEXT"]
    assert plan_query("SELECT A FROM T", catalog).reads == {"t"}
