"""Which plans have recursions, and which of their beginnings are thinned out."""

from __future__ import annotations

from engine.costs.roots import has_recursion, thinned
from engine.plan.nodes import Clamp, Concat, Join, LoopBinding, Node, Recursive, Source, Threshold, project
from engine.schema import INTEGER, Column, Schema

EDGES = Source("edges", Schema((Column("from", INTEGER), Column("to", INTEGER))))


def _reachable() -> Recursive:
    reached = LoopBinding("reached", EDGES).variable
    step = project(Join(reached, EDGES, (1,), (0,)), (0, 3))
    return Recursive((LoopBinding("reached", Threshold(Concat((EDGES, step)), Clamp.DISTINCT)),), "reached")


def test_a_plan_that_reads_itself_in_many_ways_is_looked_through_once() -> None:
    plan: Node = EDGES
    for _ in range(60):
        plan = Concat((plan, plan))
    assert not has_recursion(plan)
    assert has_recursion(Concat((plan, _reachable())))


def test_only_what_enters_a_loop_is_thinned_out() -> None:
    plan = _reachable()
    some = thinned(plan, 0.25)
    assert some.plan != plan
    assert some.original(some.plan) == plan
    assert thinned(plan, 1.0).plan == plan
    assert thinned(EDGES, 0.25).plan == EDGES
