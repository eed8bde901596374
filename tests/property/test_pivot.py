"""PIVOT and UNPIVOT, and comparisons of rows."""

from __future__ import annotations

from tests.property.examples import SQL, hold

TABLES = (
    "t(g INTEGER, k TEXT, x INTEGER)",
    "w(id INTEGER, a INTEGER, b INTEGER)",
)

PIVOTS: list[SQL] = [
    "SELECT * FROM t PIVOT (sum(x) FOR k IN ('a', 'b'))",
    "SELECT * FROM t PIVOT (sum(x) AS s, count(*) AS n FOR k IN ('a', 'b') GROUP BY g)",
    "SELECT g, a_s FROM (SELECT g, k, x FROM t WHERE x > 0) PIVOT (max(x) AS s FOR k IN ('a')) AS p",
    "SELECT p.g, p.a, w.b FROM t PIVOT (min(x) FOR k IN ('a', 'b')) AS p JOIN w ON w.id = p.g",
    "WITH p AS (PIVOT t ON k IN ('a', 'ab') USING sum(x) GROUP BY g) SELECT * FROM p",
    "SELECT * FROM (PIVOT t ON k IN ('a', 'b') USING max(x) AS m)",
]

UNPIVOTS: list[SQL] = [
    "SELECT * FROM w UNPIVOT (v FOR c IN (a, b))",
    "SELECT * FROM w UNPIVOT INCLUDE NULLS (v FOR c IN (a, b))",
    "SELECT c, sum(v) FROM (UNPIVOT w ON a, b INTO NAME c VALUE v) GROUP BY c",
    "UNPIVOT w ON a, b INTO NAME c VALUE v",
    "UNPIVOT (SELECT a, b FROM w) ON COLUMNS(*) INTO NAME c VALUE v",
    "SELECT * FROM (UNPIVOT w ON (a, b), (b, id) INTO NAME c VALUE v, u)",
    "SELECT * FROM w UNPIVOT INCLUDE NULLS ((v, u) FOR c IN ((a, b) AS 'x', (b, a)))",
]

ROWS: list[SQL] = [
    (
        "SELECT id FROM w WHERE (a, b) < (1, 2)",
        "SELECT id FROM w WHERE a < 1 OR (a = 1 AND b < 2)",
    ),
    (
        "SELECT id, (a, b) >= (b, a) AS c FROM w",
        "SELECT id, a > b OR (a = b AND b >= a) AS c FROM w",
    ),
    (
        "SELECT id FROM w WHERE (a, b, id) <= (1, 1, 1)",
        "SELECT id FROM w WHERE a < 1 OR (a = 1 AND (b < 1 OR (b = 1 AND id <= 1)))",
    ),
    (
        "SELECT id FROM w WHERE (a, b) IN (SELECT g, x FROM t)",
        "SELECT id FROM w WHERE EXISTS (SELECT 1 FROM t WHERE a = g AND b = x)",
    ),
    (
        "SELECT id FROM w WHERE (a, b) = ANY (SELECT g, x FROM t)",
        "SELECT id FROM w WHERE EXISTS (SELECT 1 FROM t WHERE a = g AND b = x)",
    ),
    (
        "SELECT id FROM w WHERE (a, b) > ALL (SELECT g, x FROM t WHERE g = w.id)",
        "SELECT id FROM w WHERE NOT EXISTS (SELECT 1 FROM t WHERE g = w.id "
        "AND (a > g OR (a = g AND b > x)) IS NOT TRUE)",
    ),
    (
        "SELECT id FROM w WHERE a <> ALL (SELECT x FROM t WHERE g = w.id)",
        "SELECT id FROM w WHERE NOT EXISTS (SELECT 1 FROM t WHERE g = w.id AND (a <> x) IS NOT TRUE)",
    ),
]


def test_pivots() -> None:
    hold(TABLES, PIVOTS, dialect="duckdb")


def test_unpivots() -> None:
    hold(TABLES, UNPIVOTS, dialect="duckdb")


def test_rows() -> None:
    hold(TABLES, ROWS)
