"""Recursion: where DuckDB can run it, its answer; elsewhere the fixed point, written out."""

from __future__ import annotations

from collections import Counter

import pytest

from engine.plan.nodes import Node, Recursive, Variable
from planner import PlannerError
from tests.planner.samples import ROWS, answer, check, planned

LINEAR = [
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT * FROM r",
    "WITH RECURSIVE r AS (SELECT src FROM edges UNION SELECT e.dst FROM edges e JOIN r ON e.src = r.src) "
    "SELECT * FROM r",
    "WITH RECURSIVE reach(x, y) AS (SELECT src, dst FROM edges UNION "
    "SELECT r.x, e.dst FROM reach r, edges e WHERE r.y = e.src) SELECT * FROM reach WHERE x <> y",
    "WITH RECURSIVE p(n, d) AS (SELECT 1, 0 UNION ALL SELECT e.dst, d + w FROM p JOIN edges e ON e.src = p.n "
    "WHERE d < 12) SELECT n, min(d), count(*) FROM p GROUP BY n",
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 4) "
    "SELECT a.n, b.n FROM r a, r b WHERE a.n < b.n",
    "WITH RECURSIVE r(n, t) AS (SELECT 1, 'x' UNION ALL SELECT n + 1, t || 'y' FROM r WHERE n < 4) "
    "SELECT * FROM r",
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION SELECT (n * 2) % 7 FROM r), "
    "s(m) AS (SELECT n FROM r UNION SELECT m + 10 FROM s WHERE m < 20) SELECT * FROM s",
    "WITH RECURSIVE r(n) AS (SELECT a FROM t UNION SELECT n + 1 FROM r WHERE n < 5) SELECT count(*) FROM r",
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM (SELECT * FROM r WHERE n < 3) x) "
    "SELECT * FROM r",
    "WITH RECURSIVE r(n, o) AS (SELECT 1, NULL::int UNION SELECT n + 1, n FROM r WHERE n < 3) SELECT * "
    "FROM r",
    "SELECT * FROM (WITH RECURSIVE r(n) AS (SELECT 1 UNION SELECT n + 1 FROM r WHERE n < 3) SELECT n "
    "FROM r) x, k "
    "WHERE x.n = k.id",
    "SELECT a FROM t WHERE a IN (WITH RECURSIVE r(n) AS (SELECT 2 UNION SELECT n + 1 FROM r WHERE n < "
    "9) SELECT n FROM r)",
    "WITH RECURSIVE a(n) AS (SELECT 1), b(n) AS (SELECT n + 1 FROM a) SELECT * FROM a, b",
    "WITH RECURSIVE r(n, k) AS (SELECT 1, 1 UNION SELECT x.m, k + 1 FROM r, "
    "(WITH RECURSIVE i(m) AS (SELECT 1 UNION SELECT m + 1 FROM i WHERE m < 3) SELECT m FROM i) x WHERE "
    "k < 3) "
    "SELECT * FROM r",
]

_CLOSURE = (
    "WITH RECURSIVE reach(x, y, n) AS (SELECT src, dst, 1 FROM edges UNION "
    "SELECT r.x, e.dst, n + 1 FROM reach r, edges e WHERE r.y = e.src AND n < 5) "
)
FILTERED = [
    _CLOSURE + "SELECT * FROM reach WHERE x = 1",
    _CLOSURE + "SELECT * FROM reach WHERE x > 1 AND y <> 3 AND x + 1 < 4",
    _CLOSURE + "SELECT a.y FROM reach a JOIN t ON t.a = a.x WHERE a.x = 2",
    "WITH RECURSIVE r(x, n) AS (SELECT a, 0 FROM t UNION ALL SELECT x, n + 1 FROM r WHERE n < 2) "
    "SELECT * FROM r WHERE x = 1",
    "WITH RECURSIVE r(x, n) AS (SELECT a, 0 FROM t UNION ALL (SELECT x, n + 1 FROM r LEFT JOIN u ON u.a "
    "= r.x "
    "WHERE n < 2)) SELECT * FROM r WHERE x > 1 OR x IS NULL",
]

CORRELATED = [
    "SELECT a, (WITH RECURSIVE r(n) AS (SELECT t.a UNION SELECT n + 1 FROM r WHERE n < 5) SELECT "
    "count(*) FROM r) FROM t",
    "SELECT id, (WITH RECURSIVE r(n) AS (SELECT src FROM edges WHERE src = k.id UNION "
    "SELECT e.dst FROM r JOIN edges e ON e.src = r.n WHERE e.w <= k.q + 3) SELECT count(*) FROM r) FROM k",
    "SELECT id FROM k WHERE EXISTS (WITH RECURSIVE r(n) AS (SELECT k.id UNION SELECT n - 2 FROM r WHERE "
    "n > 0) "
    "SELECT 1 FROM r WHERE n = 0)",
    "SELECT id, (WITH RECURSIVE r(n) AS (SELECT k.id UNION "
    "SELECT n + 1 FROM (WITH x AS (SELECT n FROM r WHERE n < 4) SELECT * FROM x) y) SELECT sum(n) FROM "
    "r) FROM k",
]


@pytest.mark.parametrize("sql", LINEAR + FILTERED + CORRELATED)
def test_answers_as_the_referee(sql: str) -> None:
    check(sql)


EDGES = {(src, dst, w) for src, dst, w in ROWS["edges"]}


def closure(pairs: set[tuple[int, int]]) -> set[tuple[int, int]]:
    while True:
        more = pairs | {(a, d) for a, b in pairs for c, d in pairs if b == c}
        if more == pairs:
            return pairs
        pairs = more


def distances(start: int) -> dict[int, int]:
    best = {start: 0}
    for _ in EDGES:
        for src, dst, w in sorted(EDGES):
            if src in best:
                best[dst] = min(best.get(dst, 10**9), best[src] + w)
    return best


def test_nonlinear_closure() -> None:
    query = planned(
        "WITH RECURSIVE r(x, y) AS (SELECT src, dst FROM edges UNION "
        "SELECT a.x, b.y FROM r a JOIN r b ON a.y = b.x) SELECT * FROM r"
    )
    assert answer(query) == Counter(closure({(src, dst) for src, dst, _ in EDGES}))


@pytest.mark.parametrize(
    "sql",
    [
        "WITH RECURSIVE d(n, dist) AS (SELECT 1, 0 UNION SELECT e.dst, min(d.dist + e.w) FROM d JOIN edges e "
        "ON e.src = d.n GROUP BY e.dst) SELECT n, min(dist) FROM d GROUP BY n",
        "WITH RECURSIVE d(n, dist) AS (SELECT n, min(x) FROM (SELECT 1 AS n, 0 AS x UNION ALL "
        "SELECT e.dst, d.dist + e.w FROM d JOIN edges e ON e.src = d.n) p GROUP BY n) SELECT * FROM d",
        "WITH MUTUALLY RECURSIVE d (n int, dist int) AS (SELECT n, min(x) FROM (SELECT 1 AS n, 0 AS x "
        "UNION ALL "
        "SELECT e.dst, d.dist + e.w FROM d JOIN edges e ON e.src = d.n) p GROUP BY n) SELECT * FROM d",
    ],
)
def test_shortest_paths_by_min(sql: str) -> None:
    assert answer(planned(sql)) == Counter(distances(1).items())


def test_mutual_recursion() -> None:
    query = planned(
        "WITH RECURSIVE even(n) AS (SELECT 0 UNION SELECT n + 1 FROM odd WHERE n < 9), "
        "odd(n) AS (SELECT n + 1 FROM even WHERE n < 9) SELECT 'even', n FROM even UNION ALL SELECT "
        "'odd', n FROM odd"
    )
    expected = [("even" if n % 2 == 0 else "odd", n) for n in range(10)]
    assert answer(query) == Counter(expected)


def test_names_in_any_order() -> None:
    query = planned("WITH RECURSIVE b AS (SELECT n + 1 AS n FROM a), a(n) AS (SELECT 1) SELECT * FROM b")
    assert answer(query) == Counter([(2,)])


def test_explicit_recursion_is_a_bag() -> None:
    query = planned(
        "WITH MUTUALLY RECURSIVE r (n bigint) AS (SELECT 1 UNION ALL SELECT 1 UNION ALL SELECT n + 1 "
        "FROM r WHERE n < 3) "
        "SELECT n FROM r"
    )
    assert answer(query) == Counter({(1,): 2, (2,): 2, (3,): 2})
    assert str(query.schema.columns[0].type) == "BIGINT"


def test_explicit_recursion_stops_at_its_limit() -> None:
    endless = "r (n int) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT * FROM r"
    returned = planned(f"WITH MUTUALLY RECURSIVE (RETURN AT RECURSION LIMIT 4) {endless}")
    assert answer(returned) == Counter([(n,) for n in range(1, 5)])
    failing = planned(f"WITH MUTUALLY RECURSIVE (ERROR AT RECURSION LIMIT 4) {endless}")
    with pytest.raises(Exception, match="fixed point"):
        answer(failing)


def test_explicit_recursion_with_negation() -> None:
    """Positions from which the player to move wins: a move to one that does not win (the graph's drain "
    "loses)."""
    query = planned(
        "WITH MUTUALLY RECURSIVE (RETURN AT RECURSION LIMIT 6) win (n int) AS (SELECT DISTINCT src FROM "
        "edges e "
        "WHERE src <> 6 AND NOT EXISTS (SELECT 1 FROM win WHERE win.n = e.dst)) SELECT n FROM win"
    )
    win: set[int] = set()
    for _ in range(6):
        win = {src for src, dst, _ in EDGES if src != 6 and dst not in win}
    assert answer(query) == Counter([(n,) for n in win])


def test_a_recursion_inside_a_recursion_reads_the_outer_one() -> None:
    """Levels: what the inner recursion reaches within two steps of each level, from 1."""
    query = planned(
        "WITH RECURSIVE o(n) AS (SELECT 1 UNION SELECT i.m FROM "
        "(WITH RECURSIVE i(m, k) AS (SELECT n, 0 FROM o UNION SELECT e.dst, k + 1 FROM i JOIN edges e "
        "ON e.src = i.m "
        "WHERE k < 2) SELECT m FROM i) i) SELECT n FROM o"
    )
    assert answer(query) == Counter([(n,) for n in range(1, 6)])
    assert names(query.plan) == {"v0.0", "v1.0"}


def names(plan: Node) -> set[str]:
    found = {b.name for b in plan.bindings} if isinstance(plan, Recursive) else set()
    found |= {plan.name} if isinstance(plan, Variable) else set()
    return found.union(*(names(i) for i in plan.inputs)) if plan.inputs else found


def test_names_do_not_show_in_the_plan() -> None:
    one = planned(
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION SELECT n + 1 FROM r WHERE n < 5) SELECT n AS x FROM r"
    )
    other = planned(
        "WITH RECURSIVE s(m) AS (SELECT 1 UNION SELECT q.m + 1 FROM s q WHERE m < 5) SELECT m AS x FROM s"
    )
    assert one.plan == other.plan


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        (
            "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT DISTINCT n + 1 FROM r WHERE n < 5) "
            "SELECT * FROM r",
            "the step of recursive",
        ),
        (
            "WITH RECURSIVE r(n) AS (SELECT 1 UNION SELECT a.n + b.n FROM (WITH c AS (SELECT n FROM r) "
            "SELECT x.n FROM c x, c y WHERE x.n < 5) a, t b(n)) SELECT * FROM r",
            "the step of recursive",
        ),
        (
            "WITH RECURSIVE r(n) AS (SELECT 1 UNION (WITH c AS (SELECT n FROM r) SELECT count(*) FROM "
            "c)) SELECT * FROM r",
            "the step of recursive",
        ),
        (
            "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1.5 FROM r WHERE n < 5) SELECT * FROM r",
            'column "n" of recursive "r" is INTEGER where it starts, but NUMERIC',
        ),
        (
            "WITH RECURSIVE r(n) AS (SELECT n FROM r) SELECT * FROM r",
            'recursive "r" has no branch of UNION that does not refer to it',
        ),
        (
            "WITH MUTUALLY RECURSIVE r (n int, m int) AS (SELECT 1) SELECT * FROM r",
            '"r" is declared with 2 columns, its query returns 1',
        ),
    ],
)
def test_refused(sql: str, message: str) -> None:
    with pytest.raises(PlannerError) as caught:
        planned(sql)
    assert message in caught.value.message
    assert caught.value.line == 1
    assert caught.value.column is not None
