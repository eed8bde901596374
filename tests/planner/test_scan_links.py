"""What a query can use of its sources: values, conditions of one scan, and values of other scans."""

from __future__ import annotations

from datetime import datetime

from engine.plan.nodes import Source
from engine.schema import BIGINT, Column, Schema
from planner import plan_query
from planner.evidence.explainable import explainable
from planner.evidence.goal_plans import goal_plan
from planner.relation import Relation


def told(sql: str) -> dict[str, tuple[int, int, set[str]]]:
    """By table: how many values, how many conditions, and the tables whose values it has to share."""
    schema = Schema((Column("a", BIGINT), Column("b", BIGINT)))
    relations = {name: Relation(name, schema, Source(name, schema), None) for name in ("t", "u", "w")}
    program, _ = explainable(plan_query(sql, relations).logical, datetime(2026, 1, 1))
    scans = goal_plan(program.root, program, (), {}, [c.id for c in program.outputs]).scans
    names = [scan.source.name for scan in scans]
    return {
        scan.source.name: (
            len(scan.values),
            len(scan.conditions),
            {names[other] for _, (other, _) in scan.links},
        )
        for scan in scans
    }


def test_inner_joins_share_both_ways() -> None:
    found = told("SELECT t.a, w.b FROM t JOIN u ON t.b = u.a JOIN w ON w.a = u.b WHERE t.a = 5 AND w.b > 3")
    assert found == {"t": (1, 0, {"u"}), "u": (0, 0, {"t", "w"}), "w": (0, 1, {"u"})}


def test_an_outer_side_shares_with_the_inner_one_alone() -> None:
    found = told("SELECT t.a, u.b FROM t LEFT JOIN u ON t.b = u.a AND u.b > 1 AND t.a > 2")
    assert found["t"] == (0, 0, set())
    assert found["u"] == (0, 1, {"t"})
    assert told("SELECT t.a, u.b FROM t FULL JOIN u ON t.b = u.a AND u.b > 1")["u"] == (0, 0, set())


def test_rows_without_a_match_share_nothing() -> None:
    found = told("SELECT t.a FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.a = t.b)")
    assert found["t"] == (0, 0, set()) and found["u"][2] <= {"t"}
    assert told("SELECT t.a FROM t WHERE t.a NOT IN (SELECT u.a FROM u)")["t"] == (0, 0, set())


def test_values_pass_keys_of_groups_alone() -> None:
    grouped = "(SELECT a, sum(b) AS s FROM u GROUP BY a) AS g"
    assert told(f"SELECT t.b FROM t JOIN {grouped} ON g.a = t.a")["u"] == (0, 0, {"t"})
    assert told(f"SELECT t.b FROM t JOIN {grouped} ON g.s = t.a")["u"] == (0, 0, set())
    limited = "(SELECT a, b FROM u ORDER BY b LIMIT 3) AS g"
    assert told(f"SELECT t.b FROM t JOIN {limited} ON g.a = t.a")["u"] == (0, 0, set())


def test_a_condition_that_can_fail_leaves_rows_in() -> None:
    assert told("SELECT a FROM t WHERE 10 / b > 2 AND a > 1")["t"] == (0, 1, set())
