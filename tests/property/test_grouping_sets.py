"""GROUPING SETS, ROLLUP, CUBE, GROUPING, GROUP BY ALL."""

from __future__ import annotations

from pathlib import Path

from tests.engine.supersteps.mixed import Here, Mixed, executor_for
from tests.property.examples import SQL, hold
from tests.seeds import SEED, seeds

TABLES = (
    "t(a INTEGER, b TEXT, c DOUBLE PRECISION, d INTEGER)",
    "k(i INTEGER NOT NULL, n TEXT)",
)

SETS: list[SQL] = [
    "SELECT a, b, count(*) AS n, sum(c) AS s FROM t GROUP BY ROLLUP (a, b)",
    "SELECT a, b, count(DISTINCT d) AS n, min(b) AS m FROM t GROUP BY CUBE (a, b)",
    "SELECT a, d, sum(a) AS s FROM t GROUP BY GROUPING SETS ((a, d), (a), (d), ())",
    "SELECT b, max(c) FROM t GROUP BY GROUPING SETS ((b), (b), ())",
    "SELECT count(*) AS n, sum(a) AS s FROM t GROUP BY GROUPING SETS ((), ())",
    "SELECT a, b, d, count(*) FROM t GROUP BY a, ROLLUP (b, d)",
    "SELECT a, b, d, count(*) FROM t GROUP BY ROLLUP (a), CUBE (b, d)",
    "SELECT a, b, d, count(*) FROM t GROUP BY GROUPING SETS (ROLLUP (a, b), CUBE (d), (a, d))",
    "SELECT a, b, d, sum(c) FROM t GROUP BY ROLLUP ((a, b), d)",
    "SELECT a, b, GROUPING(a) AS g, GROUPING(a, b) AS h, count(*) FROM t GROUP BY CUBE (a, b)",
    "SELECT b, GROUPING(b), count(*) FROM t GROUP BY b",
    "SELECT a % 2 AS p, upper(b) AS u, count(*) FROM t GROUP BY ROLLUP (a % 2, upper(b))",
    "SELECT a % 2 AS p, b, count(*) + GROUPING(a % 2) FROM t GROUP BY ROLLUP (p, 2)",
    "SELECT a + 1, coalesce(b, '-'), count(*) FROM t GROUP BY CUBE (a, b)",
    "SELECT a, b, count(*) FROM t GROUP BY ROLLUP (a, b) HAVING count(*) > 1 AND GROUPING(b) = 1",
    "SELECT a, count(*) FILTER (WHERE b > 'a') AS n, avg(d) FROM t WHERE d > 0 GROUP BY ROLLUP (a)",
    "SELECT DISTINCT b, count(*) AS n FROM t GROUP BY CUBE (a, b)",
    "SELECT b, sum(d) AS s FROM t GROUP BY ROLLUP (b) ORDER BY GROUPING(b) DESC, s, b LIMIT 2",
    "SELECT a, b FROM t GROUP BY CUBE (a, b)",
    "SELECT x.n, count(*) FROM (SELECT a, count(*) AS n FROM t GROUP BY ROLLUP (a)) AS x GROUP BY x.n",
    "SELECT i, (SELECT count(*) FROM (SELECT b FROM t WHERE a = i GROUP BY ROLLUP (b)) AS x) AS n FROM k",
    "SELECT i, x.* FROM k, LATERAL (SELECT b, sum(c) AS s FROM t WHERE a < i GROUP BY CUBE (b)) AS x",
    "SELECT i FROM k WHERE n IN (SELECT b FROM t WHERE a = i GROUP BY ROLLUP (b))",
    (
        "SELECT a, b, count(*) FROM t GROUP BY DISTINCT ROLLUP (a, b), ROLLUP (a)",
        "SELECT a, b, count(*) FROM t GROUP BY ROLLUP (a, b)",
    ),
    (
        "SELECT a, count(*) FROM t GROUP BY ALL ROLLUP (a), ROLLUP (a)",
        "SELECT a, count(*) FROM t GROUP BY GROUPING SETS ((a), (a), (a), ())",
    ),
    "SELECT a, b, count(*) FROM t GROUP BY (a, b), ()",
    "SELECT sum(d) FROM t GROUP BY ()",
    "SELECT a, b, sum(c) AS s, sum(d) + 1 AS x FROM t GROUP BY ALL",
    "SELECT *, count(*) FROM k GROUP BY ALL",
    "SELECT upper(b) AS u FROM t GROUP BY ALL",
]


def test_sets() -> None:
    hold(TABLES, SETS)


def test_in_supersteps(tmp_path: Path) -> None:
    executor, rng = executor_for(SEED, tmp_path, Here(SEED))
    hold(TABLES, SETS[::4], seeds=seeds(1), length=6, make=lambda: Mixed(executor, rng, 0.7))
    assert executor.done
