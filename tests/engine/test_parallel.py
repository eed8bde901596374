"""Work in parts gives what it gives undivided, byte for byte, with any number of threads."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from threading import Barrier, Event
from time import thread_time
from weakref import ref

import numpy as np
import pyarrow as pa
import pytest

from engine.errors import JoinTooLarge
from engine.judging.row_judge import RowJudge
from engine.kernels.arrange import (
    NOWHERE,
    SLOT_HIGH,
    SLOT_LOW,
    SLOT_NOT_NULL,
    SLOT_ROWS,
    SLOT_TOP_HIGH,
    arrange,
    arrange_sums,
)
from engine.kernels.group_sums import FEW_GROUPS, sums_of_few
from engine.kernels.join import MOST_PAIRS
from engine.kernels.merge import merge
from engine.kernels.narrow.narrow_rows import NarrowRows, as_matrix, ends_in, table_of
from engine.kernels.parallel import divided_sort, threads
from engine.kernels.parallel.divided_join import DividedJoin
from engine.kernels.parallel.divided_merge import merge_batches
from engine.kernels.parallel.divided_sort import arrange_delta, arrange_delta_sums
from engine.kernels.words import NULL
from engine.operators import arrangement, operator, outermost_loop
from engine.operators.rebuild import Rebuild
from engine.runtime.engine import Engine
from engine.runtime.kept import kept_states
from engine.schema import DATE, INTEGER, TEXT, Column
from engine.state import layer, layer_merge, trace
from engine.state.dictionary import Dictionary
from engine.state.trace import Trace
from tests.engine.histories import EPOCHS, check, random_history, run
from tests.engine.plans import SOURCES, PlanMaker
from tests.seeds import SEED, each_seed, few, seeds

THREADS = (1, 2, 7)
NO_ROUNDS = NO_MASKS = np.empty(0, np.int64)
CASES = few(120)


@contextmanager
def in_parts(count: int) -> Iterator[None]:
    """So many threads, parts of a row, pieces of two rows, and merges of a few rows beside what goes on."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threads, "GRAIN", 1)
        patch.setattr(threads, "LARGE", 2)
        patch.setattr(trace, "AT_ONCE", 2)
        for module in (trace, layer_merge):
            patch.setattr(module, "QUANTUM", 4)
        for module in (layer, trace, arrangement, divided_sort):
            patch.setattr(module, "NARROW", 4)
        patch.setattr(operator, "PIECE", 2)
        patch.setattr(outermost_loop, "MOST_CHANGES", 3)
        for module in (trace, layer_merge, arrangement):
            patch.setattr(module, "BESIDE", 4)
        threads.use(count)
        yield
    threads.use(1)


@pytest.mark.parametrize("count", THREADS)
def test_random_dataflows_in_parts(count: int) -> None:
    compared = 0
    with in_parts(count):
        for seed in seeds(CASES, count):
            rng = random.Random(seed)
            compared += check(PlanMaker(rng).plan(rng.choice((1, 2)), 4), SOURCES, rng, seed, most=12)
    assert compared > 0.5 * CASES


@each_seed(few(40))
def test_any_number_of_threads_leaves_the_same_bytes(seed: int) -> None:
    """The traces of all operators, batch by batch, and the answers."""
    rng = random.Random(seed)
    plan = PlanMaker(rng).plan(rng.choice((1, 2)), 4)
    history, _ = random_history(rng, SOURCES, 12)
    found = []
    for count in THREADS:
        with in_parts(count):
            engine = run(plan, SOURCES, history, [1] * EPOCHS, 0, Rebuild.AUTO)
            found.append(engine and bytes_of(engine))
    assert found[1:] == found[:-1]


def bytes_of(engine: Engine) -> list[bytes]:
    states = kept_states(engine._dataflow.operators.items())
    traces = [batch.tobytes() for _, state in states for batch in state.trace.batches()]
    return [*traces, *(engine.snapshot.changes("view", 0, EPOCHS)[line].tobytes() for line in range(2))]


@each_seed(few(20))
def test_merges_beside_end_at_the_same_insertion(seed: int) -> None:
    found = []
    for count in THREADS:
        with in_parts(count):
            found.append(list(insertions(np.random.default_rng(seed))))
    assert any(beside for _, beside in found[0])
    assert found[1:] == found[:-1]


def insertions(rng: np.random.Generator) -> Iterator[tuple[list[bytes], bool]]:
    """The batches and indexes of a trace after each insertion, and whether rows are merged beside it.

    The rows are those inserted so far.
    """
    kept = Trace(1)
    kept.key = 1
    rows: Counter[int] = Counter()
    for epoch in range(60):
        delta = np.zeros((3, int(rng.integers(1, 200))), np.int64)
        delta[0] = rng.integers(0, 300, delta.shape[1])
        delta[1] = epoch
        delta[2] = rng.choice([-1, 1, 2], delta.shape[1])
        kept.since = max(kept.since, epoch - int(rng.integers(0, 4)))
        kept.insert(arrange(delta, np.arange(2), NO_ROUNDS))
        for word, _, diff in delta.T.tolist():
            rows[word] += diff
        there: Counter[int] = Counter()
        for word, _, diff in np.concatenate([as_matrix(batch) for batch in kept.batches()]).tolist():
            there[word] += diff
        assert {w: n for w, n in there.items() if n} == {w: n for w, n in rows.items() if n}
        slots = [layer.index.slots for layer in kept.layers() if layer.index is not None]
        merges = [layer for layer in kept._layers if isinstance(layer, layer_merge.LayerMerge)]
        beside = any(merge._beside is not None for merge in merges)
        yield [array.tobytes() for array in (*kept.batches(), *slots)], beside


WORDS = {
    "spread": lambda rng, n: rng.integers(-(2**63), 2**63, n),
    "one": lambda rng, n: np.full(n, 7),
    "few": lambda rng, n: rng.integers(0, 3, n),
    "ends": lambda rng, n: rng.choice([-(2**63), 2**63 - 1, 0], n),
    "sorted": lambda rng, n: np.arange(n) // 2,
    "skewed": lambda rng, n: rng.geometric(0.3, n) ** 9,
}


@pytest.mark.parametrize("second", WORDS)
@pytest.mark.parametrize("first", WORDS)
@pytest.mark.parametrize("size", [2, 40, 3_000])
def test_a_divided_sort_is_a_sort(first: str, second: str, size: int) -> None:
    rng = np.random.default_rng(SEED + size)
    delta = np.array(
        [
            WORDS[first](rng, size),
            WORDS[second](rng, size),
            rng.integers(1, 3, size),
            rng.choice([-1, 1], size),
        ]
    )
    order = np.array([1, 0, 2])
    slots = np.array([[SLOT_ROWS, 0, 0], [SLOT_HIGH, 0, 0], [SLOT_LOW, 0, 0]])
    for rounds in (NO_ROUNDS, np.array([5, 6])):
        expected = arrange(delta, order, rounds), arrange_sums(delta, order[1:], rounds, slots)
        for count in THREADS:
            with in_parts(count):
                found = (
                    arrange_delta(delta, order, rounds),
                    arrange_delta_sums(delta, order[1:], rounds, slots),
                )
            for one, other in zip(expected, found, strict=True):
                assert np.array_equal(one, as_matrix(other))
                if len(other):
                    low, high = ends_in(other)
                    assert (low <= one.min(axis=0)).all()
                    assert (high >= one.max(axis=0)).all()


@pytest.mark.parametrize("second", WORDS)
@pytest.mark.parametrize("first", WORDS)
def test_large_parts_are_sorted_by_all_their_words(first: str, second: str) -> None:
    """Many rows of a part are equal in the words that one word of the sort has room for."""
    rng = np.random.default_rng(SEED)
    size = 40_000
    leading, following = WORDS[first](rng, size), WORDS[second](rng, size)
    delta = np.array([leading, following, rng.integers(0, 99, size), np.full(size, 4), np.ones(size, int)])
    order = np.array([0, 1, 2, 3])
    found = arrange_delta(delta, order, NO_ROUNDS)
    assert np.array_equal(as_matrix(found), arrange(delta, order, NO_ROUNDS))


def test_rows_that_go_leave_no_gap_and_counts_that_grow_have_room() -> None:
    """Parts of a delta whose rows cancel, or are there many times, do not stay where they were."""
    size = 40_000
    delta = np.zeros((3, size), np.int64)
    delta[0], delta[2] = np.arange(size) % 15_000, 1
    gone = delta.copy()
    gone[2, :15_000] = -1
    for counts in (delta, gone):
        found = arrange_delta(counts, np.arange(2), NO_ROUNDS)
        assert isinstance(found, NarrowRows)
        assert np.array_equal(as_matrix(found), arrange(counts, np.arange(2), NO_ROUNDS))
        assert found.ends[:, -1].tolist() == [found[:, -1].min(), found[:, -1].max()]


@pytest.mark.parametrize("kept", [0.02, 0.5, 0.99])
@pytest.mark.parametrize("words", WORDS)
def test_rows_that_are_not_kept_are_passed_over(words: str, kept: float) -> None:
    rng = np.random.default_rng(SEED)
    size = 4_000
    delta = np.array(
        [WORDS[words](rng, size), rng.integers(0, 3, size), np.full(size, 4), np.ones(size, int)]
    )
    keep = rng.random(size) < kept
    rest = np.ascontiguousarray(delta[:, keep])
    order, slots = np.array([1, 0, 2]), np.array([[SLOT_ROWS, 0, 0], [SLOT_HIGH, 0, 0], [SLOT_LOW, 0, 0]])
    expected = arrange(rest, order, NO_ROUNDS), arrange_sums(rest, order[[0, 2]], NO_ROUNDS, slots)
    for count in THREADS:
        with in_parts(count):
            found = (
                arrange_delta(delta, order, NO_ROUNDS, keep),
                arrange_delta_sums(delta, order[[0, 2]], NO_ROUNDS, slots, keep),
            )
        for one, other in zip(expected, found, strict=True):
            assert np.array_equal(one, as_matrix(other))
            low, high = ends_in(other)
            assert (low <= one.min(axis=0)).all()
            assert (high >= one.max(axis=0)).all()


@pytest.mark.parametrize("groups", [1, 5, FEW_GROUPS, FEW_GROUPS + 1])
@pytest.mark.parametrize("most", [1, 2**40, 2**61])
def test_sums_of_few_groups_are_those_of_sorted_rows(groups: int, most: int) -> None:
    rng = np.random.default_rng(SEED + groups)
    size = 2_000
    words = rng.integers(-(2**63), 2**63, size)
    words[rng.random(size) < 0.1] = NULL
    names = rng.integers(-(2**62), 2**62, groups)
    counts = rng.choice([-1, 1], size)
    counts[0] = most
    delta = np.array([names[rng.integers(0, groups, size)], words, rng.integers(3, 4, size), counts])
    order, rounds = np.array([0, 2]), np.array([7])
    slots = np.array([[SLOT_ROWS, 0, 0], [SLOT_NOT_NULL, 1, 1], [SLOT_HIGH, 1, 1], [SLOT_LOW, 1, 1]])
    slots = np.vstack((slots, [[SLOT_TOP_HIGH, NOWHERE, NOWHERE]]))
    found = sums_of_few(delta, order, rounds, slots)
    if groups > FEW_GROUPS or most > 2**18:
        assert found.shape == (0, 0)
    else:
        assert np.array_equal(found, arrange_sums(delta, order, rounds, slots))


@pytest.mark.parametrize("words", WORDS)
def test_a_divided_merge_is_a_merge(words: str) -> None:
    rng = np.random.default_rng(SEED)
    for sizes in ((1, 300), (300, 300), (2_000, 50)):
        batches = []
        for size in sizes:
            lines = [WORDS[words](rng, size), rng.integers(0, 9, size), rng.choice([-1, 1], size)]
            batches.append(arrange(np.array(lines), np.arange(2), NO_ROUNDS))
        for since in (0, 5, 9):
            expected = merge(*batches, 1, since)
            for count in THREADS:
                with in_parts(count):
                    assert np.array_equal(merge_batches(*batches, 1, since), expected)


def test_a_sum_that_is_too_large_is_found_in_its_part() -> None:
    delta = np.zeros((4, 100), np.int64)
    delta[0] = np.arange(100)
    delta[1] = 2**62
    delta[3] = 1
    delta[3, 50] = 2**62
    with in_parts(2), pytest.raises(OverflowError):
        arrange_delta_sums(delta, np.array([0, 2]), NO_ROUNDS, np.array([[SLOT_HIGH, 1, 1]]))


def test_pairs_come_by_parts_as_they_come_at_once() -> None:
    rng = np.random.default_rng(SEED)
    sides = []
    for size in (900, 70):
        words = np.array([rng.integers(0, 60, size), np.arange(size), np.full(size, 4), np.ones(size, int)])
        sides.append(arrange(words, np.arange(3), NO_ROUNDS))
    columns = np.array([0, 1, ~1])
    for batch in (sides[0], NarrowRows.of(sides[0])):
        for count in THREADS:
            with in_parts(count):
                join = DividedJoin(batch, 2, table_of(sides[1:]), 1, 2, 0, NO_ROUNDS, columns, NO_MASKS)
                pairs, _, _ = join.all()
                parts = list(join.by_parts())
            assert len(parts) > 2
            assert np.array_equal(np.hstack(parts), pairs)


@pytest.mark.parametrize("size", [10, 6_000])
def test_pairs_of_all_parts_are_counted_together(size: int) -> None:
    """36 million pairs are too many, though no part has as many as may be."""
    batch = np.zeros((size, 4), np.int64)
    batch[:, 1] = np.arange(size)
    batch[:, 3] = 1
    columns, table = np.array([0, 1, ~1]), table_of([batch])
    for count in THREADS:
        with in_parts(count):
            join = DividedJoin(batch, 2, table, 1, 2, 0, NO_ROUNDS, columns, NO_MASKS)
            pairs, later, excess = join.all()
        assert later.shape == (5, 0)
        assert excess == (size * size if size * size > MOST_PAIRS else 0)
        assert pairs.shape[1] + excess == size * size
        with in_parts(count), pytest.raises(JoinTooLarge) if excess else nullcontext():
            assert sum(part.shape[1] for part in join.by_parts()) == size * size
        assert sorted(pairs[1] * size + pairs[2]) == list(range(pairs.shape[1]))


def test_parts_run_at_once_and_results_keep_their_order() -> None:
    barrier = Barrier(3)

    def meet(part: int) -> int:
        barrier.wait(timeout=60)
        return part

    with in_parts(3):
        assert threads.each(meet, [3, 1, 2]) == [3, 1, 2]


@pytest.mark.parametrize("count", THREADS)
def test_the_first_part_that_fails_is_reported(count: int) -> None:
    ran = []

    def fail(part: int) -> None:
        ran.append(part)
        if part >= 5:
            raise ValueError(part)

    with in_parts(count):
        for _ in range(20):
            with pytest.raises(ValueError, match=r"^5$"):
                threads.each(fail, range(1000))
    assert max(ran) < 100


def test_work_may_ask_for_more_work() -> None:
    with in_parts(2):
        inner = threads.each(lambda part: sum(threads.each(lambda n: n * part, range(10))), range(10))
    assert inner == [45 * part for part in range(10)]


def test_work_goes_on_here_when_no_thread_takes_more() -> None:
    """At the end of a process."""
    with in_parts(3):
        threads._helpers.shutdown()
        assert threads.each(lambda part: part + 1, range(9)) == list(range(1, 10))
        assert threads.Beside(lambda: 7).result() == 7


def test_an_error_beside_is_raised_where_the_result_is_wanted() -> None:
    for count in THREADS:
        with in_parts(count):
            beside = threads.Beside(lambda: 1 // 0)
            with pytest.raises(ZeroDivisionError):
                beside.result()


def test_items_are_made_ahead_in_their_order() -> None:
    """The next one is made while the last one is used, and an error comes after the items before it."""
    made = []

    def making() -> Iterator[int]:
        for number in range(5):
            made.append(number)
            yield number
        raise ValueError("the end")

    for count in THREADS:
        made.clear()
        with in_parts(count):
            items = threads.ahead(making())
            found = [next(items) for _ in range(5)]
            with pytest.raises(ValueError, match="the end"):
                next(items)
        assert found == made == list(range(5))


def test_an_item_is_made_while_its_predecessor_is_used() -> None:
    barrier = Barrier(2)

    def making() -> Iterator[int]:
        yield 1
        barrier.wait(timeout=60)
        yield 2

    with in_parts(2):
        for item in threads.ahead(making()):
            if item == 1:
                barrier.wait(timeout=60)


@each_seed(few(10))
def test_columns_are_judged_alike_by_any_number_of_threads(seed: int) -> None:
    rng = random.Random(seed)
    types = [rng.choice([TEXT, INTEGER, DATE]) for _ in range(6)]
    columns = tuple(Column(f"c{i}", type, rng.random() < 0.5) for i, type in enumerate(types))
    values = ["7", "2024-02-29", "x", None, "-1"]
    rows = 50
    batch = pa.record_batch({c.name: pa.array(rng.choices(values, k=rows), pa.string()) for c in columns})
    sources = tuple(rng.choice([i, i, None]) for i in range(len(columns)))
    judge = RowJudge(columns, sources)
    found = []
    for count in THREADS:
        with in_parts(count):
            judged = judge.judged(batch, Dictionary())
            found.append((judged.good.tolist(), judged.bad.tolist(), judged.messages(rows)))
    assert found[1:] == found[:-1]


def test_work_that_has_ended_is_forgotten_while_the_other_thread_is_busy() -> None:
    """Its turn waits there in the queue, and must not keep its arrays."""
    begun, end = Event(), Event()
    with in_parts(2):
        busy = threads.Beside(lambda: begun.set() or end.wait(60))
        assert begun.wait(60)
        rows = np.zeros(8)
        kept = ref(rows)
        assert threads.each(rows.__getitem__, range(8)) == [0] * 8
        assert threads.Beside(rows.sum).result() == 0
        del rows
        forgotten = kept() is None
        end.set()
        assert busy.result()
    assert forgotten


def test_time_in_other_threads_counts() -> None:
    """Each part takes a while; so the work of this thread takes as long as all of them."""
    barrier = Barrier(2)

    def work(_: int) -> None:
        barrier.wait(timeout=60)
        until = thread_time() + 0.05
        while thread_time() < until:
            pass

    with in_parts(2):
        before, own = threads.processor_seconds(), thread_time()
        threads.each(work, range(2))
        spent, own = threads.processor_seconds() - before, thread_time() - own
    assert own < 0.1 <= spent + 0.01
