"""Window functions against DuckDB, with orders that leave nothing to chance.

FRESHET_WINDOWS is the number of cases, each of four views.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.runtime.engine import Engine
from tests.engine.supersteps.mixed import Here, Mixed, executor_for
from tests.property.cases import answers
from tests.property.check import Make, check
from tests.property.examples import SQL, hold
from tests.property.windows import windows_case
from tests.seeds import each_seed, few, seeds

CASES = int(os.environ.get("FRESHET_WINDOWS", few(30)))


@each_seed(CASES)
def test_random_windows(seed: int) -> None:
    _equal(seed, Engine)


@each_seed(few(3))
def test_in_supersteps(seed: int, tmp_path: Path) -> None:
    executor, rng = executor_for(seed, tmp_path, Here(seed))
    _equal(seed, lambda: Mixed(executor, rng, 0.7))
    assert executor.done


def _equal(seed: int, make: Make) -> None:
    case = windows_case(seed)
    expected = answers(case)
    assert expected.keys() == {view.name for view in case.views}, "DuckDB takes every view"
    mismatch = check(case, expected, make)
    assert mismatch is None, mismatch


T = "t(k INTEGER, o INTEGER, x INTEGER)"
ALL = "o NULLS LAST, k NULLS LAST, x NULLS LAST"
PLACED = (
    f"(SELECT *, row_number() OVER (ORDER BY {ALL}) AS n, "
    "dense_rank() OVER (ORDER BY o NULLS LAST) AS p FROM t)"
)


def _without_peers(call: str, first: int, last: int, is_kept: str) -> str:
    """The referee's frame of ROWS without peers, by a join of the rows with their numbers."""
    return (
        f"WITH w AS (FROM {PLACED}) SELECT k, o, x, (SELECT {call} FROM w AS b "
        f"WHERE b.n BETWEEN a.n + {first} AND a.n + {last} AND ({is_kept})) AS v FROM w AS a"
    )


GROUP, TIES = "b.p <> a.p", "b.p <> a.p OR b.n = a.n"
CALLS = {
    "count(*)": "count(*)",
    "sum(x)": "sum(b.x)",
    "avg(x)": "avg(b.x)",
    "count(DISTINCT k)": "count(DISTINCT b.k)",
    "first_value(x)": "arg_min_null(b.x, b.n)",
    "last_value(x)": "arg_max_null(b.x, b.n)",
    "first_value(x IGNORE NULLS)": "arg_min(b.x, b.n)",
    "string_agg(CAST(x AS VARCHAR), '-')": "string_agg(CAST(b.x AS VARCHAR), '-' ORDER BY b.n)",
    "array_agg(x)": "list(b.x ORDER BY b.n)",
    "first(x)": "first(b.x ORDER BY b.n)",
    "median(x) FILTER (WHERE k > 1)": "median(b.x) FILTER (WHERE b.k > 1)",
    "quantile_disc(x, 0.5)": "quantile_disc(b.x, 0.5)",
}
PEERS: list[SQL] = [
    (
        f"SELECT k, o, x, {call} OVER (ORDER BY o ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING EXCLUDE {name}) "
        "AS v FROM t",
        _without_peers(reference, -2, 1, is_kept),
    )
    for call, reference in CALLS.items()
    for name, is_kept in (("GROUP", GROUP), ("TIES", TIES))
]
SEQUENCES: list[SQL] = [
    (
        f"SELECT k, o, x, {call} OVER (PARTITION BY k ORDER BY o{more} {frame}) AS v FROM t",
        f"SELECT k, o, x, {ordered} OVER (PARTITION BY k ORDER BY {by} {frame}) AS v FROM t",
    )
    for call, ordered in (
        ("string_agg(CAST(x AS VARCHAR), '-')", f"string_agg(CAST(x AS VARCHAR), '-' ORDER BY {ALL})"),
        ("array_agg(x)", f"list(x ORDER BY {ALL})"),
        ("last(x)", f"last(x ORDER BY {ALL})"),
    )
    for more, by, frame in (
        ("", "o NULLS LAST", "RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING"),
        (", x", ALL, "ROWS BETWEEN 2 PRECEDING AND CURRENT ROW EXCLUDE CURRENT ROW"),
        ("", "o NULLS LAST", "GROUPS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW"),
    )
]
"""Aggregates of a sequence take it in the order of their window."""
INSIDE = [
    "SELECT k, first_value(x ORDER BY o, k, x) OVER (PARTITION BY k) AS v FROM t",
    "SELECT k, last_value(x ORDER BY o DESC, k, x) OVER () AS v FROM t",
    "SELECT k, first(x ORDER BY o DESC, k, x) OVER (PARTITION BY k) AS v FROM t",
    "SELECT k, last(x ORDER BY o, k, x) OVER () AS v FROM t",
    "SELECT k, rank(ORDER BY x DESC) OVER (PARTITION BY k) AS r, x FROM t",
    "SELECT k, o, x, lag(x, 1 ORDER BY o, k, x) OVER () AS v FROM t",
    "SELECT k, o, x, nth_value(x, 2 ORDER BY o, k, x) OVER () AS v FROM t",
    "SELECT k, o, x, row_number(ORDER BY o, k, x) OVER (PARTITION BY k) AS v FROM t",
    "SELECT k, o, x, ntile(2 ORDER BY o, k, x) OVER () AS v FROM t",
]


def test_frames_of_rows_without_peers() -> None:
    hold((T,), PEERS, dialect="duckdb")


def test_sequences_are_in_the_order_of_their_window() -> None:
    hold((T,), SEQUENCES)


def test_orders_among_the_arguments() -> None:
    hold((T,), [(sql, sql) for sql in INSIDE], dialect="duckdb")


def test_one_window_is_one_value_in_rows_that_are_equal() -> None:
    """Found by the random views (seed 939): with a query inside of it, it was two windows."""
    counted = "count(DISTINCT x) FILTER (WHERE 5 IN (SELECT n FROM (VALUES (2)) AS v(n) WHERE n <> x))"
    window = f"lead({counted}) OVER (PARTITION BY {counted}, k)"
    sql = f"SELECT 1 * {window} AS a, {window} AS b FROM t GROUP BY GROUPING SETS ((k), (k))"
    hold((T,), [(sql, sql)], dialect="duckdb")


MOMENTS = (
    "m(k INTEGER, day DATE, at TIMESTAMP, tz TIMESTAMPTZ, f DOUBLE PRECISION, d NUMERIC(9, 2), s TEXT)",
)
FRAMES = {
    "day": (
        "INTERVAL '2 days' PRECEDING AND CURRENT ROW",
        "INTERVAL '36 hours' PRECEDING AND INTERVAL '12 hours' FOLLOWING",
        "INTERVAL '1 month' PRECEDING AND CURRENT ROW",
        "INTERVAL '300 days' PRECEDING AND INTERVAL '20 days' PRECEDING",
    ),
    "at": (
        "INTERVAL '1 day' PRECEDING AND INTERVAL '1 hour' FOLLOWING",
        "INTERVAL '400 days' PRECEDING AND CURRENT ROW",
        "INTERVAL '1 second' FOLLOWING AND INTERVAL '900 days' FOLLOWING",
    ),
    "tz": ("INTERVAL '1000 days' PRECEDING AND INTERVAL '2 days' FOLLOWING",),
    "f": (
        "0.5 PRECEDING AND 1.25 FOLLOWING",
        "2 PRECEDING AND CURRENT ROW",
        "1 FOLLOWING AND 1e10 FOLLOWING",
    ),
    "d": ("0.5 PRECEDING AND 1.25 FOLLOWING", "2 PRECEDING AND 0.01 PRECEDING"),
}
CALLS = ("count(*)", "count(s)", "sum(f)", "avg(d)", "sum(d)", "min(s)", "max(s)", "max(f)", "min(at)")


def by_distance() -> list[SQL]:
    """Every frame with all calls, one in each direction; and running sums of floats and extremes of texts."""
    views: list[SQL] = []
    for number, (by, edges) in enumerate((by, edges) for by, all_ in FRAMES.items() for edges in all_):
        order = f"{by} {'DESC' if number % 2 else 'ASC'} NULLS {'FIRST' if number % 3 else 'LAST'}"
        over = f"OVER (PARTITION BY k ORDER BY {order} RANGE BETWEEN {edges})"
        values = ", ".join(f"{call} {over} AS w{i}" for i, call in enumerate(CALLS))
        views.append(f"SELECT *, {values} FROM m")
    every = "at, day, tz, f, d, s"
    for call in ("sum(f)", "avg(f)", "min(s)", "max(s)"):
        for frame in ("", "ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING", "ROWS UNBOUNDED PRECEDING"):
            views.append(f"SELECT *, {call} OVER (PARTITION BY k ORDER BY {every} {frame}) AS w FROM m")
        views.append(f"SELECT *, {call} OVER (ORDER BY k) AS w FROM m")
        few = "(SELECT d, f, s FROM m)"
        views.append(f"SELECT *, {call} OVER (ORDER BY d DESC, f, s ROWS 3 PRECEDING) AS w FROM {few}")
    return views


def test_by_distance_and_over_floats_and_texts() -> None:
    hold(MOMENTS, by_distance(), seeds(few(8)), 7, dialect="duckdb")


@pytest.mark.parametrize("call", ["string_agg(e, ',')", "array_agg(e)"])
def test_lists_come_in_the_order_of_the_window(call: str) -> None:
    words = "s(e TEXT NOT NULL, a INTEGER NOT NULL, m INTEGER)"
    hold((words,), [f"SELECT e, {call} OVER (ORDER BY e DESC, m, a) AS x FROM s"], seeds=seeds(few(24)))
