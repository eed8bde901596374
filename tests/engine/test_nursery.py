"""Small epochs that compiled code inserts: what readers are shown stays, whatever comes after it."""

from __future__ import annotations

import random
from collections import Counter
from math import log2
from typing import Any

import numpy as np
import pytest

from engine.kernels.layers import ADDRESS, ROWS, WIDTH
from engine.kernels.merge import WRITTEN
from engine.kernels.stepping import spine
from engine.operators import running_dataflow
from engine.operators.history import History
from engine.plan.nodes import AggregateSpec, Function, Reduce
from engine.runtime.engine import Engine, Snapshot
from engine.schema import BIGINT
from engine.state import layer, nurseries
from engine.state.layer_merge import QUANTUM
from engine.state.trace import Trace
from tests.engine.harness import apply, source
from tests.seeds import each_seed, few

EDGES = source("edges", 2)
KEYS = 400
SIZES = (1, 1, 1, 2, 3, 5, 8, 60, 700)
DEGREES = Reduce(EDGES, (0,), (AggregateSpec(Function.COUNT, None, BIGINT),))


def shown(snapshot: Snapshot, name: str) -> Counter:
    words, counts = snapshot.rows(name)
    return Counter(dict(zip(map(tuple, words.T.tolist()), counts.tolist(), strict=True)))


def traces(engine: Engine) -> list[Trace]:
    return [each.trace for each in engine._dataflow.operators.values() if isinstance(each, History)]


@each_seed(few(4))
@pytest.mark.parametrize("words", [nurseries.WORDS, 1 << 12])
def test_snapshots_stay_what_they_were(seed: int, words: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nurseries, "WORDS", words)
    chance = random.Random(seed)
    engine = Engine()
    engine.create_source(EDGES.name, EDGES.schema)
    engine.create_view("degrees", DEGREES)
    edges: Counter = Counter()
    held: list[tuple[Snapshot, Counter]] = []
    for _ in range(1500):
        changes = []
        for _ in range(chance.choice(SIZES)):
            row, diff = (chance.randrange(KEYS), chance.randrange(50)), 1
            if edges and chance.random() < 0.45:
                row, diff = chance.choice(list(edges)[:64]), -1
            edges[row] += diff
            if not edges[row]:
                del edges[row]
            changes.append((row, diff))
        apply(engine, {"edges": changes})
        if chance.random() < 0.02:
            held.append((engine.snapshot, Counter(edges)))
        if len(held) > 8:
            check(*held.pop(chance.randrange(len(held))))
        if chance.random() < 0.01:
            for trace in traces(engine):
                trace.layers()
    for snapshot, then in held:
        check(snapshot, then)
    for trace in traces(engine):
        assert sum(map(len, trace.shown().layers)) == trace.rows
        assert len(trace.shown().layers) <= 4 + 2 * trace.rows.bit_length()


def test_a_nursery_is_used_again_once_nobody_reads_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nurseries, "WORDS", 1 << 13)
    engine = Engine()
    engine.create_source(EDGES.name, EDGES.schema)
    used: list[int] = []
    rows: Counter = Counter()

    def insert_some(count: int) -> None:
        for _ in range(count):
            row = (len(rows) % KEYS, len(rows))
            rows[row] += 1
            apply(engine, {"edges": [(row, 1)]})
            steps = engine._dataflow._compiled
            assert steps is not None
            current = steps._nurseries.current.ctypes.data
            if current not in used[-1:]:
                used.append(current)

    insert_some(1_000)
    assert len(used) > 10
    assert len(set(used)) == 2
    before = len(used)
    while len(used) == before:
        insert_some(1)
    insert_some(5)  # all rows have left the old one
    snapshot, then = engine.snapshot, Counter(rows)
    used.clear()
    insert_some(1_000)
    assert len(used) > 10
    assert len(set(used)) == 3
    assert shown(snapshot, "edges") == then


def test_what_seldom_changes_keeps_no_nursery(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its rows are shown anew when they move, also if the operators become others."""
    monkeypatch.setattr(nurseries, "WORDS", 1 << 12)
    engine = Engine()
    quiet = [source(f"quiet {number}", 2) for number in range(6)]
    for it in (EDGES, *quiet):
        engine.create_source(it.name, it.schema)
    used: set[int] = set()
    edges: Counter = Counter()
    for number in range(1_500):
        row = (number % KEYS, number)
        edges[row] += 1
        also = {it.name: [((number, 0), 1)] for it in quiet if number == 200 * int(it.name[-1]) + 7}
        apply(engine, {"edges": [(row, 1)], **also})
        used.add(engine._dataflow._compiled._nurseries.current.ctypes.data)
        if number % 400 == 0:
            engine.create_view(f"degrees {number}", DEGREES)
    assert len(used) <= 8  # of some hundred that have begun
    assert shown(engine.snapshot, "edges") == edges
    for it in quiet:
        assert shown(engine.snapshot, it.name) == {(200 * int(it.name[-1]) + 7, 0): 1}


def test_batches_leave_a_nursery_some_words_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many views as there may be, and as large as batches may be, no advance moves more than it is to."""
    monkeypatch.setattr(nurseries, "WORDS", 1 << 19)
    engine = Engine()
    engine.create_source(EDGES.name, EDGES.schema)
    views = 12
    for number in range(views):
        counted = AggregateSpec(Function.COUNT, None, BIGINT)
        engine.create_view(f"degrees {number}", Reduce(EDGES, (0,), (counted,) * (1 + number)))
    words = allowed = has_left = in_parts = 0
    parts: Counter[Trace] = Counter()
    move = Trace.move

    def noted(trace: Trace, nursery: np.ndarray, cursor: np.ndarray, most: int, fuel: int) -> int:
        nonlocal words, allowed, has_left, in_parts
        before = moved_to(nursery, trace)
        allowed = allowed or fuel
        rest = move(trace, nursery, cursor, most, fuel)
        words += moved_to(nursery, trace) - before
        has_left += rest > 0
        parts[trace] += rest == 0
        in_parts += trace.spine[spine.GONE] > 0 and trace.spine[spine.FROM] != 0
        return rest

    monkeypatch.setattr(Trace, "move", noted)
    edges: Counter = Counter()
    each: list[int] = []
    over: list[int] = []
    merged = 0
    for number in range(1_500):
        before, allowed = words, 0
        row = (number % KEYS, number)
        edges[row] += 1
        merged += any(trace.spine[spine.MERGING] != spine.NOWHERE for trace in traces(engine))
        apply(engine, {"edges": [(row, 1)]})
        each.append(words - before)
        over.append(each[-1] - allowed)
    assert has_left > 50
    assert max(parts.values()) > 5
    assert in_parts > 100
    assert 0 < max(each) < nurseries.WORDS // 2
    assert max(over) <= views + 3  # words of a row
    assert merged > 100
    degrees = Counter(node for node, _ in edges.elements())
    for number in range(views):
        rows = {(node, *(degree,) * (1 + number)): 1 for node, degree in degrees.items()}
        assert shown(engine.snapshot, f"degrees {number}") == rows


def test_rows_are_no_trouble_as_long_as_nothing_is_owed_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled code interrupts itself for merges of large batches, not for a number of rows."""
    small: list[Trace] = []
    insert = Trace.insert

    def noted(trace: Trace, *batch: Any) -> None:
        small.extend([trace] if trace.rows < 100 else [])
        insert(trace, *batch)

    monkeypatch.setattr(Trace, "insert", noted)
    engine = Engine()
    engine.create_source(EDGES.name, EDGES.schema)
    engine.create_view("degrees", DEGREES)
    for number in range(2 * QUANTUM):
        apply(engine, {"edges": [((number % 5, 0), 1 if number % 10 < 5 else -1), ((9, 9), 1)]})
    assert not small


@pytest.mark.parametrize("seed", [89, 198, 208])
def test_batches_of_all_sizes_are_shown(seed: int) -> None:
    """In these cases compiled code could merge two batches behind which there is one of the trace."""
    chance = random.Random(seed)
    engine = Engine()
    engine.create_source(EDGES.name, EDGES.schema)
    edges: Counter = Counter()
    for epoch in range(150):
        rows = [(chance.randrange(KEYS), 1_000 * epoch + n) for n in range(chance.choice((1, 2, 3, 200)))]
        apply(engine, {"edges": [(row, 1) for row in rows]})
        edges.update(rows)
        assert shown(engine.snapshot, "edges") == edges


def test_merges_go_on_a_little_with_every_change() -> None:
    """However many rows there are, an insertion merges a few of them, and lookups see few batches."""
    engine = Engine()
    engine.create_source(EDGES.name, EDGES.schema)
    engine.create_view("degrees", DEGREES)
    apply(engine, {"edges": [((number, 0), 1) for number in range(spine.MOST)]})
    (trace,) = [
        each.trace for each in engine._dataflow.operators.values() if getattr(each, "name", "") == EDGES.name
    ]
    merged, most = set(), 0
    for number in range(spine.MOST):
        before = progress(trace)
        apply(engine, {"edges": [((number * 7919 % spine.MOST, 1 + number), 1)]})
        after = progress(trace)
        if after[0] != spine.NOWHERE and after[:2] == before[:2]:
            assert after[2] - before[2] <= spine.EFFORT
            merged.add(after[:2])
            most = max(most, after[2])
        assert trace.count <= 2 + log2(2 * spine.MOST)
    assert len(merged) > 20
    assert most > spine.MOST / 3


def test_a_trace_that_is_settled_keeps_its_lines() -> None:
    """A step may be in progress, which knows them by their numbers. What was being merged is merged later."""
    engine = Engine()
    engine.create_source(EDGES.name, EDGES.schema)
    engine.create_view("degrees", DEGREES)
    edges: Counter = Counter()
    settled = 0
    for number in range(600):
        rows = [(number * 7919 % KEYS, number), (number % KEYS, -1 - number)]
        apply(engine, {"edges": [(row, 1) for row in rows]})
        edges.update(rows)
        for trace in traces(engine):
            if trace.spine[spine.MERGING] != spine.NOWHERE and number % 3 == 0:
                lines = trace.table[: trace.count, ROWS].tolist()
                assert [len(layer) for layer in trace.layers()] == lines
                assert trace.table[: trace.count, ROWS].tolist() == lines
                settled += 1
            assert trace.count <= 3 + log2(trace.rows)
    assert settled > 10
    check(engine.snapshot, edges)


def test_few_rows_may_be_narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """As those are that a merge of many rows leaves, most of which have cancelled."""
    monkeypatch.setattr(layer, "NARROW", 4)
    engine = Engine()
    engine.create_source(EDGES.name, EDGES.schema)
    engine.create_view("degrees", DEGREES)
    edges: Counter = Counter()
    for number in range(40):
        rows = [((number * 31 + place) % KEYS, number) for place in range(10 if number % 8 == 0 else 1)]
        with monkeypatch.context() as patch:
            if len(rows) > 1:
                patch.setattr(running_dataflow, "FEW", -1)
            apply(engine, {"edges": [(row, 1) for row in rows]})
        edges.update(rows)
        check(engine.snapshot, edges)


def moved_to(nursery: np.ndarray, trace: Trace) -> int:
    """How many words of a trace's rows are in a nursery."""
    numbers = trace.spine
    ends = nursery.ctypes.data, nursery.ctypes.data + nursery.nbytes
    lines = trace.table[numbers[spine.SETTLED] : trace.count]
    inside = (lines[:, ADDRESS] >= ends[0]) & (lines[:, ADDRESS] < ends[1])
    words = int((lines[inside, ROWS] * lines[inside, WIDTH]).sum())
    if numbers[spine.MERGING] != spine.NOWHERE and ends[0] <= numbers[spine.INTO] < ends[1]:
        words += int(numbers[spine.PROGRESS + WRITTEN] * trace.table[numbers[spine.MERGING], WIDTH])
    return words + int(numbers[spine.GONE] if numbers[spine.FROM] else 0)


def progress(trace: Trace) -> tuple[int, int, int]:
    """Which merge is in progress in compiled code, and the rows that it has read."""
    line, into, left, right = trace.spine[
        [spine.MERGING, spine.INTO, spine.PROGRESS, spine.PROGRESS + 1]
    ].tolist()
    return line, into, left + right


def check(snapshot: Snapshot, edges: Counter) -> None:
    assert shown(snapshot, "edges") == edges
    degrees: Counter = Counter()
    for (node, _), count in edges.items():
        degrees[node] += count
    assert shown(snapshot, "degrees") == Counter(dict.fromkeys(degrees.items(), 1))


def test_a_batch_is_the_same_layer_as_long_as_it_is_there() -> None:
    engine = Engine()
    engine.create_source(EDGES.name, EDGES.schema)
    engine.create_view("degrees", DEGREES)
    apply(engine, {"edges": [((number, 0), 1) for number in range(1000)]})
    for number in range(200):
        apply(engine, {"edges": [((number, 1), 1)]})
    (first, *_), (again, *_) = (trace.shown().layers for trace in traces(engine)[:1] * 2)
    assert first is again
    before = engine.snapshot.relations["edges"].layers
    apply(engine, {"edges": [((0, 2), 1)]})
    after = engine.snapshot.relations["edges"].layers
    assert any(layer is other for layer in before for other in after)
