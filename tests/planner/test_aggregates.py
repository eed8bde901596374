"""Aggregates under the names of other dialects, and what of them is refused."""

from __future__ import annotations

import pytest

from planner.errors import PlannerError
from tests.oracle.referee import same_bag
from tests.planner.samples import answer, planned, referee

SPELLINGS = [
    ("snowflake", "listagg(b, '-') WITHIN GROUP (ORDER BY c)", "string_agg(b, '-' ORDER BY c, b)"),
    (
        "snowflake",
        "array_agg(b) WITHIN GROUP (ORDER BY c)",
        "list(b ORDER BY c, b) FILTER (WHERE b IS NOT NULL)",
    ),
    ("snowflake", "booland_agg(a > 1)", "bool_and(a > 1)"),
    ("snowflake", "bitor_agg(a)", "bit_or(a)"),
    ("snowflake", "array_unique_agg(a)", "list(DISTINCT a ORDER BY a) FILTER (WHERE a IS NOT NULL)"),
    ("snowflake", "approx_percentile(a, 0.5)", "quantile_disc(a, 0.5)"),
    ("snowflake", "skew(c)", "skewness(c)"),
    ("snowflake", "hll(b)", "count(DISTINCT b)"),
    (
        "bigquery",
        "ARRAY_AGG(b IGNORE NULLS ORDER BY c)",
        "list(b ORDER BY c NULLS FIRST, b) FILTER (WHERE b IS NOT NULL)",
    ),
    ("bigquery", "LOGICAL_OR(a > 3)", "bool_or(a > 3)"),
    ("bigquery", "COUNTIF(a > 1)", "count(*) FILTER (WHERE a > 1)"),
    ("bigquery", "ANY_VALUE(b HAVING MAX c)", "arg_max_null(b, c ORDER BY b)"),
    ("bigquery", "APPROX_QUANTILES(a, 2)", "quantile_disc(a, [0, 0.5, 1])"),
    ("bigquery", "VAR_SAMP(c)", "var_samp(c)"),
    ("spark", "collect_list(b)", "list(b ORDER BY b) FILTER (WHERE b IS NOT NULL)"),
    ("spark", "collect_set(a)", "list(DISTINCT a ORDER BY a) FILTER (WHERE a IS NOT NULL)"),
    ("spark", "percentile(c, 0.3)", "quantile_cont(c, 0.3)"),
    ("spark", "percentile_approx(c, 0.3)", "quantile_disc(c, 0.3)"),
    ("spark", "std(a)", "stddev_samp(a)"),
    ("spark", "mean(c)", "avg(c)"),
    ("spark", "some(a > 1)", "bool_or(a > 1)"),
    ("spark", "first(b, true)", "min(b)"),
    ("spark", "max_by(a, b)", "arg_max_null(a, b ORDER BY a NULLS FIRST)"),
    (
        "spark",
        "count(DISTINCT a, b)",
        "count(DISTINCT (a, b)) FILTER (WHERE a IS NOT NULL AND b IS NOT NULL)",
    ),
    (
        "mysql",
        "group_concat(DISTINCT b ORDER BY b SEPARATOR '; ')",
        "string_agg(DISTINCT b, '; ' ORDER BY b)",
    ),
    ("tsql", "STRING_AGG(b, ',') WITHIN GROUP (ORDER BY c)", "string_agg(b, ',' ORDER BY c NULLS FIRST, b)"),
    ("tsql", "STDEVP(a)", "stddev_pop(a)"),
    ("trino", "approx_percentile(c, 0.5)", "quantile_disc(c, 0.5)"),
    ("trino", "geometric_mean(a)", "geomean(a)"),
    ("redshift", "listagg(b) WITHIN GROUP (ORDER BY b)", "string_agg(b, '' ORDER BY b)"),
    ("duckdb", "list(b)", "list(b ORDER BY b)"),
    ("duckdb", "max(a, 2)", "max(a, 2)"),
    ("duckdb", "kahan_sum(c)", "sum(c)"),
    ("duckdb", "weighted_avg(c, a)", "sum(c * a) / sum(CASE WHEN c IS NOT NULL THEN a END)"),
    (
        "postgres",
        "json_object_agg(coalesce(b, '-'), 1)::text",
        """min('{"":1,"-":1,"Zed":1,"x":1,"y":1}')""",
    ),
    (
        "postgres",
        "jsonb_agg(b ORDER BY b DESC)::text",
        "CAST(to_json(list(b ORDER BY b DESC NULLS FIRST)) AS VARCHAR)",
    ),
    ("postgres", "string_agg(b, '{0}{over}')", "string_agg(b, '{0}{over}' ORDER BY b)"),
    ("duckdb", "mode(ORDER BY a)", "mode(a ORDER BY a)"),
]


@pytest.mark.parametrize(("dialect", "call", "duck"), SPELLINGS, ids=[call for _, call, _ in SPELLINGS])
def test_each_dialect_has_its_names(dialect: str, call: str, duck: str) -> None:
    ours = answer(planned(f"SELECT {call} AS v FROM t", dialect))
    theirs = referee().rows(f"SELECT {duck} AS v FROM t", "duckdb")
    assert same_bag(ours, theirs), (ours, theirs)


def test_general_functions_are_asked_for_together() -> None:
    plan = str(planned("SELECT a, median(c), string_agg(b, ',') FROM t GROUP BY a").plan)
    assert plan.count("GroupQuery(") == 1


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT string_agg(DISTINCT b, ',' ORDER BY a) FROM t", "argument list"),
        ("SELECT percentile_cont(2) WITHIN GROUP (ORDER BY c) FROM t", "range [0, 1]"),
        ("SELECT mad(a, c) FROM t", "mad does not take (INTEGER, DOUBLE PRECISION)"),
        ("SELECT arg_min(a) FROM t", "arg_min"),
        ("SELECT count(ORDER BY a) FROM t", "count has an order, but no argument"),
    ],
)
def test_calls_that_mean_nothing_are_refused(sql: str, message: str) -> None:
    with pytest.raises(PlannerError) as caught:
        planned(sql)
    assert message in str(caught.value)
