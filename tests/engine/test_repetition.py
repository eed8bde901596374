"""Recursions that repeat are recognised with their period, and only those."""

from __future__ import annotations

import pytest

from engine.errors import LimitExceeded
from engine.operators.repetition import FIRST
from engine.plan.nodes import (
    Concat,
    Constant,
    Join,
    LoopBinding,
    Node,
    OnLimit,
    Recursive,
    TopK,
    Variable,
    project,
)
from engine.runtime.engine import Engine, Options
from tests.engine.harness import apply, bag, delta, rows, schema, source

EDGES, ROOTS = source("edges", 2), source("roots", 1)
PERIODS = [1, 2, 3, 7, 100]


def step(variable: Node) -> Node:
    """The nodes one edge away."""
    return project(Join(variable, EDGES, (0,), (0,)), (2,))


def walk(limit: int | None = None, on_limit: OnLimit = OnLimit.ERROR) -> Node:
    """All walks from the roots, as often as there are some: without a fixed point on a cycle."""
    reached = Variable("reached", schema(1))
    value = Concat((ROOTS, step(reached)))
    return Recursive((LoopBinding("reached", value),), "reached", limit, on_limit)


def both() -> Node:
    """Two collections that follow each other along the edges."""
    one, other = Variable("one", schema(1)), Variable("other", schema(1))
    bindings = LoopBinding("one", Concat((ROOTS, step(other)))), LoopBinding("other", step(one))
    return Recursive(bindings, "one")


def engine_with(plan: Node, edges: list[tuple[int, int]], **options: int) -> Engine:
    engine = Engine(Options(**options))
    engine.create_source("edges", EDGES.schema)
    engine.create_source("roots", ROOTS.schema)
    engine.create_view("view", plan)
    apply(engine, {"edges": [(edge, 1) for edge in edges]})
    return engine


def failure(engine: Engine, *roots: tuple[int, ...]) -> str | None:
    """Why the view fails if these roots come; None if it does not."""
    epoch = engine.snapshot.upper
    stage = engine.stage({"roots": delta(1, [(root, epoch, 1) for root in roots])}, epoch + 1)
    stage.publish()
    return stage.failed.get("view")


def cycle(length: int, first: int = 0) -> list[tuple[int, int]]:
    return [(first + i, first + (i + 1) % length) for i in range(length)]


@pytest.mark.parametrize("plan", [walk(), both()], ids=["one", "two"])
@pytest.mark.parametrize("period", PERIODS)
def test_a_cycle_is_named_with_its_period(period: int, plan: Node) -> None:
    whole = period if len(plan.bindings) == 1 or period % 2 == 0 else 2 * period  # type: ignore[attr-defined]
    named = "round" if whole == 1 else f"{whole} rounds"
    engine = engine_with(plan, cycle(period))
    message = failure(engine, (0,))
    assert message is not None and message.endswith(f"its changes repeat every {named}")


def test_cycles_of_several_lengths_repeat_together() -> None:
    engine = engine_with(walk(), [*cycle(4), *cycle(6, 10), *cycle(1, 20)])
    message = failure(engine, (0,), (10,), (20,))
    assert message is not None and "every 12 rounds" in message


def test_a_cycle_behind_a_long_path_is_found_once_it_is_reached() -> None:
    path = [(i, i + 1) for i in range(300)]
    message = failure(engine_with(walk(), [*path, *cycle(5, 300)]), (0,))
    assert message is not None and "every 5 rounds" in message
    assert int(message.split("from round ")[1].split(" ")[0]) >= 300


def test_walks_that_multiply_do_not_repeat() -> None:
    """Each round has twice as many walks: the changes differ, until counts end it."""
    message = failure(engine_with(walk(), [*cycle(1), (0, 0)]), (0,))
    assert message is not None and "2^62" in message


def test_a_view_that_is_created_over_a_cycle_is_refused() -> None:
    engine = engine_with(ROOTS, cycle(3))
    assert failure(engine, (0,)) is None
    with pytest.raises(LimitExceeded, match="every 3 rounds"):
        engine.create_view("walk", walk())


def test_a_long_path_is_not_refused() -> None:
    """A round's change is one row; what each reads is another place of the path."""
    length = 4 * FIRST
    engine = engine_with(walk(), [(i, i + 1) for i in range(length)])
    assert failure(engine, (0,)) is None
    assert rows(engine, "view") == [(i,) for i in range(length + 1)]


def test_a_cycle_with_an_end_in_rounds_is_not_refused() -> None:
    limited = walk(3 * FIRST, OnLimit.RETURN)
    engine = engine_with(limited, cycle(3))
    assert failure(engine, (0,)) is None
    assert bag(engine, "view") == {(n,): FIRST for n in range(3)}


def test_a_counter_of_which_one_binding_shows_a_part_is_not_refused() -> None:
    """`shown` gets the same row in each round, `left` another one until none is left."""
    left, shown = Variable("left", schema(1)), Variable("shown", schema(1))
    one = Constant(((7,),), schema(1))
    bindings = (
        LoopBinding("left", Concat((ROOTS, step(left)))),
        LoopBinding("shown", Concat((project(Join(left, one, (), ()), (1,)), project(shown, (0,))))),
    )
    length = 3 * FIRST
    engine = engine_with(Recursive((bindings[0],), "left"), [(i, i + 1) for i in range(length)])
    assert failure(engine, (0,)) is None
    shows = project(Join(Recursive((bindings[0],), "left"), one, (), ()), (1,))
    engine.create_view("shows", shows)
    assert bag(engine, "shows") == {(7,): length + 1}
    message = failure(engine_with(Recursive(bindings, "shown"), [(0, 1)]), (0,))
    assert message is not None and message.endswith("every round")  # `shown` adds to itself


def test_equal_changes_of_a_loop_that_ends_are_not_a_repetition() -> None:
    """Each round adds a walk to a bag, until there are as many as it may have."""
    reached = Variable("reached", schema(1))
    most = 3 * FIRST
    value = TopK(Concat((ROOTS, step(reached))), (), (), most, 0)
    engine = engine_with(Recursive((LoopBinding("reached", value),), "reached"), cycle(1))
    assert failure(engine, (0,)) is None
    assert bag(engine, "view") == {(0,): most}
