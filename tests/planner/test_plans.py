"""What plans look like where it matters for speed: keys, pushed filters, narrow inputs, shared parts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engine.plan.expressions import Call, ColumnRef, Literal, Op
from engine.plan.nodes import (
    AggregateSpec,
    Filter,
    Function,
    Join,
    Map,
    Node,
    Recursive,
    Reduce,
    Source,
    Threshold,
)
from engine.schema import BIGINT, BOOLEAN, INTEGER
from planner import Relation, plan_query
from tests.planner.samples import SCHEMAS, catalog, planned


def nodes(plan: Node) -> Iterator[Node]:
    """Every distinct node once."""
    seen: set[Node] = set()
    stack = [plan]
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            yield node
            stack += node.inputs


def of(sql: str, kind: type) -> list:
    return [node for node in nodes(planned(sql).plan) if isinstance(node, kind)]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT t.a FROM t, u WHERE t.a = u.a",
        "SELECT t.a FROM t, u, k WHERE k.id = u.a AND t.a = u.d",
        "SELECT t.a FROM t, u WHERE t.a + 1 = u.a * 2",
        "SELECT t.a FROM t CROSS JOIN u WHERE t.a = u.a",
        "SELECT t.a FROM t, u WHERE (t.a = u.a AND t.c > 1) OR (t.a = u.a AND u.d > 2)",
        "SELECT t.a FROM (SELECT a FROM t WHERE c > 1) t, (SELECT a + 1 AS a FROM u) u WHERE t.a = u.a",
        "SELECT t.a FROM t LEFT JOIN u ON t.a = u.a AND u.d > t.c",
        "SELECT t.a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.a = t.a AND u.d > 3)",
        "SELECT t.a, (SELECT max(d) FROM u WHERE u.a = t.a) FROM t",
    ],
)
def test_equalities_are_keys(sql: str) -> None:
    joins = of(sql, Join)
    assert joins
    assert all(join.left_keys for join in joins)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT x.b FROM (SELECT t.b, u.d FROM t JOIN u ON t.a = u.a) x WHERE x.b = 'x' AND x.d > 1",
        "SELECT b FROM (SELECT b, count(*) AS n FROM t GROUP BY b) x WHERE b = 'x'",
        "SELECT * FROM (SELECT b FROM t UNION SELECT note FROM days) x WHERE b = 'x'",
        "SELECT * FROM t LEFT JOIN u ON t.a = u.a WHERE t.b = 'x'",
        "SELECT * FROM t WHERE b = 'x' AND a IN (SELECT a FROM u)",
    ],
)
def test_filters_stand_on_the_tables(sql: str) -> None:
    for node in of(sql, Filter):
        below: Node = node.input
        while isinstance(below, Filter):
            below = below.input
        assert isinstance(below, Source)


@pytest.mark.parametrize(
    ("sql", "sources"),
    [
        ("SELECT * FROM t LEFT JOIN u ON t.a = u.a WHERE u.d > 3", 1),
        ("SELECT * FROM t FULL JOIN u ON t.a = u.a WHERE u.d > 3 AND t.c > 1", 1),
        ("SELECT * FROM t RIGHT JOIN u ON t.a = u.a WHERE t.c > 1", 1),
        ("SELECT * FROM t LEFT JOIN u ON t.a = u.a WHERE u.d IS NULL", 2),
        ("SELECT * FROM t LEFT JOIN u ON t.a = u.a WHERE coalesce(u.d, 4) > 3", 2),
    ],
)
def test_outer_joins_that_a_filter_makes_inner(sql: str, sources: int) -> None:
    assert len(of(sql, Join)) == sources


def test_joins_and_groups_read_just_their_columns() -> None:
    sql = "SELECT t.b, sum(u.d) FROM t JOIN u ON t.a = u.a WHERE t.c > 1 GROUP BY t.b"
    (join,) = of(sql, Join)
    assert [side.schema.names for side in join.inputs] == [("a", "b"), ("a", "d")]
    (reduce,) = of(sql, Reduce)
    assert reduce.input.schema.names == ("b", "d")


def test_counting_needs_no_column() -> None:
    (reduce,) = of("SELECT count(*) FROM t", Reduce)
    assert isinstance(reduce.input, Map)
    assert len(reduce.input.schema) == 1
    (reduce,) = of("SELECT count(id), count(q) FROM k", Reduce)
    assert reduce.aggregates[0] == AggregateSpec(Function.COUNT, None, BIGINT)


@pytest.mark.parametrize(
    ("sql", "thresholds"),
    [
        ("SELECT DISTINCT id, p FROM k", 0),
        ("SELECT DISTINCT p FROM k", 1),
        ("SELECT DISTINCT a, count(*) FROM t GROUP BY a", 0),
        ("SELECT a FROM t WHERE a IN (SELECT id FROM k)", 0),
        ("SELECT a FROM t WHERE a IN (SELECT a FROM u)", 1),
        ("SELECT DISTINCT k.id, u.a FROM k JOIN (SELECT DISTINCT a FROM u) u ON u.a = k.q", 1),
        ("SELECT DISTINCT k.id FROM k JOIN k l ON l.id = k.q", 0),
    ],
)
def test_what_is_distinct_is_not_made_so_again(sql: str, thresholds: int) -> None:
    assert len(of(sql, Threshold)) == thresholds


def test_equal_queries_are_equal_plans_whatever_their_names() -> None:
    one = planned("SELECT x.b AS p, count(*) AS n FROM t x JOIN u y ON x.a = y.a GROUP BY x.b")
    other = planned("SELECT t.b, count(*) FROM t, u WHERE t.a = u.a GROUP BY 1")
    assert one.plan.inputs == (other.plan,), "but for the names, which a Map on top has"
    one, other = planned("SELECT a AS x FROM t WHERE a > 1"), planned("SELECT q.a AS x FROM t q WHERE a > 1")
    assert one.plan == other.plan


def test_a_view_is_inlined_and_shared() -> None:
    base = plan_query("SELECT a, sum(c) AS s FROM t GROUP BY a", catalog())
    relations = {**catalog(), "v": Relation("v", base.schema, base.plan, is_view=True)}
    query = plan_query("SELECT p.a FROM v p JOIN v q ON p.s = q.s WHERE p.a > 1", relations)
    assert query.reads == {"v"}
    assert [node for node in nodes(query.plan) if isinstance(node, Reduce)] == [base.plan.inputs[0]]


def test_a_query_used_twice_is_planned_once() -> None:
    sql = (
        "WITH x AS (SELECT a, b, sum(c) AS s FROM t GROUP BY a, b) "
        "SELECT p.a FROM x p, x q WHERE p.a = q.a AND q.s > 1"
    )
    assert len(of(sql, Reduce)) == 1


def test_several_names_of_one_recursion_share_its_bindings() -> None:
    sql = (
        "WITH RECURSIVE even(n) AS (SELECT 0 UNION SELECT n + 1 FROM odd WHERE n < 9), "
        "odd(n) AS (SELECT n + 1 FROM even WHERE n < 9) SELECT n FROM even UNION ALL SELECT n FROM odd"
    )
    first, second = of(sql, Recursive)
    assert first.bindings == second.bindings
    assert {first.result, second.result} == {"v0.0", "v0.1"}


def test_what_a_loop_does_not_change_is_outside_of_it() -> None:
    (recursive,) = of(
        "WITH RECURSIVE r(n) AS (SELECT src FROM edges UNION SELECT x.d FROM r JOIN "
        "(SELECT src, max(dst) AS d FROM edges GROUP BY src) x ON x.src = r.n) SELECT * FROM r",
        Recursive,
    )
    reduces = [node for node in nodes(recursive) if isinstance(node, Reduce)]
    assert [node.free for node in reduces] == [frozenset()]


def test_safe_filters_come_before_those_that_can_fail() -> None:
    query = planned("SELECT a FROM t WHERE 10 / a > 2 AND a <> 0 AND b = 'x'")
    outer, inner = [node for node in nodes(query.plan) if isinstance(node, Filter)]
    assert inner.input == Source("t", SCHEMAS["t"])
    assert outer.input is inner


def test_a_condition_that_is_never_true_reads_nothing() -> None:
    assert not of("SELECT a FROM t WHERE 1 = 1 AND FALSE", Source)
    assert not of("SELECT t.a FROM t JOIN u ON t.a = u.a AND NULL", Source)


@pytest.mark.parametrize(
    ("step", "starts_filtered"),
    [
        ("SELECT r.x, e.dst FROM r JOIN edges e ON e.src = r.y", True),
        ("SELECT r.x, max(e.dst) FROM r JOIN edges e ON e.src = r.y GROUP BY r.x", True),
        ("SELECT r.x, e.dst FROM r JOIN edges e ON e.src = r.y WHERE r.y IN (SELECT a FROM t)", True),
        ("SELECT e.src, r.y FROM r JOIN edges e ON e.dst = r.x", False),
        ("SELECT a.x, b.y FROM r a JOIN r b ON a.y = b.x", False),
        ("SELECT r.y, r.x FROM r", False),
        ("SELECT r.x, e.dst FROM r JOIN edges e ON e.src = r.y WHERE e.dst NOT IN (SELECT x FROM r)", False),
    ],
)
def test_a_filter_goes_to_where_a_recursion_starts(step: str, starts_filtered: bool) -> None:
    sql = f"WITH RECURSIVE r(x, y) AS (SELECT src, dst FROM edges UNION ({step})) SELECT y FROM r WHERE x = 1"
    (recursive,) = of(sql, Recursive)
    on_edges = [n for n in nodes(recursive) if isinstance(n, Filter) and isinstance(n.input, Source)]
    first = Call(Op.EQ, (ColumnRef(0, INTEGER), Literal(1, INTEGER)), BOOLEAN)
    assert any(node.predicate == first for node in on_edges) is starts_filtered
