"""Queries that would take too long or too much to plan: each is refused with its code, or stays small."""

from __future__ import annotations

import pytest

from engine.plan.nodes import Node, Source
from engine.runtime.engine import Engine
from engine.schema import DATE, INTEGER, TEXT, Column, Schema
from planner import Catalog, PlannedQuery, PlannerError, Relation, plan_query
from planner.explain import explain
from planner.limits import DEFAULT, PlanningLimits
from planner.statements.statement_reader import parse_script

SCHEMA = Schema((Column("k", INTEGER, False), Column("v", INTEGER), Column("s", TEXT), Column("d", DATE)))
CATALOG: Catalog = {"t": Relation("t", SCHEMA, Source("t", SCHEMA), (0,))}
MANY = 10_000

DOUBLED = {
    "a join": "SELECT a.k, a.v FROM {0} a JOIN {0} b ON a.k = b.k",
    "a left join": "SELECT a.k, b.v FROM {0} a LEFT JOIN {0} b ON a.k = b.v AND a.v > b.k",
    "a full join": "SELECT a.k, b.v FROM {0} a FULL JOIN {0} b ON a.k = b.v",
    "UNION ALL": "SELECT * FROM {0} UNION ALL SELECT * FROM {0}",
    "UNION": "SELECT * FROM {0} UNION SELECT v, k FROM {0}",
    "EXCEPT": "SELECT * FROM {0} EXCEPT ALL SELECT v, k FROM {0}",
    "EXISTS": "SELECT k, v FROM {0} a WHERE EXISTS (SELECT 1 FROM {0} b WHERE b.k = a.k AND b.v <> a.v)",
    "NOT IN": "SELECT k, v FROM {0} WHERE k NOT IN (SELECT v FROM {0})",
    "a query as a value": "SELECT a.k, (SELECT max(v) FROM {0} b WHERE b.k = a.k) AS v FROM {0} a",
    "LATERAL": "SELECT a.k, x.v FROM {0} a, LATERAL (SELECT max(v) AS v FROM {0} b WHERE b.k < a.k) x",
    "a window": "SELECT k, rank() OVER (PARTITION BY b.v ORDER BY k) AS v FROM {0} a JOIN {0} b USING (k)",
    "expressions": "SELECT k + k AS k, v * v AS v FROM {0}",
}


def planned(sql: str, limits: PlanningLimits = DEFAULT) -> PlannedQuery:
    return plan_query(sql, CATALOG, "postgres", limits)


def doubling(body: str, levels: int, base: str = "SELECT k, v FROM t WHERE v > 1", result: str = "*") -> str:
    """CTEs of which each reads the one before it as `body` says, mostly twice."""
    ctes = [f"c0 AS ({base})"]
    ctes += [f"c{level} AS ({body.format(f'c{level - 1}')})" for level in range(1, levels)]
    return f"WITH {', '.join(ctes)} SELECT {result} FROM c{levels - 1}"


def nodes(plan: Node) -> list[Node]:
    """The different nodes of a plan."""
    found: dict[Node, None] = {}
    waiting = [plan]
    while waiting:
        node = waiting.pop()
        if node not in found:
            found[node] = None
            waiting += node.inputs
    return list(found)


@pytest.mark.parametrize("body", DOUBLED.values(), ids=DOUBLED)
def test_what_is_used_twice_is_planned_once(body: str) -> None:
    sizes = [len(nodes(planned(doubling(body, levels)).plan)) for levels in (8, 16, 24)]
    assert sizes[2] - sizes[1] <= 1.5 * max(sizes[1] - sizes[0], 1)


@pytest.mark.parametrize("body", DOUBLED.values(), ids=DOUBLED)
def test_every_stage_shows_it_once(body: str) -> None:
    plan = planned(doubling(body, 14))
    for stage in ("logical", "optimized", "dataflow", "supersteps"):
        assert len(explain(plan, stage)) < 5_000_000


def test_views_over_views_share_what_they_read() -> None:
    catalog = dict(CATALOG)
    name = "t"
    for level in range(40):
        body = "SELECT k, v FROM {0} UNION ALL SELECT k, v FROM {0}" if level % 2 else DOUBLED["a join"]
        view = plan_query(body.format(name), catalog)
        name = f"v{level}"
        catalog[name] = Relation(name, view.schema, view.plan, None, True)
    assert len(nodes(view.plan)) < 400


def test_a_sum_is_right_however_it_is_nested() -> None:
    engine = Engine()
    levels = ["c0 AS (SELECT 1 AS a)"]
    levels += [f"c{i} AS (SELECT a FROM c{i - 1} UNION ALL SELECT a FROM c{i - 1})" for i in range(1, 11)]
    engine.create_view("v", planned(f"WITH {', '.join(levels)} SELECT a FROM c10").plan)
    assert engine.snapshot.rows("v", 0)[1].tolist() == [1024]


CORRELATED = "SELECT u.k, u.v FROM t u WHERE u.v = t.v"
REFUSED = {
    "parentheses": ("sql_too_deep", f"SELECT {'(' * MANY}k{')' * MANY} AS a FROM t"),
    "brackets": ("sql_too_deep", f"SELECT {'ARRAY[' * MANY}1{']' * MANY} AS a"),
    "CASE": ("sql_too_deep", f"SELECT {'CASE WHEN k > 1 THEN ' * MANY}k{' END' * MANY} AS a FROM t"),
    "NOT": ("sql_too_deep", f"SELECT * FROM t WHERE {'NOT ' * MANY}k > 1"),
    "signs": ("sql_too_deep", f"SELECT {'- ' * MANY}k AS a FROM t"),
    "queries": ("sql_too_deep", f"SELECT * FROM {'(SELECT * FROM ' * MANY}t{') x' * MANY}"),
    "calls": ("sql_too_deep", f"SELECT {'abs(' * MANY}k{')' * MANY} AS a FROM t"),
    "operators": ("sql_too_deep", f"SELECT {' + '.join(['k'] * MANY)} AS a FROM t"),
    "texts": ("sql_too_deep", f"SELECT {' || '.join(['s'] * MANY)} AS a FROM t"),
    "columns": ("too_many_columns", f"SELECT {', '.join(f'k AS c{i}' for i in range(5_000))} FROM t"),
    "a wide row": ("too_many_columns", f"SELECT * FROM (VALUES ({', '.join(['1'] * 5_000)})) AS x"),
    "joins": (
        "too_many_relations",
        f"SELECT 1 AS a FROM t t0 {' '.join(f'JOIN t t{i} ON t{i}.k = t{i - 1}.v' for i in range(1, 1_100))}",
    ),
    "unions": ("too_many_relations", " UNION ALL ".join(["SELECT k FROM t"] * 1_100)),
    "CTEs": (
        "too_many_relations",
        f"WITH {', '.join(f'c{i} AS (SELECT 1 AS a)' for i in range(1_100))} SELECT 1 AS a",
    ),
    "copies": (
        "too_many_relations",
        f"SELECT ({doubling(DOUBLED['a join'], 20, CORRELATED, 'max(v)')}) AS a FROM t",
    ),
    "doubled columns": (
        "too_many_columns",
        "WITH c0(a) AS (SELECT k FROM t), "
        + ", ".join(f"c{i} AS (SELECT x.*, y.* FROM c{i - 1} x, c{i - 1} y)" for i in range(1, 30))
        + " SELECT 1 AS a FROM c29",
    ),
}


@pytest.mark.parametrize(("code", "sql"), REFUSED.values(), ids=REFUSED)
def test_it_is_refused_with_its_code(code: str, sql: str) -> None:
    with pytest.raises(PlannerError) as refused:
        planned(sql)
    assert (refused.value.code, bool(refused.value.hint)) == (code, True)


def test_nesting_is_refused_at_its_place() -> None:
    with pytest.raises(PlannerError) as refused:
        planned("SELECT\n  ((((1)))) AS a", PlanningLimits(depth=3))
    assert (refused.value.code, refused.value.line, refused.value.column) == ("sql_too_deep", 2, 6)
    assert planned("SELECT\n  ((((1)))) AS a", PlanningLimits(depth=4)).schema.names == ("a",)


def test_a_text_is_measured_in_bytes() -> None:
    sql = "SELECT 'ñññ' AS a"
    assert planned(sql, PlanningLimits(bytes=len(sql) + 3)).schema.names == ("a",)
    with pytest.raises(PlannerError) as refused:
        planned(sql, PlanningLimits(bytes=len(sql) + 2))
    assert refused.value.code == "sql_too_large"


@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT * FROM t WHERE {' OR '.join(f'(k = {i} AND v > {i})' for i in range(300))}",
        f"SELECT t0.k FROM t t0 {' '.join(f'JOIN t t{i} ON t{i}.k = t{i - 1}.v' for i in range(1, 20))}",
        f"SELECT * FROM (VALUES {', '.join(f'({i})' for i in range(3_000))}) AS x",
    ],
)
def test_the_time_is_limited(sql: str) -> None:
    with pytest.raises(PlannerError) as refused:
        planned(sql, PlanningLimits(seconds=0.001))
    assert refused.value.code == "planning_timeout"


LONG = {
    "OR": f"SELECT k FROM t WHERE {' OR '.join(f'(k = {i} AND v > {i})' for i in range(1_000))}",
    "AND of what can fail": f"SELECT k FROM t WHERE {' AND '.join(f'k + {i} > v' for i in range(500))}",
    "UNION ALL": " UNION ALL ".join(f"SELECT {i} AS a" for i in range(1_000)),
    "UNION": " UNION ".join(f"SELECT k FROM t WHERE v = {i}" for i in range(300)),
    "sums": f"SELECT {' + '.join(['k'] * 150)} AS a FROM t",
}


@pytest.mark.parametrize("sql", LONG.values(), ids=LONG)
def test_long_chains_are_planned(sql: str) -> None:
    assert planned(sql).plan.schema


CONSTANTS = {
    "repeat": "repeat('x', 10000000000)",
    "repeated twice": "repeat(repeat('x', 100000), 100000)",
    "padding": "lpad('x', 2000000000)",
    "replacements": "replace(repeat('a', 999999), 'a', repeat('b', 999999))",
    "distances": "levenshtein(repeat('a', 1000000), repeat('b', 1000000))",
    "formats": "format('%2000000000s', 'x')",
}


@pytest.mark.parametrize("text", CONSTANTS.values(), ids=CONSTANTS)
def test_a_constant_has_a_largest_size(text: str) -> None:
    with pytest.raises(PlannerError) as refused:
        planned(f"SELECT {text} AS a")
    assert (refused.value.code, bool(refused.value.hint)) == ("constant_too_large", True)


@pytest.mark.parametrize("text", ["9" * 1_000, f"-{'9' * 900}"])
def test_a_number_has_a_largest_size(text: str) -> None:
    with pytest.raises(PlannerError, match="is too large"):
        planned(f"SELECT {text} AS a")


@pytest.mark.parametrize("text", ["9" * 1_001, "9" * 1_000_000, f"1.{'9' * 5_000}", f"1e{'9' * 5_000}"])
def test_a_number_has_a_greatest_length(text: str) -> None:
    for script in (f"SELECT\n  -{text} AS a", f"SELECT 1 AS a LIMIT\n   {text}"):
        for plan in (planned, parse_script):
            with pytest.raises(PlannerError) as refused:
                plan(script)
            error = refused.value
            assert (error.code, error.line, error.column) == ("constant_too_large", 2, 4)
            assert error.hint and len(error.message) < 200


def test_a_frame_has_a_largest_distance() -> None:
    with pytest.raises(PlannerError, match="distance is too large"):
        planned(f"SELECT sum(v) OVER (ORDER BY k ROWS {'9' * 20} PRECEDING) AS a FROM t")


def test_a_value_that_doubles_fails_its_row() -> None:
    engine = Engine()
    text = ["c0 AS (SELECT 'xxxxxxxxxxxxxxxx' AS s)"]
    text += [f"c{i} AS (SELECT s || s AS s FROM c{i - 1})" for i in range(1, 40)]
    engine.create_view("v", planned(f"WITH {', '.join(text)} SELECT length(s) AS n FROM c39").plan)
    (error,) = engine.snapshot.errors("v", 0)
    assert "its value has more than" in str(error)
    assert len(str(error)) < 5_000
