"""Recursion that DuckDB cannot run: the fixed point, written out; `tests/corpus` has what it can."""

from __future__ import annotations

from collections import Counter

import pytest

from engine.plan.nodes import Node, Recursive, Variable
from planner import PlannerError
from tests.planner.samples import ROWS, answer, check, planned


def test_lengths_of_walks() -> None:
    """Not a query of the corpus: over edges without a length it does not end."""
    check(
        "WITH RECURSIVE p(n, d) AS (SELECT 1, 0 UNION ALL SELECT e.dst, d + w FROM p JOIN edges e "
        "ON e.src = p.n WHERE d < 12) SELECT n, min(d), count(*) FROM p GROUP BY n"
    )


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


DISTINCT = (
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT DISTINCT n + 1 FROM r WHERE n < 5) SELECT * FROM r"
)


def test_only_the_dialects_of_known_systems_have_a_working_table() -> None:
    check(DISTINCT)
    check(DISTINCT, dialect="duckdb")
    with pytest.raises(PlannerError, match="not supported in the dialect mysql"):
        planned(DISTINCT, "mysql")


def test_a_system_that_refuses_a_recursion_leaves_it_the_fixed_point() -> None:
    """From 1, DuckDB adds rows of the last round to each other; the fixed point adds any two rows."""
    sums = (
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION SELECT a.n + b.n FROM r a, r b WHERE a.n + "
        "b.n < 9) SELECT n FROM r"
    )
    assert answer(planned(sums, "duckdb")) == Counter([(1,), (2,), (4,), (8,)])
    assert answer(planned(sums)) == Counter([(n,) for n in range(1, 9)])


@pytest.mark.parametrize(
    "sql",
    [
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION (SELECT n + 1 FROM r WHERE n < 9 EXCEPT SELECT 3)) "
        "SELECT * FROM r",
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION (SELECT src FROM edges INTERSECT SELECT n + 1 FROM r)) "
        "SELECT * FROM r",
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION SELECT a.n + b.n FROM (WITH c AS (SELECT n FROM r) "
        "SELECT x.n FROM c x, c y WHERE x.n < 5) a, (VALUES (1), (2)) b(n)) SELECT * FROM r",
        "WITH RECURSIVE r(n) AS (SELECT 5 UNION (WITH c AS (SELECT n FROM r) SELECT "
        "count(*)::INTEGER FROM c)) "
        "SELECT * FROM r",
        "WITH RECURSIVE r(n) AS (SELECT a FROM none UNION (WITH c AS (SELECT n FROM r) SELECT 7 "
        "WHERE NOT EXISTS "
        "(SELECT 1 FROM c))) SELECT * FROM r",
        "WITH RECURSIVE r(n) AS (SELECT src FROM edges UNION ALL (SELECT n + 1 FROM r WHERE n < 5 ORDER BY n "
        "LIMIT 1)) SELECT * FROM r",
    ],
)
def test_what_both_systems_run_has_the_working_table(sql: str) -> None:
    check(sql)
    check(sql, dialect="duckdb")


@pytest.mark.parametrize(
    "sql",
    [
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION SELECT a.n + b.n FROM r a, r b WHERE a.n < 5) "
        "SELECT * FROM r",
        "WITH RECURSIVE r(n) AS (SELECT a FROM none UNION (SELECT count(*)::INTEGER FROM r)) SELECT * FROM r",
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT max(n) + 1 FROM r HAVING max(n) < 5) "
        "SELECT * FROM r",
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION (SELECT a FROM t EXCEPT SELECT n FROM r)) SELECT * FROM r",
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION SELECT a FROM t WHERE a NOT IN (SELECT n FROM recurring.r)) "
        "SELECT * FROM r",
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION SELECT n + 1 FROM recurring.r WHERE n < 5) SELECT * FROM r",
        "SELECT t.a, (WITH RECURSIVE r(n) AS (SELECT t.a UNION ALL (SELECT max(n) + 1 FROM r HAVING "
        "max(n) < 4)) "
        "SELECT count(*) FROM r) FROM t",
    ],
)
def test_what_duckdb_alone_runs(sql: str) -> None:
    check(sql, dialect="duckdb")


@pytest.mark.parametrize(
    ("sql", "message"),
    [
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
