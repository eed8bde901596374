"""Observing a view: figures that are counted by hand, and a structure that depends on the plan alone."""

from __future__ import annotations

from pathlib import Path

from engine.operators.stopwatch import FIRST, LARGE, SAMPLE, Sampling
from engine.plan.nodes import (
    AggregateSpec,
    Clamp,
    Concat,
    Function,
    Join,
    LoopBinding,
    Node,
    Recursive,
    Reduce,
    Threshold,
    Variable,
    project,
)
from engine.runtime.engine import Engine
from engine.runtime.observation import Observed
from engine.runtime.spill import SavedState
from engine.schema import BIGINT
from engine.state.store.directory import StateDirectory
from tests.engine.harness import delta, source

PAIRS = source("pairs", 2)
COUNTS = Reduce(PAIRS, (0,), (AggregateSpec(Function.COUNT, None, BIGINT),))
STEP = Concat((PAIRS, project(Join(Variable("v", PAIRS.schema), PAIRS, (1,), (0,)), (0, 3))))
CLOSURE = Recursive((LoopBinding("v", Threshold(STEP, Clamp.DISTINCT)),), "v")
ROWS = [((1, 2), 1, 1), ((1, 3), 1, 1), ((3, 4), 1, 1)]


def engine_of(views: dict[str, Node]) -> Engine:
    engine = Engine()
    engine.create_source("pairs", PAIRS.schema)
    for name, plan in views.items():
        engine.create_view(name, plan)
    return engine


def advance(engine: Engine, *rows: tuple) -> None:
    engine.stage({"pairs": delta(2, rows)}, engine.snapshot.upper + 1).publish()


def structure(operators: tuple[Observed, ...]) -> list[tuple]:
    return [(o.kind, o.inputs, o.values, o.depth) for o in operators]


def test_rows_and_bytes_are_counted() -> None:
    engine = engine_of({"counts": COUNTS})
    advance(engine, *ROWS)
    input, sums, counts, history = engine.observe("counts")
    assert [o.kind for o in (input, sums, counts, history)] == ["Input", "SumsArrangement", "Sums", "History"]
    assert (input.figures.rows_in, input.figures.rows_out) == (0, 3)
    assert (sums.figures.rows_in, sums.figures.rows, sums.figures.batches) == (3, 2, 1)
    assert sums.figures.memory == 2 * 3 * 8, "a key, an epoch and a count, twice"
    assert (counts.figures.rows_in, counts.figures.rows_out, counts.figures.rows) == (2, 2, 0)
    assert (history.figures.rows, history.figures.rows_in) == (2, 2)
    assert all(o.figures.nanoseconds > 0 for o in (input, sums, counts, history))
    advance(engine, ((1, 2), 2, -1))
    _, sums, counts, history = engine.observe("counts")
    assert (sums.figures.rows_in, sums.figures.rows) == (4, 2)
    assert counts.figures.rows_out == 4, "the old count goes, the new one comes"
    assert history.figures.rows == 4, "all epochs can be read"


def test_an_aborted_advance_holds_nothing() -> None:
    engine = engine_of({"counts": COUNTS})
    engine.stage({"pairs": delta(2, ROWS)}, 2).abort()
    assert all(o.figures.rows == o.figures.memory == 0 for o in engine.observe("counts"))


def test_a_loop_is_seen_from_inside() -> None:
    engine = engine_of({"closure": CLOSURE})
    advance(engine, *ROWS)
    operators = engine.observe("closure")
    inside = [o for o in operators if o.depth == 1]
    loop = next(o for o in operators if o.kind == "OutermostLoop")
    assert {o.kind for o in inside} >= {"Variable", "Join", "Threshold"}
    assert [operators[place].kind for place in loop.values] == ["Threshold"]
    (join,) = (o.figures for o in inside if o.kind == "Join")
    assert join.rows_out == 1, "1 → 3 → 4"
    assert all(place < i for i, o in enumerate(operators) for place in o.inputs)


def test_other_views_share_operators_and_change_no_structure() -> None:
    alone = engine_of({"counts": COUNTS, "closure": CLOSURE})
    other = project(Join(PAIRS, COUNTS, (0,), (0,)), (0, 3))
    later = engine_of({"other": other, "closure": CLOSURE, "counts": COUNTS})
    for name in ("counts", "closure"):
        assert structure(alone.observe(name)) == structure(later.observe(name))
    assert [o.shared for o in alone.observe("counts")] == [("closure",), (), (), ()]
    assert [o.shared for o in later.observe("counts")] == [("closure", "other"), ("other",), ("other",), ()]


def test_what_is_in_files_is_mapped(tmp_path: Path) -> None:
    engine = engine_of({"counts": COUNTS, "closure": CLOSURE})
    advance(engine, *ROWS)
    before = engine.observe("counts")
    directory = StateDirectory(tmp_path)
    manifest = engine.spill(directory, 2)
    spilled = engine.observe("counts")
    assert structure(spilled) == structure(before)
    assert sum(o.figures.memory for o in spilled) == 0
    assert sum(o.figures.mapped for o in spilled) > 0
    assert [o.figures.rows for o in spilled] == [o.figures.rows for o in before]

    state = SavedState(manifest, directory)
    restarted = Engine()
    restarted.resume(state)
    restarted.create_source("pairs", PAIRS.schema, state=state)
    for name, plan in {"closure": CLOSURE, "counts": COUNTS}.items():
        assert restarted.restore_view(name, plan, state)
        assert structure(restarted.observe(name)) == structure(engine.observe(name))
    again = restarted.observe("counts")
    assert [o.figures.rows for o in again] == [o.figures.rows for o in before]
    assert all(o.figures.rows_in == o.figures.rows_out == 0 for o in again), "nothing was done here yet"


def test_small_advances_are_sampled_and_large_ones_all_timed() -> None:
    sampling = Sampling()
    small = [sampling.clock(1) is not None for _ in range(FIRST + 2 * SAMPLE)]
    assert all(small[:FIRST])
    assert sum(small[FIRST:]) == 2
    assert all(sampling.clock(LARGE) is not None for _ in range(SAMPLE))
