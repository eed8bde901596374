"""Subqueries where DuckDB is no referee, or has one row too many; `tests/corpus` has the others."""

from __future__ import annotations

import pytest

from tests.oracle.interpreter import OracleError
from tests.planner.samples import answer, check, planned


def test_rows_in_a_query_compare_as_the_standard_says() -> None:
    check(
        "SELECT (a, b) IN (SELECT a, b FROM t x WHERE x.c > 1) FROM t",
        "SELECT CASE WHEN EXISTS (SELECT 1 FROM t x WHERE x.c > 1 AND x.a = t.a AND x.b = t.b) THEN TRUE "
        "WHEN EXISTS (SELECT 1 FROM t x WHERE x.c > 1 AND (x.a = t.a AND x.b = t.b) IS NULL) THEN NULL "
        "ELSE FALSE END FROM t",
    )
    check(
        "SELECT a, b FROM t WHERE (a, b) NOT IN (SELECT a, b FROM t x WHERE x.c < 2)",
        "SELECT a, b FROM t WHERE NOT EXISTS "
        "(SELECT 1 FROM t x WHERE x.c < 2 AND (x.a = t.a AND x.b = t.b) IS NOT FALSE)",
    )


def test_more_than_one_row_is_an_error_of_the_row() -> None:
    query = planned("SELECT a, (SELECT d FROM u WHERE u.a = t.a) FROM t")
    with pytest.raises(OracleError, match="more than one row returned by a subquery"):
        answer(query)


def test_only_the_bindings_asked_for_must_have_one_row() -> None:
    check("SELECT id, (SELECT d FROM u WHERE u.a = k.id) FROM k WHERE id > 1")
