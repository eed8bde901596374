"""Random recursive queries whose step is not additive: what it finds depends on which rows come together.

All end: a column counts rounds and is bounded, or rows come from a table and are taken once. The columns are
`n`, small, and `k`, the count. A step reads `{r}`, which is the recursive name or a CTE over it.
"""

from __future__ import annotations

import random

TABLES = ("t(a INTEGER)", "e(s INTEGER, d INTEGER)")
_MOST = 2
"""The count that ends a recursion."""

_BASES = (
    "SELECT a % 5, 0 FROM t",
    "SELECT DISTINCT s % 5, 0 FROM e WHERE d > 1",
    "SELECT 1, 0",
    "SELECT a % 5, 0 FROM t WHERE a IS NULL",
    "SELECT count(*)::INTEGER % 5, 0 FROM t",
)
_STEPS = (
    "SELECT DISTINCT e.d % 5, k + 1 FROM {r} JOIN e ON e.s = n WHERE k < {most}",
    "SELECT n, k + 1 FROM {r} WHERE k < {most} GROUP BY n, k",
    "SELECT max(n), max(k) + 1 FROM {r} HAVING max(k) < {most}",
    "SELECT n % 2, max(k) + 1 FROM {r} WHERE k < {most} GROUP BY n % 2 HAVING count(*) > 1",
    "SELECT count(*)::INTEGER % 5, coalesce(max(k), 9) + 1 FROM {r} HAVING coalesce(max(k), 0) < {most}",
    "SELECT (x.n + y.n) % 5, x.k + 1 FROM {r} AS x JOIN {r} AS y ON x.n < y.n AND x.k = y.k "
    "WHERE x.k < {most}",
    "SELECT n, k + 1 FROM {r} WHERE k < {most} AND {no}EXISTS (SELECT 1 FROM e WHERE s % 5 = n)",
    "SELECT n, k + 1 FROM {r} AS x WHERE k < {most} AND {no}EXISTS (SELECT 1 FROM {r} AS y "
    "WHERE y.n = x.n + 1)",
    "SELECT n + 1, k + 1 FROM {r} WHERE k < {most} AND n = (SELECT min(n) FROM {r})",
    "SELECT row_number() OVER (ORDER BY n, k)::INTEGER % 5, k + 1 FROM {r} WHERE k < {most}",
    "SELECT count(*) OVER (PARTITION BY n)::INTEGER % 5, k + 1 FROM {r} WHERE k < {most}",
    "SELECT coalesce(lag(n) OVER (ORDER BY n, k), 4), k + 1 FROM {r} WHERE k < {most}",
    "SELECT n, k + 1 FROM {r} WHERE k < {most} ORDER BY n DESC NULLS LAST, k LIMIT 2",
    "SELECT DISTINCT ON (n) n, k + 1 FROM {r} WHERE k < {most} ORDER BY n, k",
    "SELECT n, k + 1 FROM {r} LEFT JOIN e ON s = n WHERE k < {most} AND (d IS NULL OR d > 2)",
)
_ONCE = (
    "SELECT a % 5, 7 FROM t WHERE a % 5 NOT IN (SELECT n FROM {r} WHERE n IS NOT NULL)",
    "SELECT a % 5, coalesce(k, 9) + 1 FROM t LEFT JOIN {r} ON n = a % 5 WHERE coalesce(k, 0) < {most}",
    "SELECT a % 5, 7 FROM t EXCEPT SELECT n, 7 FROM {r}",
    "SELECT coalesce(n, 3), coalesce(k, 8) + 1 FROM {r} FULL JOIN t ON n = a % 5 WHERE "
    "coalesce(k, 0) < {most}",
)
"""Steps that may have rows without the recursive name's: they end under UNION, with the values of a table."""
_FINALS = ("SELECT * FROM r", "SELECT n, count(*) AS c FROM r GROUP BY n", "SELECT n FROM r WHERE k > 0")


def working_table_query(rng: random.Random, dialect: str) -> str:
    """A query that the dialect's system, postgres or duckdb, runs."""
    as_set = rng.random() < 0.6
    base = rng.choice(_BASES)
    step = _step(rng, as_set)
    if dialect == "duckdb" and rng.random() < 0.2:
        step = f"({step}) EXCEPT (SELECT n, k FROM recurring.r)"
    if dialect == "postgres" or rng.random() < 0.3:
        materialized = rng.choice(("", "", "MATERIALIZED "))
        step = f"WITH c AS {materialized}(SELECT n, k FROM r) {step.replace('{r}', 'c')}"
    step = step.replace("{r}", "r")
    return (
        f"WITH RECURSIVE r(n, k) AS ({base} UNION {'' if as_set else 'ALL '}({step})) {rng.choice(_FINALS)}"
    )


def _step(rng: random.Random, as_set: bool) -> str:
    steps = _STEPS + _ONCE if as_set else _STEPS
    step = rng.choice(steps)
    if rng.random() < 0.3:
        operator = rng.choice(("UNION", "UNION ALL", "EXCEPT", "INTERSECT"))
        step = f"({step}) {operator} ({rng.choice(steps)})"
    return step.replace("{most}", str(rng.randint(1, _MOST))).replace("{no}", rng.choice(("", "NOT ")))
