"""Window functions against DuckDB, with orders that leave nothing to chance.

FRESHET_WINDOWS is the number of cases, each of four views.
"""

from __future__ import annotations

import os
from pathlib import Path

from engine.runtime.engine import Engine
from tests.engine.supersteps.mixed import Here, Mixed, executor_for
from tests.property.cases import answers
from tests.property.check import Make, check
from tests.property.examples import SQL, hold
from tests.property.windows import windows_case
from tests.seeds import each_seed

CASES = int(os.environ.get("FRESHET_WINDOWS", "30"))


@each_seed(CASES)
def test_random_windows(seed: int) -> None:
    _equal(seed, Engine)


@each_seed(3)
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
INSIDE = [
    "SELECT k, first_value(x ORDER BY o, k, x) OVER (PARTITION BY k) AS v FROM t",
    "SELECT k, last_value(x ORDER BY o DESC, k, x) OVER () AS v FROM t",
    "SELECT k, rank(ORDER BY x DESC) OVER (PARTITION BY k) AS r, x FROM t",
    "SELECT k, o, x, lag(x, 1 ORDER BY o, k, x) OVER () AS v FROM t",
    "SELECT k, o, x, nth_value(x, 2 ORDER BY o, k, x) OVER () AS v FROM t",
    "SELECT k, o, x, row_number(ORDER BY o, k, x) OVER (PARTITION BY k) AS v FROM t",
    "SELECT k, o, x, ntile(2 ORDER BY o, k, x) OVER () AS v FROM t",
]


def test_frames_of_rows_without_peers() -> None:
    hold((T,), PEERS, dialect="duckdb")


def test_orders_among_the_arguments() -> None:
    hold((T,), [(sql, sql) for sql in INSIDE], dialect="duckdb")
