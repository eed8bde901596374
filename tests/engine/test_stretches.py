"""A long history costs no more in one advance than in many: it is divided, and nobody sees how."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from bench.curves.kinds import KINDS, SOURCES
from engine.codec.values import float_word
from engine.operators import stretches
from engine.operators.rebuild import Rebuild
from engine.operators.stretches import CHANGES
from engine.plan.nodes import FlatMap, Inspect, Join, Node, project
from engine.runtime.engine import Engine
from tests.engine.harness import bag, delta, schema, source
from tests.engine.histories import Changes, run
from tests.seeds import each_seed

EPOCHS = 20
SEEDS = 3
PAIRS = source("pairs", 2)
MET = project(Join(PAIRS, PAIRS, (0,), (0,)), (0, 1, 3))


@pytest.fixture
def divided(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Sets the size of a stretch."""
    return lambda changes: monkeypatch.setattr(stretches, "CHANGES", changes)


def history(rng: random.Random) -> list[Changes]:
    """The changes of `KINDS`' sources in each epoch: rows of few keys come and go, and time passes."""
    table, clock = (each.name for each in SOURCES)
    rows: list[tuple[int, ...]] = []
    found: list[Changes] = []
    for epoch in range(1, EPOCHS + 1):
        lines = []
        for _ in range(rng.choice((0, 1, 3, 6))):
            if rows and rng.random() < 0.45:
                lines.append((rows.pop(rng.randrange(len(rows))), epoch, -1))
            else:
                amount = float_word(rng.choice((-0.5, 0.25, 1e9)))
                rows.append((rng.randrange(3), rng.randrange(4), rng.randrange(EPOCHS), amount))
                lines.append((rows[-1], epoch, 1))
        ticks = [((epoch,), epoch, 1)] + [((epoch - 1,), epoch, -1)] * (epoch > 1)
        found.append({table: lines, clock: ticks})
    return found


def _together(history: list[Changes]) -> Changes:
    """What a history has left, as changes of one epoch."""
    left: dict[str, Counter] = {each.name: Counter() for each in SOURCES}
    for changes in history:
        for name, lines in changes.items():
            for row, _, diff in lines:
                left[name][row] += diff
    return {name: [(row, 1, count) for row, count in rows.items() if count] for name, rows in left.items()}


@each_seed(SEEDS)
@pytest.mark.parametrize("kind", KINDS)
def test_any_division_gives_the_same_differences(kind: str, seed: int) -> None:
    rng = random.Random(seed)
    given = history(rng)
    chopped: list[int] = []
    while sum(chopped) < EPOCHS:
        chopped.append(rng.randint(1, EPOCHS - sum(chopped)))
    ways = [
        ([1] * EPOCHS, 0, Rebuild.NEVER, CHANGES),
        ([EPOCHS], 0, Rebuild.NEVER, CHANGES),
        ([EPOCHS], 0, Rebuild.ALWAYS, 1),
        ([EPOCHS], 1, Rebuild.AUTO, 5),
        (chopped, rng.randint(0, len(chopped)), Rebuild.ALWAYS, 5),
    ]
    found = []
    for way in ways:
        engine = run(KINDS[kind], SOURCES, given, *way)
        assert engine is not None, (seed, way)
        found.append(engine.snapshot.changes("view", 0, EPOCHS).tolist())
    assert found[0][0], "the view never changes"
    assert all(other == found[0] for other in found), seed
    for epoch in rng.sample(range(1, EPOCHS + 1), 5):
        afresh = run(KINDS[kind], SOURCES, [_together(given[:epoch])], [1], 0)
        assert afresh is not None
        assert bag(engine, "view", epoch) == bag(afresh, "view"), (seed, epoch)


def test_a_join_pairs_what_exists_together() -> None:
    """All pairs of changes of the key would be more than a join makes at once."""
    epochs = 4_000
    rows = [((0, i % 7), epoch, diff) for i in range(epochs) for epoch, diff in ((i + 1, 1), (i + 2, -1))]
    engine = Engine()
    engine.create_source(PAIRS.name, PAIRS.schema)
    engine.stage({PAIRS.name: delta(2, rows)}, epochs + 2).publish()
    engine.create_view("view", MET)
    _, counts = engine.snapshot.rows("view", epochs)
    assert counts.tolist() == [1]
    assert engine.snapshot.changes("view", 0, epochs + 1).shape[1] == 2 * epochs


def _stop(row: tuple, time: object, diff: int) -> None:
    if row[0] == 9:
        raise RuntimeError("nine")


def _refuse(*row: int) -> list:
    if row[0] == 9:
        raise ValueError("nine")
    return [row]


def _engine(views: dict[str, Node]) -> Engine:
    engine = Engine()
    engine.create_source(PAIRS.name, PAIRS.schema)
    for name, plan in views.items():
        engine.create_view(name, plan)
    return engine


FIRST = [((key, epoch), epoch, 1) for epoch, key in enumerate((1, 9, 1, 1), 1)]
THEN = [((key, 7), epoch, diff) for epoch, (key, diff) in enumerate([(1, 1), (9, 1), (1, 1), (9, -1)], 5)]


def test_a_view_that_fails_in_a_late_stretch_leaves_the_others_right(divided: Callable[[int], None]) -> None:
    divided(2)
    views = {"good": MET, "bad": Inspect(MET, _stop)}
    engine = _engine(views)
    engine.stage({PAIRS.name: delta(2, FIRST[:1])}, 2).publish()
    before = engine.snapshot.changes("bad", 0, 1).tolist()
    stage = engine.stage({PAIRS.name: delta(2, [*FIRST[2:], *THEN])}, 10)
    assert stage.failed.keys() == {"bad"}
    stage.publish()
    assert engine.snapshot.changes("bad", 0, 1).tolist() == before
    other = _engine({"good": MET})
    other.stage({PAIRS.name: delta(2, [*FIRST[:1], *FIRST[2:], *THEN])}, 10).publish()
    found = [each.snapshot.changes("good", 0, 9).tolist() for each in (engine, other)]
    assert found[0] == found[1]


@pytest.mark.parametrize("changes", [1, 3, CHANGES])
def test_errors_come_and_go_in_their_epochs(changes: int, divided: Callable[[int], None]) -> None:
    divided(changes)
    engine = _engine({"view": FlatMap(MET, _refuse, schema(3))})
    engine.stage({PAIRS.name: delta(2, FIRST)}, 5).publish()
    engine.stage({PAIRS.name: delta(2, THEN)}, 10).abort()
    counts = [sum(count for _, count in engine.snapshot.errors("view", epoch)) for epoch in range(1, 5)]
    assert counts == [0, 1, 1, 1]
    engine.stage({PAIRS.name: delta(2, THEN)}, 10).publish()
    counts = [sum(count for _, count in engine.snapshot.errors("view", epoch)) for epoch in range(1, 10)]
    assert counts == [0, 1, 1, 1, 1, 4, 4, 1, 1]


def test_stretches_divide_by_changes_and_leave_a_load_alone() -> None:
    epochs = np.repeat([3, 4, 5, 9, 12], [CHANGES - 1, 2, 3, 5 * CHANGES, 1])
    given = np.stack((np.arange(len(epochs)), epochs, np.ones_like(epochs)))
    mixed = np.ascontiguousarray(given[:, np.random.default_rng(1).permutation(len(epochs))])
    parts = list(stretches.divide({"a": mixed, "b": given[:, :0]}))
    assert [end for end, _ in parts] == [5, 9, 12, None]
    assert [np.unique(part["a"][1]).tolist() for _, part in parts] == [[3, 4], [5], [9], [12]]
    together = np.concatenate([part["a"] for _, part in parts], axis=1)
    assert sorted(together.T.tolist()) == given.T.tolist()
    assert all(part["b"].shape == (3, 0) for _, part in parts)


def test_one_epoch_and_few_changes_are_not_divided() -> None:
    load = np.ones((3, 10 * CHANGES), np.int64)
    few = np.stack((np.arange(CHANGES), np.arange(CHANGES), np.ones(CHANGES, np.int64)))
    for given in (load, few):
        ((end, parts),) = stretches.divide({"a": given})
        assert end is None
        assert parts["a"] is given


def test_an_aborted_stage_of_many_stretches_leaves_merges_right(divided: Callable[[int], None]) -> None:
    """The traces are large enough that merges are under way when the stage begins."""
    divided(500)
    rng = np.random.default_rng(2)
    engine = Engine()
    engine.create_source(PAIRS.name, PAIRS.schema)
    engine.create_view("view", MET)
    upper = engine.snapshot.upper
    for size in (5_000, 3_000, 2_000, 2_500):
        keys = rng.integers(0, 20_000, size)
        epochs = np.sort(rng.integers(upper, upper + 40, size))
        rows = np.ascontiguousarray(np.stack((keys, rng.integers(0, 3, size), epochs, np.ones_like(keys))))
        before = engine.snapshot.changes("view", 0, upper - 1)
        engine.stage({PAIRS.name: rows}, upper + 40).abort()
        assert np.array_equal(before, engine.snapshot.changes("view", 0, upper - 1))
        engine.stage({PAIRS.name: rows}, upper + 40).publish()
        upper += 40
    other = Engine()
    other.create_source(PAIRS.name, PAIRS.schema)
    other.stage({PAIRS.name: engine.snapshot.relations[PAIRS.name].delta(0)}, upper).publish()
    other.create_view("view", MET)
    found = [sorted(each.snapshot.changes("view", 0, upper - 1).T.tolist()) for each in (engine, other)]
    assert found[0] == found[1]
