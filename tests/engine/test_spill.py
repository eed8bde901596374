"""State on disk: an engine that spills, and goes on from its files, answers as one that does not."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Collection, Sequence
from mmap import mmap
from pathlib import Path

import numpy as np
import pytest

from engine.codec.python import encode_row
from engine.errors import EpochError, StoreError
from engine.kernels.narrow.narrow_rows import NarrowRows
from engine.operators.rebuild import Rebuild
from engine.plan.nodes import AggregateSpec, Constant, Function, Join, Node, Reduce, Source, project
from engine.plan.row_ids import IdHash, Intern
from engine.runtime import rewriting
from engine.runtime.engine import Engine, Options
from engine.runtime.kept import kept_states
from engine.runtime.rewriting import GROWTH
from engine.runtime.spill import SavedState
from engine.schema import BIGINT, TEXT, Column, Schema
from engine.state.dictionary import Dictionary
from engine.state.packed_times import Order
from engine.state.store.directory import StateDirectory
from engine.state.store.manifest import Manifest
from planner import plan_query
from tests.engine.harness import bag, delta, insert, rows, source
from tests.engine.histories import EPOCHS, Changes, random_history, run
from tests.engine.plans import SOURCES, PlanMaker
from tests.planner import samples
from tests.seeds import SEED, each_seed, few

PAIRS = source("pairs", 2)
NAMES = Source("names", Schema((Column("id", BIGINT, False), Column("name", TEXT))))


@pytest.fixture
def directory(tmp_path: Path) -> StateDirectory:
    return StateDirectory(tmp_path / "state")


def resumed(
    manifest: Manifest,
    directory: StateDirectory,
    sources: Sequence[Source],
    plans: dict[str, Node],
    options: Options | None = None,
    computed: Collection[str] = (),
) -> Engine:
    """A new engine, as after a restart; of the views, those of `computed` are not saved."""
    engine = Engine(options or Options())
    state = SavedState(manifest, directory)
    engine.resume(state)
    for it in sources:
        engine.create_source(it.name, it.schema, state=state)
    for name, plan in plans.items():
        if not engine.restore_view(name, plan, state):
            assert name in computed
            engine.create_view(name, plan)
    return engine


def advance(engine: Engine, sources: Sequence[Source], changes: Changes, epoch: int) -> None:
    deltas = {it.name: delta(len(it.schema), changes[it.name]) for it in sources}
    engine.stage(deltas, epoch + 1).publish()


def all_files(engine: Engine) -> list:
    return [
        file for _, state in kept_states(engine._dataflow.operators.items()) for file in state.trace.files()
    ]


def settled(rng: random.Random) -> tuple[Node, list[Changes], Engine]:
    """A plan whose loops come to an end over a history, and an engine that has gone through it."""
    while True:
        plan = PlanMaker(rng).plan(rng.randint(1, 3), 5)
        history, _ = random_history(rng, SOURCES)
        engine = run(plan, SOURCES, history, [1] * EPOCHS, 0)
        if engine is not None:
            return plan, history, engine


@pytest.mark.parametrize("rebuild", [Rebuild.NEVER, Rebuild.ALWAYS])
@each_seed(few(20))
def test_any_plan_goes_on_from_its_files(
    directory: StateDirectory, monkeypatch: pytest.MonkeyPatch, seed: int, rebuild: Rebuild
) -> None:
    monkeypatch.setattr(rewriting, "UNDIVIDED", seed % 3)
    rng = random.Random(seed)
    plan, history, expected = settled(rng)
    options = Options(max_rounds=300, rebuild=rebuild)
    engine = Engine(options)
    for it in SOURCES:
        engine.create_source(it.name, it.schema)
    engine.create_view("view", plan)
    captures: list = []
    for epoch, changes in enumerate(history, 1):
        advance(engine, SOURCES, changes, epoch)
        what = rng.randrange(7)
        if what == 0:
            engine.spill(directory, rng.choice((1, 2, 3)))
        elif what == 1:
            captures.append(engine.capture())
        elif what == 2 and captures:
            engine.install(captures.pop().write(directory, 2))
        elif what == 3 and captures:
            engine.release(captures.pop())
        elif what == 4:
            manifest = engine.spill(directory, rng.choice((1, 2, 3)))
            directory.sweep(set(manifest.names()))
            engine = resumed(manifest, directory, SOURCES, {"view": plan}, options)
            captures.clear()
        elif what == 5:  # as after a take-over: whoever led before has removed files
            while captures:
                engine.release(captures.pop())
            kept = set(rng.sample(sorted(engine.files()), rng.randint(0, len(engine.files()))))
            engine.detach(kept)
            directory.sweep(kept)
        assert bag(engine, "view") == bag(expected, "view", epoch), (seed, epoch, plan)
    assert engine.snapshot.changes("view", 0, EPOCHS).tolist() == (
        expected.snapshot.changes("view", 0, EPOCHS).tolist()
    )
    assert engine.differences() >= len(engine.snapshot.differences("view").T)


@each_seed(few(10))
def test_a_manifest_is_of_the_moment_of_its_capture(directory: StateDirectory, seed: int) -> None:
    """Whatever happens between capture, writing and installation."""
    rng = random.Random(1_000 + seed)
    plan, history, expected = settled(rng)
    options = Options(max_rounds=300, rebuild=rng.choice((Rebuild.ALWAYS, Rebuild.NEVER)))
    engine = Engine(options)
    for it in SOURCES:
        engine.create_source(it.name, it.schema)
    engine.create_view("view", plan)
    for epoch in range(1, 4):
        advance(engine, SOURCES, history[epoch - 1], epoch)
    capture = engine.capture()
    advance(engine, SOURCES, history[3], 4)
    engine.forget("s0", 2)
    spill = capture.write(directory, 2)
    advance(engine, SOURCES, history[4], 5)
    engine.install(spill)
    for which, before in (
        (engine, 5),
        (resumed(spill.manifest, directory, SOURCES, {"view": plan}, options), 3),
    ):
        assert which.snapshot.upper == before + 1
        assert bag(which, "view") == bag(expected, "view", before)
        for epoch in range(before + 1, EPOCHS + 1):
            advance(which, SOURCES, history[epoch - 1], epoch)
            assert bag(which, "view") == bag(expected, "view", epoch)


TEXTS = ["7", "12", "no number", "one", *(f"{'x' * 20}{n}" for n in range(9))]
QUERIES = {
    "first": "SELECT a, min(b), max(b) FROM t GROUP BY a",
    "fails": "SELECT CAST(b AS INTEGER) AS n, sum(c) FROM t GROUP BY CAST(b AS INTEGER)",
    "floats": "SELECT b, sum(c), avg(c), count(*) FROM t GROUP BY b",
    "constant": "SELECT v.n, t.b FROM (VALUES (1, 'one'), (2, 'two')) v (n, s) LEFT JOIN t ON t.b = v.s",
    "reached": """WITH RECURSIVE r (a, b) AS (
        SELECT a, b FROM t UNION SELECT t.a, r.b FROM r JOIN t ON t.a = r.a + 1) SELECT * FROM r""",
    "shortest": """WITH MUTUALLY RECURSIVE d (n INTEGER, w DOUBLE PRECISION) AS (
        SELECT 1, 0.0 UNION ALL SELECT t.a, min(d.w + t.c) FROM d JOIN t ON t.a > d.n GROUP BY t.a
    ) SELECT n, min(w) FROM d GROUP BY n""",
}


def test_texts_floats_failures_and_constants_come_back(directory: StateDirectory) -> None:
    """Words of texts are the same in every process; numbers of entries are not."""
    catalog = samples.catalog()
    plans = {name: plan_query(sql, catalog).plan for name, sql in QUERIES.items()}
    t = Source("t", samples.SCHEMAS["t"])
    rng = random.Random(SEED)
    engine, expected = Engine(), Engine()
    for it in (engine, expected):
        it.create_source("t", t.schema)
        for name, plan in plans.items():
            it.create_view(name, plan)
    for epoch in range(1, 9):
        drawn = [(rng.randrange(5), rng.choice(TEXTS), rng.randrange(9) / 8) for _ in range(20)]
        for it in (engine, expected):
            lines = [(encode_row(row, t.schema, it.dictionary), epoch, 1) for row in drawn]
            it.stage({"t": delta(3, lines)}, epoch + 1).publish()
        for name in plans:
            assert bag(engine, name) == bag(expected, name), (epoch, name)
            assert engine.snapshot.errors(name) == expected.snapshot.errors(name)
        manifest = engine.spill(directory, 2)
        if epoch % 2:
            engine = resumed(manifest, directory, [t], plans)
            engine.dictionary.word(f"of this process alone {epoch}")
    assert expected.snapshot.errors("fails")
    assert len(manifest.texts) < 4


def test_ids_come_back_with_their_collisions(directory: StateDirectory) -> None:
    plan = Intern(PAIRS, IdHash(bits=(1, 2, 3)))
    engine, expected = Engine(), Engine()
    for it in (engine, expected):
        it.create_source("pairs", PAIRS.schema)
        it.create_view("ids", plan)
    for n in range(8):
        for it in (engine, expected):
            insert(it, "pairs", (n, n), (7 - n, n))
        assert rows(engine, "ids") == rows(expected, "ids")
        engine = resumed(engine.spill(directory, 3), directory, [PAIRS], {"ids": plan})


def degrees() -> Node:
    return Reduce(PAIRS, (0,), (AggregateSpec(Function.COUNT, None, BIGINT),))


def many(rng: np.random.Generator, size: int, epoch: int) -> np.ndarray:
    words = rng.integers(0, 1_000_000, (2, size))
    return np.vstack((words, np.full(size, epoch), np.ones(size, np.int64)))


def test_files_are_few_and_no_row_is_written_often(directory: StateDirectory) -> None:
    rng = np.random.default_rng(0)
    engine = Engine()
    engine.create_source("pairs", PAIRS.schema)
    engine.create_view("degrees", degrees())
    written: dict[str, int] = {}
    spills = 120
    for epoch in range(1, spills + 1):
        engine.stage({"pairs": many(rng, 2_000, epoch)}, epoch + 1).publish()
        manifest = engine.spill(directory, 4)
        written |= {file.name: file.rows for files in manifest.arrangements.values() for file in files}
        directory.sweep(engine.files())
    most = np.log(2_000 * spills) / np.log(GROWTH)
    assert sum(written.values()) < most * engine.differences()
    shards = set()
    for files in manifest.arrangements.values():
        shards |= {(file.shard, file.shards) for file in files}
        assert len(files) < 4 * most
    assert shards == {(0, 1), (0, 4), (1, 4), (2, 4), (3, 4)}
    assert sum(file.rows for file in all_files(engine)) == engine.differences()
    assert {path.name for path in directory.path.iterdir()} == engine.files() == set(manifest.names())


def test_nothing_new_writes_nothing(directory: StateDirectory) -> None:
    engine = Engine()
    engine.create_source("pairs", PAIRS.schema)
    engine.create_view("degrees", degrees())
    insert(engine, "pairs", (1, 2))
    first = engine.spill(directory, 2)
    assert engine.spill(directory, 2) == first
    engine.stage({}, 9).publish()
    relations = engine.snapshot.relations
    second = engine.spill(directory, 2)
    assert engine.snapshot.relations == relations
    assert second.upper == 9
    assert list(second.names()) == list(first.names())


def test_rows_in_memory_are_few_after_a_spill(directory: StateDirectory) -> None:
    engine = Engine()
    engine.create_source("pairs", PAIRS.schema)
    engine.create_view("degrees", degrees())
    engine.stage({"pairs": many(np.random.default_rng(1), 50_000, 1)}, 2).publish()
    held = engine.differences()
    engine.spill(directory, 2)
    assert sum(file.rows for file in all_files(engine)) == engine.differences() == held
    assert all(is_mapped(batch) for batch in engine.snapshot.relations["pairs"].batches)


def is_mapped(batch: object) -> bool:
    array = batch.data if isinstance(batch, NarrowRows) else batch
    while isinstance(array, np.ndarray):
        array = array.base
    return isinstance(array, mmap)


def test_a_view_that_is_not_saved_is_computed(directory: StateDirectory) -> None:
    engine = Engine()
    engine.create_source("pairs", PAIRS.schema)
    engine.create_view("degrees", degrees())
    insert(engine, "pairs", (1, 2), (1, 3), (2, 3))
    manifest = engine.spill(directory, 2)
    paths = project(Join(PAIRS, PAIRS, (1,), (0,)), (0, 3))
    plans = {"degrees": degrees(), "paths": paths}
    engine = resumed(manifest, directory, [PAIRS], plans, computed=["paths"])
    assert rows(engine, "degrees") == [(1, 2), (2, 1)]
    assert rows(engine, "paths") == [(1, 3)]
    insert(engine, "pairs", (3, 1))
    assert rows(engine, "paths") == [(1, 1), (1, 3), (2, 1), (3, 2), (3, 3)]


def test_a_view_of_the_same_name_and_another_plan_is_another(directory: StateDirectory) -> None:
    engine = Engine()
    engine.create_source("pairs", PAIRS.schema)
    engine.create_view("view", project(PAIRS, (0,)))
    insert(engine, "pairs", (1, 2))
    manifest = engine.spill(directory, 1)
    engine = resumed(manifest, directory, [PAIRS], {"view": project(PAIRS, (1,))}, computed=["view"])
    assert rows(engine, "view") == [(2,)]


def test_what_is_dropped_is_in_no_later_manifest(directory: StateDirectory) -> None:
    engine = Engine()
    engine.create_source("pairs", PAIRS.schema)
    engine.create_view("degrees", degrees())
    insert(engine, "pairs", (1, 2))
    with_view = engine.spill(directory, 1)
    engine.drop_view("degrees")
    without = engine.spill(directory, 1)
    assert without.arrangements.keys() < with_view.arrangements.keys()
    engine.drop_source("pairs")
    assert engine.spill(directory, 1).arrangements == {}
    assert directory.sweep(engine.files()) == len(list(with_view.names()))


def test_history_goes_on_from_where_it_was_forgotten(directory: StateDirectory) -> None:
    engine = Engine()
    engine.create_source("pairs", PAIRS.schema)
    engine.create_view("degrees", degrees())
    for n in range(10):
        insert(engine, "pairs", (n % 2, n))
    engine.forget("pairs", 5)
    engine.forget("degrees", 6)
    engine = resumed(engine.spill(directory, 2), directory, [PAIRS], {"degrees": degrees()})
    assert (engine.snapshot.since("pairs"), engine.snapshot.since("degrees")) == (5, 6)
    assert rows(engine, "degrees", 7) == [(0, 4), (1, 3)]
    with pytest.raises(EpochError):
        rows(engine, "degrees", 5)


def test_damage_is_named(directory: StateDirectory) -> None:
    engine = Engine()
    engine.create_source("pairs", PAIRS.schema)
    insert(engine, "pairs", (1, 2))
    manifest = engine.spill(directory, 1)
    (name,) = manifest.names()
    (directory.path / name).unlink()
    with pytest.raises(StoreError, match=f"{name} is missing"):
        resumed(manifest, directory, [PAIRS], {})
    other = source("others", 1)
    with pytest.raises(StoreError, match="no rows of others"):
        resumed(Manifest(2, {}, {}, ()), directory, [other], {})


def test_a_damaged_file_is_not_written_anew(directory: StateDirectory) -> None:
    """Its checksum would be right from then on."""
    rng = np.random.default_rng(2)
    engine = Engine()
    engine.create_source("pairs", PAIRS.schema)
    engine.stage({"pairs": many(rng, 20_000, 1)}, 2).publish()
    (name,) = engine.spill(directory, 1).names()
    content = bytearray((directory.path / name).read_bytes())
    content[len(content) // 2] ^= 1
    (directory.path / name).write_bytes(content)
    engine.stage({"pairs": many(rng, 20_000, 2)}, 3).publish()
    capture = engine.capture()
    with pytest.raises(StoreError, match=f"{name} is damaged"):
        capture.write(directory, 1)
    engine.release(capture)


def test_what_is_released_is_merged_again(directory: StateDirectory) -> None:
    rng = np.random.default_rng(3)
    engine = Engine()
    engine.create_source("pairs", PAIRS.schema)
    for epoch in range(1, 200):
        engine.stage({"pairs": many(rng, 50, epoch)}, epoch + 1).publish()
        engine.release(engine.capture())
    assert len(engine.snapshot.relations["pairs"].batches) < 20
    assert engine.differences() == 50 * 199


def test_only_a_new_engine_resumes_and_only_epochs_are_spilled(directory: StateDirectory) -> None:
    engine = Engine()
    engine.create_source("pairs", PAIRS.schema)
    state = SavedState(engine.spill(directory, 1), directory)
    with pytest.raises(EpochError, match="only an empty engine"):
        engine.resume(state)
    stage = engine.stage({}, 2)
    with pytest.raises(EpochError, match="a stage is open"):
        engine.capture()
    stage.abort()
    with pytest.raises(EpochError):
        Engine(order=Order(("epoch", "version"))).capture()


def test_constants_are_not_counted_twice(directory: StateDirectory) -> None:
    plan = Constant(((1, 2), (3, 4)), PAIRS.schema)
    engine = Engine()
    engine.create_view("constant", plan)
    engine = resumed(engine.spill(directory, 1), directory, [], {"constant": plan})
    engine.stage({}, 2).publish()
    assert rows(engine, "constant") == [(1, 2), (3, 4)]


def test_files_that_others_wrote_are_merged(directory: StateDirectory) -> None:
    """As those of epochs on Spark, which come in many: the spill before each of them merges some."""
    rng = np.random.default_rng(4)
    engine = Engine()
    engine.create_source("pairs", PAIRS.schema)
    engine.create_view("degrees", degrees())
    (state,) = [it for _, it in kept_states(engine._dataflow.operators.items()) if it.trace.key]
    expected: Counter = Counter()
    for _ in range(40):
        for shard in range(2):
            keys = np.unique(rng.integers(0, 1_000_000, 5_000))
            rows = np.stack([keys, np.ones_like(keys), np.full_like(keys, 2)], axis=1)
            expected.update(dict.fromkeys(keys.tolist(), 2))
            state.trace.map([directory.open(directory.write(rows, 1, shard, 2))])
        state.reset()
        engine.spill(directory, 2)
        assert len(state.trace.files()) < 16
    found = Counter()
    for batch in state.trace.batches():
        for key, _, diff in batch[:].tolist():
            found[key] += diff
    assert found == expected


def test_what_was_detached_is_written_again(directory: StateDirectory) -> None:
    """Somebody else has removed files that are still mapped, also of texts: the next spill needs none."""
    engine = Engine()
    engine.create_source(NAMES.name, NAMES.schema)
    words = engine.dictionary.intern(["ada", "eve"])
    insert(engine, "names", (1, int(words[0])), (2, int(words[1])))
    engine.spill(directory, 2)
    engine.detach(())
    assert engine.files() == set()
    directory.sweep(())
    manifest = engine.spill(directory, 2)
    again = resumed(manifest, directory, [NAMES], {})
    assert again.dictionary.texts(words) == ["ada", "eve"]
    assert rows(again, "names") == rows(engine, "names")


def test_an_engine_shares_the_dictionary_of_the_last_one(directory: StateDirectory) -> None:
    """Its texts may be in an order of their own, so its next spill writes all of them."""
    last = Engine()
    last.create_source(NAMES.name, NAMES.schema)
    (ada,) = last.dictionary.intern(["ada"]).tolist()
    insert(last, "names", (1, ada))
    manifest = last.spill(directory, 1)
    dictionary = Dictionary()
    (eve,) = dictionary.intern(["eve"]).tolist()
    engine = Engine(dictionary=dictionary)
    state = SavedState(manifest, directory)
    engine.resume(state)
    engine.create_source(NAMES.name, NAMES.schema, state=state)
    insert(engine, "names", (2, eve))
    again = resumed(engine.spill(directory, 1), directory, [NAMES], {})
    assert again.dictionary.texts(np.array([ada, eve])) == ["ada", "eve"]
    assert len(rows(again, "names")) == 2
