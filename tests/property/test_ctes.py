"""WITH wherever a query may stand: nested, shadowed, correlated, recursive inside recursion."""

from __future__ import annotations

from tests.property.examples import SQL, hold

TABLES = (
    "e(s INTEGER, d INTEGER)",
    "t(a INTEGER, b TEXT)",
)

NESTED: list[SQL] = [
    "WITH x AS (WITH y AS (SELECT a + 1 AS a FROM t) SELECT a FROM y WHERE a > 1) SELECT * FROM x, t",
    "WITH x AS (SELECT a FROM t) SELECT * FROM (WITH x AS (SELECT s FROM e) SELECT * FROM x) AS i, x",
    "WITH t AS (SELECT a FROM t WHERE a > 0) SELECT a FROM t",
    "WITH x AS MATERIALIZED (SELECT a FROM t), y AS NOT MATERIALIZED (SELECT a FROM x) "
    "SELECT * FROM x JOIN y USING (a)",
    "(WITH x AS (SELECT a FROM t) SELECT a FROM x) UNION ALL (WITH x AS (SELECT s FROM e) SELECT s FROM x)",
    "WITH x AS (SELECT a FROM t) SELECT a FROM x EXCEPT (WITH y AS (SELECT s FROM e) SELECT s FROM y)",
    "SELECT s, (WITH x AS (SELECT a FROM t WHERE a > e.s) SELECT count(*) FROM x) AS n FROM e",
    "SELECT s FROM e WHERE EXISTS (WITH x AS (SELECT a FROM t WHERE a = e.d) SELECT 1 FROM x, x AS y)",
    "SELECT s, y.n FROM e, LATERAL (WITH x AS (SELECT a FROM t WHERE a < e.d) SELECT max(a) AS n FROM x) y",
]

RECURSIVE: list[SQL] = [
    (
        "SELECT t.a, (WITH RECURSIVE r (n) AS (SELECT t.a UNION SELECT d FROM r JOIN e ON e.s = r.n) "
        "SELECT count(*) FROM r) AS reach FROM t",
        "WITH RECURSIVE r (a, n) AS (SELECT a, a FROM t UNION SELECT r.a, d FROM r JOIN e ON e.s = r.n), "
        "c AS (SELECT a, count(*) AS n FROM r GROUP BY a) "
        "SELECT t.a, c.n FROM t JOIN c ON c.a IS NOT DISTINCT FROM t.a",
    ),
    "WITH RECURSIVE r (n) AS (SELECT a FROM t WHERE a < 3 UNION SELECT x.d FROM r, "
    "(WITH k AS (SELECT s, d FROM e) SELECT * FROM k) AS x WHERE x.s = r.n) SELECT n FROM r",
    (
        "WITH RECURSIVE r (n) AS (SELECT a FROM t UNION SELECT q.m FROM r, LATERAL (WITH RECURSIVE i (m) AS ("
        "SELECT r.n UNION SELECT e.d FROM i JOIN e ON e.s = i.m) SELECT m FROM i) AS q) SELECT n FROM r",
        "WITH RECURSIVE r (n) AS (SELECT a FROM t UNION SELECT d FROM r JOIN e ON s = n) SELECT n FROM r",
    ),
    "WITH RECURSIVE r (n) AS (SELECT a FROM t UNION SELECT d FROM r JOIN e ON e.s = r.n), "
    "q (n) AS (SELECT n FROM r WHERE n > 1 UNION SELECT s FROM q JOIN e ON e.d = q.n) SELECT * FROM q",
]

WORKING_TABLES: list[SQL] = [
    # Of these, rows that had come and gone once went round until FRESHET_MAX_ROUNDS.
    "WITH RECURSIVE r (n, k) AS (SELECT a % 5, 0 FROM t UNION ALL SELECT DISTINCT n, k + 1 "
    "FROM r WHERE k < 1) "
    "SELECT * FROM r",
    "WITH RECURSIVE r (n, k) AS (SELECT a % 5, 0 FROM t UNION SELECT x.n, x.k + 1 FROM r AS x JOIN r AS y "
    "ON x.n = y.n WHERE x.k < 1) SELECT * FROM r",
    "WITH RECURSIVE r (n, k) AS (SELECT a % 5, 0 FROM t UNION SELECT max(n), 1 FROM r HAVING max(k) < 1) "
    "SELECT * FROM r",
]

_KEYED = [
    "t (a, d) USING KEY (a, min(d)) AS (SELECT s, 0 FROM e WHERE s < 2 UNION "
    "SELECT e.d, t.d + 1 FROM t JOIN e ON e.s = t.a) SELECT * FROM t",
    "t (a, d) USING KEY (a) AS (SELECT s, 0 FROM e WHERE s < 2 GROUP BY s UNION "
    "SELECT e.d, max(t.d) + 1 FROM t JOIN e ON e.s = t.a WHERE t.d < 3 GROUP BY e.d) SELECT * FROM t",
    "t (a, d) USING KEY (a) AS (SELECT s, 0 FROM e WHERE s < 2 GROUP BY s UNION "
    "SELECT e.d, min(t.d) + 1 FROM t JOIN e ON e.s = t.a LEFT JOIN recurring.t AS r ON r.a = e.d "
    "WHERE r.a IS NULL OR t.d + 1 < r.d GROUP BY e.d) SELECT a, count(*) AS n, max(d) AS d FROM t GROUP BY a",
    "t (a, d, n) USING KEY (a, sum(d), max(n)) AS (SELECT s, 1, 0 FROM e WHERE s < 2 UNION "
    "SELECT e.d, t.d, t.n + 1 FROM t JOIN e ON e.s = t.a WHERE t.n < 2) SELECT * FROM t",
    "t (a, b, d) USING KEY (a, b, max(d)) AS (SELECT s, d, 0 FROM e UNION "
    "SELECT t.a, e.d, (SELECT count(*) FROM recurring.t)::INTEGER FROM t JOIN e ON e.s = t.b WHERE t.d = 0) "
    "SELECT * FROM t",
]
KEYED: list[SQL] = [(sql, sql) for sql in (f"WITH RECURSIVE {query}" for query in _KEYED)]

ASKING: list[SQL] = [
    "SELECT a, count(*) FROM t GROUP BY a HAVING count(*) > (SELECT count(*) FROM e WHERE e.s = t.a)",
    "SELECT b FROM t ORDER BY (SELECT max(d) FROM e WHERE e.s = t.a) NULLS LAST, b, a LIMIT 3",
    (
        "SELECT (SELECT count(*) FROM e WHERE e.s = t.a) AS n, count(*) FROM t GROUP BY 1",
        "SELECT n, count(*) FROM (SELECT (SELECT count(*) FROM e WHERE e.s = t.a) AS n FROM t) GROUP BY n",
    ),
    "SELECT t.a, e.d FROM t JOIN e ON e.s = (SELECT min(x.s) FROM e AS x WHERE x.d = t.a)",
    "SELECT t.a, e.d FROM t LEFT JOIN e ON e.s = t.a AND EXISTS (SELECT 1 FROM e AS x WHERE x.s = e.d)",
    "SELECT a FROM t WHERE a IN (SELECT d FROM e WHERE e.s < t.a ORDER BY d DESC LIMIT 2)",
]


def test_nested() -> None:
    hold(TABLES, NESTED)


def test_recursive() -> None:
    hold(TABLES, RECURSIVE)


def test_working_tables() -> None:
    hold(TABLES, WORKING_TABLES, dialect="duckdb")


def test_recursions_that_keep_a_row_for_each_key() -> None:
    hold(TABLES, KEYED, dialect="duckdb")


def test_subqueries_in_all_clauses() -> None:
    hold(TABLES, ASKING)
