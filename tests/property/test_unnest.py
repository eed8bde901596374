"""Rows of elements: UNNEST, generate_series, several lists, places, in FROM and in the select list."""

from __future__ import annotations

from pathlib import Path

from tests.engine.supersteps.mixed import Here, Mixed, executor_for
from tests.property.examples import SQL, hold
from tests.seeds import SEED, seeds

TABLES = (
    "t(a INTEGER, b TEXT, n INTEGER)",
    "k(i INTEGER NOT NULL, d DATE)",
)

SERIES: list[SQL] = [
    ("SELECT g FROM generate_series(1, 4) AS g", "SELECT unnest(generate_series(1, 4)) AS g"),
    (
        "SELECT a, g.i FROM t, generate_series(1, t.a) AS g (i)",
        "SELECT a, unnest(generate_series(1, a)) FROM t",
    ),
    (
        "SELECT a, n, i FROM t CROSS JOIN LATERAL generate_series(t.a, t.n, 2) AS g (i) WHERE i > 0",
        "SELECT a, n, i FROM (SELECT a, n, unnest(generate_series(a, n, 2)) AS i FROM t) WHERE i > 0",
    ),
    (
        "SELECT a, i FROM t LEFT JOIN LATERAL generate_series(3, t.a, -1) AS g (i) ON TRUE",
        "SELECT a, i FROM t LEFT JOIN LATERAL (SELECT unnest(generate_series(3, t.a, -1)) AS i) AS g ON TRUE",
    ),
    (
        "SELECT t.a, i FROM t LEFT JOIN generate_series(1, 3) AS g (i) ON t.a < i",
        "SELECT t.a, i FROM t LEFT JOIN (SELECT unnest([1, 2, 3]) AS i) AS g ON t.a < i",
    ),
    (
        "SELECT a, i, p FROM t, generate_series(t.a, 4) WITH ORDINALITY AS g (i, p)",
        "SELECT a, i, i - a + 1 FROM (SELECT a, unnest(generate_series(a, 4)) AS i FROM t)",
    ),
    ("SELECT a, generate_series(1, a) AS g FROM t", "SELECT a, unnest(generate_series(1, a)) AS g FROM t"),
    (
        "SELECT a, generate_series(1, a), generate_series(1, n) + 1 FROM t",
        "SELECT a, unnest(generate_series(1, a)), unnest(generate_series(1, n)) + 1 FROM t",
    ),
    (
        "SELECT b, count(*), generate_series(1, max(a)) AS g FROM t GROUP BY b ORDER BY g DESC, b LIMIT 5",
        "SELECT b, count(*), unnest(generate_series(1, max(a))) AS g FROM t GROUP BY b "
        "ORDER BY g DESC NULLS FIRST, b LIMIT 5",
    ),
    (
        "SELECT DISTINCT generate_series(0, a) AS g FROM t WHERE b IS NOT NULL",
        "SELECT DISTINCT unnest(generate_series(0, a)) AS g FROM t WHERE b IS NOT NULL",
    ),
    (
        "SELECT i, (SELECT sum(g) FROM generate_series(1, k.i) AS g) AS s FROM k",
        "SELECT i, CASE WHEN i > 0 THEN i * (i + 1) // 2 END FROM k",
    ),
    (
        "SELECT i FROM k WHERE EXISTS (SELECT 1 FROM t, generate_series(t.a, t.n) AS g WHERE g = k.i)",
        "SELECT i FROM k WHERE EXISTS (SELECT 1 FROM t WHERE k.i BETWEEN t.a AND t.n)",
    ),
    (
        "SELECT i, m FROM k, generate_series(d, d + 3, INTERVAL '36 hours') AS g (m)",
        "SELECT i, unnest(generate_series(CAST(d AS TIMESTAMP), d + 3, INTERVAL '36 hours')) FROM k",
    ),
    (
        "SELECT t.a, g, k.i FROM t, generate_series(1, t.n) AS g, k WHERE k.i = g",
        "SELECT t.a, k.i, k.i FROM t, k WHERE k.i BETWEEN 1 AND t.n",
    ),
]

ARRAYS: list[SQL] = [
    ("SELECT e FROM unnest(ARRAY[1, NULL, 3]) AS x (e)", "SELECT unnest([1, NULL, 3])"),
    (
        "SELECT a, e FROM t, unnest(ARRAY[t.a, t.n]) AS x (e)",
        "SELECT a, unnest([a, n]) FROM t",
    ),
    (
        "SELECT b, x FROM t, unnest(ARRAY[t.b, upper(t.b), 'z']) AS x WHERE x > 'a'",
        "SELECT b, x FROM (SELECT b, unnest([b, upper(b), 'z']) AS x FROM t) WHERE x > 'a'",
    ),
    (
        "SELECT a, e, f, p FROM t, unnest(ARRAY[t.a], ARRAY[t.n, 7]) WITH ORDINALITY AS x (e, f, p)",
        "SELECT a, a, n, 1 FROM t UNION ALL SELECT a, NULL, 7, 2 FROM t",
    ),
    ("SELECT a, unnest(ARRAY[a, n]) AS e FROM t", "SELECT a, unnest([a, n]) AS e FROM t"),
    (
        "SELECT a, x.e, x.g FROM t, ROWS FROM (unnest(ARRAY[t.n, 1]), generate_series(1, t.a)) AS x (e, g)",
        "SELECT a, unnest([n, 1]) AS e, unnest(generate_series(1, a)) AS g FROM t",
    ),
    (
        "SELECT w, count(*) FROM t, unnest(string_to_array(t.b, 'a')) AS w GROUP BY w",
        "SELECT w, count(*) FROM (SELECT unnest(string_split(b, 'a')) AS w FROM t WHERE b <> '') GROUP BY w",
    ),
    (
        "SELECT i FROM k WHERE i IN (SELECT unnest(ARRAY[t.a, t.n]) FROM t)",
        "SELECT i FROM k WHERE i IN (SELECT a FROM t UNION ALL SELECT n FROM t)",
    ),
]

RECURSIVE: list[SQL] = [
    (
        "WITH RECURSIVE r (v) AS (SELECT a FROM t UNION SELECT g FROM r, generate_series(r.v, 4) AS g) "
        "SELECT v FROM r",
        "SELECT DISTINCT v FROM (SELECT a AS v FROM t UNION ALL SELECT unnest(generate_series(a, 4)) FROM t)",
    ),
]


def test_series() -> None:
    hold(TABLES, SERIES)


def test_arrays() -> None:
    hold(TABLES, ARRAYS)


def test_in_a_recursion() -> None:
    hold(TABLES, RECURSIVE)


def test_in_supersteps(tmp_path: Path) -> None:
    executor, rng = executor_for(SEED, tmp_path, Here(SEED))
    views = [*SERIES[1::3], *ARRAYS[1::2], *RECURSIVE]
    hold(TABLES, views, seeds=seeds(1), length=6, make=lambda: Mixed(executor, rng, 0.7))
    assert executor.done
