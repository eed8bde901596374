"""Plans are equal if they are built alike, and comparing them takes a step a node, not one a path."""

from __future__ import annotations

from engine.plan.nodes import Clamp, Concat, Negate, Node, Threshold
from engine.runtime.engine import Engine
from tests.engine.harness import source

STORIES = 60
"""Each reads the one below twice: 2^60 paths."""


def _tower(stories: int = STORIES) -> Node:
    plan: Node = source("s", 1)
    for _ in range(stories):
        plan = Threshold(Concat((plan, Negate(plan), plan)), Clamp.DISTINCT)
    return plan


def test_equal_plans_with_many_paths_are_equal() -> None:
    assert _tower() == _tower()
    assert hash(_tower()) == hash(_tower())


def test_plans_that_differ_at_the_bottom_are_not_equal() -> None:
    assert _tower() != Negate(_tower())
    assert _tower() != _tower(STORIES - 1)


def test_a_view_that_is_made_again_shares_all_but_its_result() -> None:
    engine = Engine()
    engine.create_source("s", source("s", 1).schema)
    engine.create_view("v", _tower())
    known = len(engine._dataflow.operators)
    engine.create_view("w", _tower())
    assert len(engine._dataflow.operators) == known + 1
