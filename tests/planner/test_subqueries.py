"""Subqueries of every kind, correlated or not: the plan's answer is DuckDB's."""

from __future__ import annotations

import pytest

from tests.oracle.interpreter import OracleError
from tests.planner.samples import answer, check, planned

EXISTS = [
    "SELECT * FROM t WHERE EXISTS (SELECT 1 FROM u)",
    "SELECT * FROM t WHERE EXISTS (SELECT 1 FROM none)",
    "SELECT * FROM t WHERE NOT EXISTS (SELECT 1 FROM none)",
    "SELECT * FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.a = t.a)",
    "SELECT * FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.a = t.a)",
    "SELECT * FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.a > t.a AND u.d < 30)",
    "SELECT * FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.a = t.a AND u.d > t.c * 7)",
    "SELECT * FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.a IS NOT DISTINCT FROM t.a)",
    "SELECT a, EXISTS (SELECT 1 FROM u WHERE u.a = t.a) AS x FROM t",
    "SELECT * FROM t WHERE a = 3 OR EXISTS (SELECT 1 FROM u WHERE u.a = t.a)",
    "SELECT * FROM t WHERE NOT (a = 3 OR EXISTS (SELECT 1 FROM u WHERE u.a = t.a))",
    "SELECT * FROM t WHERE EXISTS (SELECT 1 FROM u WHERE EXISTS (SELECT 1 FROM k WHERE k.id = u.a AND "
    "k.q = t.a))",
    "SELECT * FROM t WHERE EXISTS (SELECT count(*) FROM u WHERE u.a = t.a HAVING count(*) > 1)",
    "SELECT * FROM t WHERE EXISTS (SELECT count(*) FROM u WHERE u.a = t.a)",
    "SELECT * FROM t WHERE EXISTS (SELECT 1 FROM u LEFT JOIN k ON k.id = t.a WHERE k.p IS NULL AND u.a "
    "= t.a)",
    "SELECT * FROM t WHERE EXISTS (SELECT a FROM u WHERE u.a = t.a UNION SELECT id FROM k WHERE k.id = "
    "t.a + 1)",
    "SELECT * FROM t WHERE EXISTS (SELECT d FROM u WHERE u.a = t.a EXCEPT SELECT q FROM k WHERE k.id = t.a)",
    "SELECT x.a FROM (SELECT a, count(*) AS n FROM t GROUP BY a) x WHERE EXISTS (SELECT 1 FROM u WHERE "
    "u.a = x.n)",
    "SELECT * FROM t SEMI JOIN u ON t.a = u.a AND t.c < u.d",
    "SELECT * FROM t ANTI JOIN u ON t.a = u.a",
    "SELECT * FROM t ANTI JOIN u ON t.a = u.a AND t.c > 2",
    "SELECT * FROM t SEMI JOIN u ON t.a = u.a AND t.c < 2",
    "SELECT * FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.a = t.a AND t.c > 2)",
]

IN = [
    "SELECT * FROM t WHERE a IN (SELECT a FROM u)",
    "SELECT * FROM t WHERE a NOT IN (SELECT a FROM u)",
    "SELECT * FROM t WHERE a NOT IN (SELECT a FROM u WHERE a IS NOT NULL)",
    "SELECT * FROM t WHERE a NOT IN (SELECT a FROM none)",
    "SELECT * FROM t WHERE a NOT IN (SELECT id FROM k)",
    "SELECT * FROM k WHERE id NOT IN (SELECT a FROM t)",
    "SELECT * FROM k WHERE id NOT IN (SELECT q FROM k)",
    "SELECT a, a IN (SELECT a FROM u), a NOT IN (SELECT a FROM u) FROM t",
    "SELECT a, a IN (SELECT a FROM none), a IN (SELECT id FROM k), a NOT IN (SELECT id FROM k) FROM t",
    "SELECT id, id IN (SELECT q FROM k), id IN (SELECT a FROM u) FROM k",
    "SELECT * FROM t WHERE a = 3 OR a IN (SELECT a FROM u)",
    "SELECT * FROM t WHERE a = 3 OR a NOT IN (SELECT a FROM u)",
    "SELECT * FROM t WHERE (a IN (SELECT a FROM u)) IS NULL",
    "SELECT CASE WHEN a IN (SELECT a FROM u) THEN 'in' WHEN a NOT IN (SELECT a FROM u) THEN 'out' END FROM t",
    "SELECT * FROM t WHERE a + 1 IN (SELECT a FROM u)",
    "SELECT * FROM t WHERE a + 1 NOT IN (SELECT a FROM u WHERE d > 5)",
    "SELECT * FROM t WHERE a IN (SELECT u.a FROM u WHERE u.d > t.c * 7)",
    "SELECT * FROM t WHERE a NOT IN (SELECT u.a FROM u WHERE u.d > t.c * 7)",
    "SELECT a, c, a NOT IN (SELECT u.a FROM u WHERE u.d > t.c * 7) FROM t",
    "SELECT * FROM t WHERE a NOT IN (SELECT u.a FROM u WHERE u.a = t.a)",
    "SELECT * FROM k WHERE (id, q) IN (SELECT a, a FROM u)",
    "SELECT * FROM t WHERE a = ANY (SELECT a FROM u)",
    "SELECT * FROM t WHERE a > ANY (SELECT a FROM u)",
    "SELECT * FROM t WHERE a < ALL (SELECT a FROM u)",
    "SELECT * FROM t WHERE a <= ALL (SELECT a FROM u WHERE a IS NOT NULL)",
    "SELECT a, a > ALL (SELECT a FROM none), a > ANY (SELECT a FROM none), a <> ALL (SELECT a FROM u) FROM t",
    "SELECT * FROM t WHERE NOT (a IN (SELECT a FROM u) AND b IN (SELECT b FROM t))",
    "SELECT a FROM t WHERE a IN (SELECT id FROM k WHERE q IN (SELECT a FROM u WHERE u.d > k.id))",
    "SELECT a FROM t GROUP BY a HAVING count(*) IN (SELECT q FROM k)",
    "SELECT a FROM t WHERE (SELECT max(d) FROM u WHERE u.a = t.a) NOT IN (SELECT q * 11 FROM k)",
    "SELECT a, (SELECT max(q) FROM k) IN (SELECT a FROM u WHERE u.d > t.c) FROM t",
]

SCALAR = [
    "SELECT a, (SELECT max(d) FROM u) FROM t",
    "SELECT a, (SELECT max(d) FROM u WHERE u.a = t.a) FROM t",
    "SELECT a, (SELECT count(*) FROM u WHERE u.a = t.a) FROM t",
    "SELECT a, (SELECT count(*) + 1 FROM u WHERE u.a = t.a AND u.e) FROM t",
    "SELECT a, (SELECT sum(u.d) + t.a FROM u WHERE u.a = t.a) FROM t",
    "SELECT a, (SELECT sum(u.d + t.a) FROM u WHERE u.a < t.a) FROM t",
    "SELECT a, (SELECT p FROM k WHERE k.id = t.a) FROM t",
    "SELECT a, (SELECT p + t.c FROM k WHERE k.id = t.a) FROM t",
    "SELECT a, (SELECT a FROM none) FROM t",
    "SELECT a, (SELECT t.a + 1) FROM t",
    "SELECT a FROM t WHERE c > (SELECT avg(c) FROM t)",
    "SELECT a FROM t WHERE c > (SELECT avg(x.c) FROM t x WHERE x.a = t.a)",
    "SELECT a FROM t WHERE (SELECT count(*) FROM u WHERE u.a = t.a) = 0",
    "SELECT a FROM t WHERE a = (SELECT min(a) FROM u) OR c = (SELECT max(c) FROM t)",
    "SELECT a, (SELECT count(DISTINCT d) FROM u WHERE u.a = t.a OR u.a IS NULL) FROM t",
    "SELECT a, (SELECT count(*) FROM u WHERE u.a = t.a HAVING count(*) > 1) FROM t",
    "SELECT a, (SELECT count(*) FROM (SELECT DISTINCT d FROM u WHERE u.a = t.a) x) FROM t",
    "SELECT a, (SELECT count(*) FROM u JOIN k ON u.a = k.id AND k.q = t.a) FROM t",
    "SELECT a, (SELECT count(*) FROM u LEFT JOIN k ON u.a = k.id AND k.q = t.a) FROM t",
    "SELECT a, (SELECT count(*) FROM u FULL JOIN k ON u.a = k.id AND k.q = t.a) FROM t",
    "SELECT a, (SELECT count(x.p) FROM (SELECT * FROM u WHERE u.a = t.a) y LEFT JOIN "
    "(SELECT * FROM k WHERE k.q = t.a) x ON y.a = x.id) FROM t",
    "SELECT a, (SELECT count(*) FROM (SELECT a FROM u WHERE u.a = t.a UNION ALL SELECT id FROM k WHERE "
    "id = t.a) x) "
    "FROM t",
    "SELECT a, (SELECT max(n) FROM (SELECT e, count(*) AS n FROM u WHERE u.a >= t.a GROUP BY e) x) FROM t",
    "SELECT a, (SELECT sum((SELECT max(k.p) FROM k WHERE k.id = u.a AND k.q <= t.a)) FROM u) FROM t",
    "SELECT a, (WITH x AS (SELECT d FROM u WHERE u.a = t.a) SELECT count(*) FROM x p, x q) FROM t",
    "SELECT sum((SELECT count(*) FROM u WHERE u.a = t.a)) FROM t",
    "SELECT (SELECT count(*) FROM u WHERE u.a = t.a) AS n, count(*) FROM t GROUP BY n",
    "SELECT a, (SELECT max(u.d) FROM u WHERE u.a = t.a) FROM t GROUP BY a",
    "SELECT a + 1, (SELECT max(u.d) FROM u WHERE u.a = a + 1) FROM t GROUP BY a + 1, a",
    "SELECT * FROM t JOIN u ON t.a = u.a AND u.d = (SELECT max(d) FROM u v WHERE v.a = t.a)",
    "SELECT * FROM t LEFT JOIN u ON t.a = u.a AND u.d = (SELECT max(d) FROM u v WHERE v.a = u.a)",
    "SELECT coalesce((SELECT max(d) FROM u WHERE u.a = t.a), 0) + (SELECT count(*) FROM k) FROM t",
    "SELECT x.a, x.n FROM (SELECT a, (SELECT count(*) FROM u WHERE u.a = t.a) AS n FROM t) x WHERE x.n > 0",
    "SELECT e.src, (SELECT count(*) FROM edges f WHERE f.src = e.dst AND f.dst <> e.src) FROM edges e",
    "SELECT a FROM t x JOIN k ON x.a = k.id WHERE k.p > (SELECT min(p) FROM k y WHERE y.q = k.q AND "
    "y.id <> x.a)",
]


OUTER = [
    "SELECT * FROM t LEFT JOIN u ON t.a IN (SELECT id FROM k WHERE k.q < u.a)",
    "SELECT * FROM t LEFT JOIN u ON t.a = u.a AND NOT EXISTS (SELECT 1 FROM k WHERE k.id = t.a AND k.q "
    "< u.d)",
    "SELECT * FROM t FULL JOIN u ON t.a <= u.a AND EXISTS (SELECT 1 FROM k WHERE k.id = t.a AND k.q * "
    "11 < u.d)",
    "SELECT * FROM t FULL JOIN u ON t.a = u.a AND EXISTS (SELECT 1 FROM k WHERE k.id = t.a)",
]

LATERAL = [
    "SELECT t.a, x.n FROM t, LATERAL (SELECT count(*) AS n FROM u WHERE u.a = t.a) x",
    "SELECT t.a, x.d FROM t LEFT JOIN LATERAL (SELECT d FROM u WHERE u.a = t.a) x ON TRUE",
    "SELECT t.a, x.d FROM t LEFT JOIN LATERAL (SELECT d FROM u WHERE u.a >= t.a) x ON x.d > t.c * 7",
    "SELECT k.id, x.d, y.e FROM k CROSS JOIN LATERAL (SELECT d FROM u WHERE u.a = k.id) x, "
    "LATERAL (SELECT k.id + x.d AS e) y",
    "SELECT id, (SELECT sum(x.n) FROM u, LATERAL (SELECT u.d + k.id AS n WHERE u.a = k.id) x) FROM k",
    "SELECT t.a, x.* FROM t JOIN LATERAL (SELECT 3 AS c FROM u) x ON x.c = t.a",
]


@pytest.mark.parametrize("sql", EXISTS + IN + SCALAR + OUTER + LATERAL)
def test_answers_as_the_referee(sql: str) -> None:
    check(sql)


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
