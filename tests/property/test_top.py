"""ORDER BY with LIMIT and OFFSET, and DISTINCT ON, wherever a query may stand.

DuckDB breaks ties as it likes: where there may be some, the referee's query writes out ours.
"""

from __future__ import annotations

from pathlib import Path

from tests.engine.supersteps.mixed import Here, Mixed, executor_for
from tests.property.examples import SQL, hold
from tests.seeds import SEED, half, seeds

TABLES = (
    "t(a INTEGER, b TEXT, c DOUBLE PRECISION)",
    "u(a INTEGER, d DATE, e NUMERIC(6, 2))",
    "k(i INTEGER NOT NULL, n TEXT)",
)


WHOLE: list[SQL] = [
    ("SELECT a, b, c FROM t ORDER BY a", "SELECT a, b, c FROM t"),
    ("SELECT a, b FROM t LIMIT 3", "SELECT a, b FROM t ORDER BY 1, 2 LIMIT 3"),
    ("SELECT a, b FROM t OFFSET 2", "SELECT a, b FROM t ORDER BY 1, 2 OFFSET 2"),
    ("SELECT b, a FROM t ORDER BY a LIMIT 3", "SELECT b, a FROM t ORDER BY a, b LIMIT 3"),
    "SELECT a, b FROM t ORDER BY a DESC, b NULLS FIRST LIMIT 2 OFFSET 1",
    "SELECT a, b FROM t ORDER BY 2 DESC NULLS LAST, 1 LIMIT 4",
    "SELECT a + 1 AS x, b AS a FROM t ORDER BY x, a LIMIT 3",
    "SELECT c AS b, b AS x FROM t ORDER BY b, x FETCH FIRST 2 ROWS ONLY",
    ("SELECT b FROM t ORDER BY c * 2, a LIMIT 3", "SELECT b FROM t ORDER BY c * 2, a, b LIMIT 3"),
    ("SELECT a FROM t ORDER BY b LIMIT 1 + 2", "SELECT a FROM t ORDER BY b, a LIMIT 3"),
    "SELECT a, b FROM t ORDER BY 1, 2 LIMIT 0",
    "SELECT a, b FROM t ORDER BY 1, 2 LIMIT NULL OFFSET 3",
    "SELECT a, b FROM t ORDER BY 1, 2 LIMIT 100000000000 OFFSET 2",
    "SELECT a, b FROM t ORDER BY 1, 2 OFFSET 100000000000",
    "SELECT DISTINCT b, a FROM t ORDER BY a, b LIMIT 3",
    "SELECT b, count(*) AS n FROM t GROUP BY b ORDER BY n DESC, b LIMIT 2",
    "SELECT b FROM t GROUP BY b ORDER BY max(c) NULLS LAST, count(*), b LIMIT 2",
    "SELECT b, sum(c) AS s FROM t GROUP BY 1 HAVING count(*) > 1 ORDER BY sum(c) / count(*), b LIMIT 2",
    "SELECT NULL AS x, b FROM t ORDER BY 1, 2 LIMIT 2",
]

TIES = [
    (
        "SELECT a, b FROM t ORDER BY a FETCH FIRST 2 ROWS WITH TIES",
        "SELECT a, b FROM t QUALIFY rank() OVER (ORDER BY a) <= 2",
    ),
    (
        "SELECT b FROM t ORDER BY a DESC, c FETCH FIRST 3 ROWS WITH TIES",
        "SELECT b FROM t QUALIFY rank() OVER (ORDER BY a DESC NULLS FIRST, c) <= 3",
    ),
    (
        "SELECT a, b FROM t ORDER BY a OFFSET 2 ROWS FETCH NEXT 2 ROWS WITH TIES",
        "SELECT a, b FROM t QUALIFY row_number() OVER (ORDER BY a, b) > 2 AND rank() OVER (ORDER BY a) <= 4",
    ),
    (
        "SELECT i, x.c FROM k, LATERAL (SELECT c FROM t WHERE a = i ORDER BY b FETCH FIRST ROW WITH TIES) x",
        "SELECT i, c FROM k JOIN t ON a = i QUALIFY rank() OVER (PARTITION BY k.rowid ORDER BY b) = 1",
    ),
]

INSIDE: list[SQL] = [
    "SELECT x.b, count(*) FROM (SELECT a, b FROM t ORDER BY a, b LIMIT 4) AS x GROUP BY x.b",
    "WITH w AS (SELECT a, b FROM t ORDER BY a DESC, b LIMIT 3) SELECT * FROM w AS x JOIN w AS y ON x.b = y.b",
    "SELECT i, (SELECT b FROM t WHERE a = i ORDER BY c, b LIMIT 1) AS first FROM k",
    "SELECT i, (SELECT c FROM t ORDER BY c DESC LIMIT 1) AS most FROM k",
    "SELECT i, (SELECT count(*) FROM (SELECT 1 AS o FROM t WHERE a < i LIMIT 2) AS x) AS some FROM k",
    "SELECT i, x.* FROM k, LATERAL (SELECT c, b FROM t WHERE a = i ORDER BY c DESC, b LIMIT 2) AS x",
    "SELECT i, x.* FROM k LEFT JOIN LATERAL (SELECT c, b FROM t WHERE a <= i ORDER BY c, b OFFSET 1 LIMIT 1) "
    "AS x ON x.b <> n",
    "SELECT i FROM k WHERE EXISTS (SELECT 1 FROM t WHERE a = i ORDER BY b LIMIT 1)",
    "SELECT i FROM k WHERE NOT EXISTS (SELECT 1 FROM t WHERE a = i LIMIT 0)",
    "SELECT i FROM k WHERE EXISTS (SELECT 1 FROM t WHERE a = i OFFSET 1)",
    "SELECT i FROM k WHERE i IN (SELECT a FROM t ORDER BY a LIMIT 3)",
    "SELECT i FROM k WHERE i NOT IN (SELECT a FROM t ORDER BY a NULLS FIRST, c LIMIT 2)",
    "SELECT i FROM k WHERE n > ALL (SELECT b FROM t WHERE a = i ORDER BY b LIMIT 2)",
    "SELECT a, b FROM t UNION ALL SELECT a, NULL FROM u ORDER BY a DESC, b LIMIT 3",
    "(SELECT a FROM t ORDER BY a LIMIT 2) UNION ALL (SELECT a FROM u ORDER BY a DESC LIMIT 2)",
    "(SELECT a FROM t ORDER BY a LIMIT 4) EXCEPT (SELECT a FROM u ORDER BY a LIMIT 2) ORDER BY 1 LIMIT 2",
    "(SELECT a, b FROM t ORDER BY a, b LIMIT 5) ORDER BY b, a LIMIT 2",
    "WITH v (p, q) AS (VALUES (1, 'x'), (2, 'y'), (0, NULL) ORDER BY 1 LIMIT 2) SELECT * FROM v",
    "SELECT x.a FROM (SELECT a, b, c FROM t ORDER BY b, c, a LIMIT 3) AS x WHERE x.c > 0",
    "SELECT i, (SELECT a FROM (SELECT a, d FROM u ORDER BY d, a LIMIT 3) AS x WHERE a = i LIMIT 1) FROM k",
]

ON = [
    (
        "SELECT DISTINCT ON (b) b, a, c FROM t ORDER BY b, a",
        "SELECT b, a, c FROM t QUALIFY row_number() OVER (PARTITION BY b ORDER BY a, c) = 1",
    ),
    (
        "SELECT DISTINCT ON (a) b, c FROM t",
        "SELECT b, c FROM t QUALIFY row_number() OVER (PARTITION BY a ORDER BY b, c) = 1",
    ),
    (
        "SELECT DISTINCT ON (1, upper(b)) a AS x, c FROM t ORDER BY x, upper(b), c DESC LIMIT 3",
        "SELECT a, c FROM t "
        "QUALIFY row_number() OVER (PARTITION BY a, upper(b) ORDER BY c DESC NULLS FIRST) = 1 "
        "ORDER BY a, upper(b) LIMIT 3",
    ),
    (
        "SELECT DISTINCT ON (b) b, count(*) AS n FROM t GROUP BY b, a ORDER BY b, n DESC",
        "SELECT b, max(n) FROM (SELECT b, count(*) AS n FROM t GROUP BY b, a) GROUP BY b",
    ),
    (
        "SELECT i, x.b FROM k, LATERAL (SELECT DISTINCT ON (b) b, c FROM t WHERE a < i ORDER BY b, c) AS x",
        "SELECT i, x.b FROM k, LATERAL (SELECT DISTINCT b FROM t WHERE a < i) AS x",
    ),
]


def test_of_whole_queries() -> None:
    hold(TABLES, WHOLE)


def test_with_ties() -> None:
    hold(TABLES, TIES)


def test_inside_of_queries() -> None:
    hold(TABLES, INSIDE)


def test_distinct_on() -> None:
    hold(TABLES, ON)


def test_in_supersteps(tmp_path: Path) -> None:
    executor, rng = executor_for(SEED, tmp_path, Here(SEED))
    views = [*WHOLE[1::3], *TIES, *INSIDE[::2], *ON]
    hold(TABLES, half(views), seeds=seeds(1), length=6, make=lambda: Mixed(executor, rng, 0.7))
    assert executor.done
