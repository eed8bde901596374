"""Joins of every kind on any condition, and columns by name."""

from __future__ import annotations

from tests.property.examples import SQL, hold
from tests.seeds import seeds

TABLES = (
    "t(k INTEGER, a INTEGER, b TEXT)",
    "u(k INTEGER, a INTEGER, d TEXT)",
    "p(k INTEGER, ts INTEGER, price NUMERIC(6, 2))",
    "q(k INTEGER, ts INTEGER, note TEXT)",
)

KINDS = ("JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN")
CONDITIONS = (
    "t.k = u.k",
    "t.k = u.k AND t.a < u.a",
    "t.a < u.a",
    "t.k = u.k OR t.a = u.a",
    "t.k = u.k AND t.a > 1 AND u.a < 3",
    "t.b || 'x' = u.d || 'x' AND coalesce(t.a, 0) = coalesce(u.a, 0)",
    "t.k IS NOT DISTINCT FROM u.k AND t.b <> u.d",
    "t.b IS NULL",
    "TRUE",
)
ON: list[SQL] = [f"SELECT * FROM t {kind} u ON {condition}" for kind in KINDS for condition in CONDITIONS]

NAMED: list[SQL] = [
    "SELECT * FROM t NATURAL JOIN u",
    "SELECT * FROM t NATURAL LEFT JOIN u",
    "SELECT * FROM t NATURAL FULL JOIN u",
    "SELECT * FROM t RIGHT JOIN u USING (k)",
    "SELECT k, t.k, u.k, t.a, u.a FROM t FULL JOIN u USING (k)",
    "SELECT k, count(*) FROM t FULL JOIN u USING (k) FULL JOIN p USING (k) GROUP BY k",
    "SELECT * FROM t CROSS JOIN u",
    "SELECT * FROM t, u JOIN p ON u.k = p.k",
    "SELECT * FROM t, LATERAL (SELECT u.d FROM u WHERE u.k = t.k AND u.a > t.a) AS x",
    "SELECT * FROM t JOIN u ON t.k = u.k, LATERAL (SELECT count(*) AS n FROM p WHERE p.k = t.k) AS x",
    "SELECT * FROM t LEFT JOIN (u JOIN p ON u.k = p.k) ON t.k = u.k",
    "SELECT * FROM t SEMI JOIN u ON t.k = u.k",
    "SELECT * FROM t ANTI JOIN u ON t.k = u.k AND t.a < u.a",
    "SELECT t.b FROM t SEMI JOIN u USING (k) ANTI JOIN p ON p.k = t.a",
]

ASKING: list[SQL] = [
    "SELECT t.a, u.d FROM t JOIN u ON EXISTS (SELECT 1 FROM p WHERE p.k = t.k AND p.ts = u.a)",
    "SELECT t.a, u.d FROM t LEFT JOIN u ON t.k = u.k AND u.a IN (SELECT ts FROM p)",
    "SELECT t.a, u.d FROM t LEFT JOIN u ON t.k = u.k AND t.a = (SELECT max(ts) FROM p WHERE p.k = t.k)",
]

ASOF: list[SQL] = [
    "SELECT * FROM q ASOF JOIN (SELECT k, ts, max(price) AS m FROM p GROUP BY 1, 2) AS p "
    "ON q.k = p.k AND q.ts >= p.ts",
    "SELECT q.*, p.ts, p.m FROM q ASOF LEFT JOIN (SELECT k, ts, max(price) AS m FROM p GROUP BY 1, 2) AS p "
    "ON q.k = p.k AND p.ts < q.ts",
    "SELECT q.note, p.ts FROM q ASOF LEFT JOIN (SELECT DISTINCT ts FROM p) AS p ON q.ts <= p.ts",
    "SELECT * FROM q ASOF JOIN (SELECT DISTINCT k, ts FROM p) AS p USING (k, ts)",
    (
        "SELECT q.note, p.price FROM q ASOF JOIN p ON q.k = p.k AND q.ts > p.ts",
        "SELECT q.note, x.price FROM q, LATERAL (SELECT price FROM p WHERE q.k = p.k AND q.ts > p.ts "
        "ORDER BY ts DESC, price NULLS LAST LIMIT 1) AS x",
    ),
]

STARS: list[SQL] = [
    "SELECT * EXCLUDE (a) FROM t",
    "SELECT t.* EXCLUDE (b), u.* EXCLUDE (k, A) FROM t JOIN u USING (k)",
    "SELECT * REPLACE (a + 1 AS a, upper(b) AS b) FROM t",
    "SELECT * EXCLUDE (k) RENAME (a AS z) FROM t",
    "SELECT COLUMNS('a|b') FROM t",
    "SELECT min(COLUMNS(* EXCLUDE b)), count(*) FROM t",
    "SELECT k, max(COLUMNS('^a')) + 1 FROM t GROUP BY k",
    ("SELECT * LIKE '%a' FROM t", "SELECT a FROM t"),
    "FROM t SELECT b WHERE a > 1",
    "FROM u",
]

BY_NAME: list[SQL] = [
    "SELECT a, b FROM t UNION BY NAME SELECT d, a FROM u",
    "SELECT k, b FROM t UNION ALL BY NAME SELECT k, price AS c, ts AS b2 FROM p",
    (
        "SELECT k, a, b FROM t UNION ALL CORRESPONDING SELECT a, d, k FROM u",
        "SELECT k, a FROM t UNION ALL SELECT k, a FROM u",
    ),
    (
        "SELECT * FROM t UNION CORRESPONDING BY (a) SELECT * FROM u",
        "SELECT a FROM t UNION SELECT a FROM u",
    ),
]

VALUES: list[SQL] = [
    ("TABLE t", "FROM t"),
    "SELECT * FROM (VALUES (1, 'x'), (NULL, 'y')) AS v (n, s) LEFT JOIN t ON t.a = v.n",
    "SELECT a, (VALUES (1)) FROM t WHERE a IN (VALUES (1), (2))",
    "VALUES (1, 'x'), (2, NULL) UNION ALL SELECT a, b FROM t",
    "SELECT a, x.v FROM t, LATERAL (VALUES (a), (k)) AS x (v)",
    "WITH w (n) AS (VALUES (1), (2)) SELECT n, count(a) FROM w LEFT JOIN t ON a > n GROUP BY n",
]


def test_on_any_condition() -> None:
    hold(TABLES, ON, seeds=seeds(1), length=6)


def test_named_columns_and_other_kinds() -> None:
    hold(TABLES, [*NAMED, *ASKING, *VALUES])


def test_the_nearest_row() -> None:
    hold(TABLES, ASOF)


def test_stars() -> None:
    hold(TABLES, STARS, dialect="duckdb")


def test_by_name() -> None:
    hold(TABLES, BY_NAME)
