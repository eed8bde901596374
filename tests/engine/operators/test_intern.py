"""Interning: ids are unique, never NULL, and at every epoch those that the rows alone determine."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from operator import le

import pytest

from engine.api import Dataflow
from engine.errors import PlanError
from engine.kernels.words import NULL
from engine.plan.nodes import (
    Clamp,
    Concat,
    Join,
    Node,
    OnLimit,
    Recursive,
    Source,
    Threshold,
    Variable,
    project,
)
from engine.plan.row_ids import IdHash, Intern, intern_rows
from engine.runtime.engine import Engine
from engine.schema import BIGINT, TEXT, Column, Schema
from tests.engine.harness import Row, apply, bag, delete, delta, insert, rows, source
from tests.engine.histories import check
from tests.engine.plans import SOURCES, PlanMaker
from tests.oracle.interning import ids_of, mixed, row_hash, unmixed
from tests.seeds import SEED, few, seeds

TWO_BITS = IdHash(bits=(2,) * 6)
HASHES = (TWO_BITS, IdHash(seed=5, bits=(1,) * 9), IdHash(seed=-3, bits=(3, 1, 64, 2)), IdHash())


def engine_with(plan: Node, width: int = 1) -> Engine:
    engine = Engine()
    engine.create_source("s", source("s", width).schema)
    engine.create_view("ids", plan)
    return engine


def ids(engine: Engine, epoch: int | None = None) -> dict[Row, int]:
    return {row[:-1]: row[-1] for row in rows(engine, "ids", epoch)}


def two_that_collide(hash: IdHash) -> tuple[Row, Row]:
    """The two least rows (n,) that have the same hash in round 0, the lesser one first."""
    seen: dict[int, Row] = {}
    for n in range(100):
        lesser = seen.setdefault(row_hash((n,), 0, hash), (n,))
        if lesser != (n,):
            return lesser, (n,)
    raise AssertionError("no two of a hundred rows collide")


def test_each_distinct_row_has_one_id() -> None:
    engine = engine_with(Intern(source("s", 2)), 2)
    insert(engine, "s", (1, 2), (1, 2), (2, 1), (NULL, 0))
    assert ids(engine) == ids_of([(1, 2), (2, 1), (NULL, 0)], IdHash())
    assert all(count == 1 for count in bag(engine, "ids").values())
    delete(engine, "s", (1, 2))
    assert len(ids(engine)) == 3
    delete(engine, "s", (1, 2))
    assert ids(engine) == ids_of([(2, 1), (NULL, 0)], IdHash())


def test_a_lesser_row_evicts_and_gives_back() -> None:
    lesser, greater = two_that_collide(TWO_BITS)
    engine = engine_with(Intern(source("s", 1), TWO_BITS))
    alone = insert(engine, "s", greater)
    both = insert(engine, "s", lesser)
    again = delete(engine, "s", lesser)
    first, second = row_hash(greater, 0, TWO_BITS), row_hash(greater, 1, TWO_BITS)
    assert first != second
    assert ids(engine, alone) == ids(engine, again) == {greater: first}
    assert ids(engine, both) == {lesser: first, greater: second}


def test_a_greater_row_changes_nothing_of_the_winner() -> None:
    lesser, greater = two_that_collide(TWO_BITS)
    engine = engine_with(Intern(source("s", 1), TWO_BITS))
    before = insert(engine, "s", lesser)
    insert(engine, "s", greater)
    changes = engine.snapshot.changes("ids", before, before + 1)
    assert {tuple(row) for row in changes[:-2].T.tolist()} == {(*greater, ids(engine)[greater])}


def test_a_round_that_is_decided_is_not_decided_again_by_later_proposals() -> None:
    """A row that loses its first hash may ask for the hash of a greater row, and must not get it."""
    for seed in range(200):
        hash = IdHash(seed, (2,))
        wanted = {n: row_hash((n,), 0, hash) for n in range(4)}
        late = row_hash((1,), 1, IdHash(seed, (2, 2)))
        if wanted[0] == wanted[1] and late == wanted[3] != wanted[0]:
            break
    else:
        raise AssertionError("no seed makes the case")
    engine = engine_with(Intern(source("s", 1), IdHash(seed, (2, 2))))
    insert(engine, "s", (0,), (1,), (3,))
    assert ids(engine)[(3,)] == late
    assert ids(engine) == ids_of([(0,), (1,), (3,)], IdHash(seed, (2, 2)))


def test_the_hash_that_would_be_null_is_another() -> None:
    word = unmixed(NULL % 2**64) ^ mixed(0x9E3779B97F4A7C15)
    row = (word - 2**64 if word >= 2**63 else word,)
    engine = engine_with(Intern(source("s", 1)))
    insert(engine, "s", row)
    assert ids(engine) == {row: NULL + 1}


def test_an_id_gives_back_its_row() -> None:
    """Values are replaced by ids, joined as ids, and found again, by one shared arrangement of them."""
    pairs, hash = source("s", 2), IdHash(bits=(2, 2))
    values = Concat((project(pairs, (0,)), project(pairs, (1,))))
    names = Intern(values, hash)
    first = project(Join(pairs, names, (0,), (0,)), (3, 1))
    coded = project(Join(first, names, (1,), (0,)), (0, 3))
    decoded = project(Join(project(Join(coded, names, (0,), (1,)), (2, 1)), names, (1,), (1,)), (0, 2))
    engine = engine_with(Threshold(decoded, Clamp.POSITIVE), 2)
    rng = random.Random(SEED)
    for _ in range(30):
        row = (rng.randrange(9), rng.randrange(9))
        count = bag(engine, "s")[row]
        apply(engine, {"s": [(row, -count if count else 2)]})
        assert bag(engine, "ids") == bag(engine, "s")


def test_texts_have_ids() -> None:
    engine = Engine()
    columns = Schema((Column("name", TEXT), Column("size", BIGINT)))
    engine.create_source("s", columns)
    engine.create_view("ids", intern_rows(Source("s", columns), (0,)))
    words = [engine.dictionary.word(text) for text in ("a", "b", "a")]
    insert(engine, "s", *((word, size) for size, word in enumerate(words)))
    assert len(rows(engine, "ids")) == 2
    assert engine.snapshot.schema("ids").names == ("name", "id")


def test_rows_without_columns_are_one() -> None:
    engine = engine_with(intern_rows(source("s", 1), ()))
    insert(engine, "s", (1,), (2,))
    assert rows(engine, "ids") == [(row_hash((), 0, IdHash()),)]
    delete(engine, "s", (1,), (2,))
    assert rows(engine, "ids") == []


@pytest.mark.parametrize("hash", [{"bits": (0,)}, {"bits": (65,)}, {"seed": 2**63}])
def test_hashes_that_there_are_not(hash: dict) -> None:
    with pytest.raises(PlanError):
        IdHash(**hash)


def test_an_aborted_change_leaves_nothing() -> None:
    engine = engine_with(Intern(source("s", 1), TWO_BITS))
    insert(engine, "s", *((n,) for n in range(8)))
    before = ids(engine)
    epoch = engine.snapshot.upper
    changes = delta(1, [((n,), epoch, 1 if n > 8 else -1) for n in range(4, 14)])
    engine.stage({"s": changes}, epoch + 1).abort()
    assert ids(engine) == before
    insert(engine, "s", (8,))
    assert ids(engine) == ids_of([(n,) for n in range(9)], TWO_BITS)
    engine.create_view("again", Intern(source("s", 1), TWO_BITS))
    engine.drop_view("ids")
    delete(engine, "s", (0,))
    assert bag(engine, "again") == Counter((*row, id) for row, id in expected(range(1, 9)).items())


def expected(values: range) -> dict[Row, int]:
    return ids_of([(n,) for n in values], TWO_BITS)


@pytest.mark.parametrize("hash", HASHES)
@pytest.mark.parametrize("columns", [(0,), (1, 0)])
def test_random_histories(hash: IdHash, columns: tuple[int, ...]) -> None:
    pairs = Source("s", Schema((Column("a", BIGINT), Column("b", BIGINT))))
    for number, seed in enumerate(seeds(few(48))):
        most = 3 + 2 * (number % 6)
        assert check(intern_rows(pairs, columns, hash), (pairs,), random.Random(seed), seed, most)


class Interning(PlanMaker):
    """Random plans that intern here and there; their loops are all limited, since ids of ids never end."""

    def _distinct(self, width: int, budget: int, variables: tuple[Variable, ...], depth: int) -> Node:
        input = self.plan(self.rng.choice((1, 2)), budget - 1, variables, depth)
        return self._columns(Intern(input, self.rng.choice(HASHES[:2])), width)

    def _loop(self, width: int, budget: int, variables: tuple[Variable, ...], depth: int) -> Node:
        loop = super()._loop(width, budget, variables, depth)
        assert isinstance(loop, Recursive)
        return replace(loop, limit=loop.limit or 3, on_limit=OnLimit.RETURN)


@pytest.mark.parametrize("first", range(0, 50 * few(8), 50))
def test_random_plans_with_loops(first: int) -> None:
    compared = 0
    for seed in seeds(50, first):
        rng = random.Random(seed)
        plan = Interning(rng).plan(2, 4)
        compared += check(plan, SOURCES, rng, seed)
    assert compared > 40


@pytest.mark.parametrize("hash", HASHES)
def test_times_of_two_coordinates(hash: IdHash) -> None:
    """Changes at random versions and epochs: at each time the ids of the rows at or before it."""
    size = 4
    times = [(version, epoch) for version in range(size) for epoch in range(size)]
    for seed in seeds(6):
        rng = random.Random(seed)
        flow = Dataflow("version", "epoch")
        numbers = flow.input("numbers", n=int)
        output = numbers.intern(hash=hash).output()
        changes = [(rng.randrange(12), rng.choice(times), rng.choice((1, 1, -1))) for _ in range(25)]
        for n, time, diff in changes:
            numbers.update((n,), diff, time)
        flow.advance((0, rng.randint(1, size)), (rng.randint(1, size), 0))
        flow.advance((size, size))
        for time in times:
            counts: Counter[int] = Counter()
            for n, at, diff in changes:
                if all(map(le, at, time)):
                    counts[n] += diff
            live = ids_of([(n,) for n, count in counts.items() if count > 0], hash)
            assert output.at(time) == {(*row, id): 1 for row, id in live.items()}, (seed, time)
