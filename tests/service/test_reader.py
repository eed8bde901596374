"""The reader: pages, lookups and readings that follow changes have the rows of a read from scratch."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pytest

from engine.plan.nodes import Source, project
from engine.runtime.engine import Engine, Snapshot
from engine.schema import BIGINT, TEXT, Column, Schema
from engine.state import reading
from planner.adhoc.adhoc_query import AdhocQuery
from planner.relation import Relation
from service.definitions.definition import Definition
from service.reading import reads
from service.reading.duck import Answer, Carried, Duck, anything
from service.reading.query_errors import NeedsQuery
from service.reading.reads import Query, Reader
from service.reading.row_readings import Reading
from tests.seeds import each_seed, few

SCHEMA = Schema((Column("a", BIGINT), Column("t", TEXT), Column("k", BIGINT, nullable=False)))
TEXTS = ("x", "y", "", "a longer one")
Row = tuple[int, str, int]
QUERIES = {
    None: lambda row: True,
    "k = 3": lambda row: row[2] == 3,
    "5 = k AND a > 1": lambda row: row[2] == 5 and row[0] > 1,
    "(k IN (1, 7, 99)) AND (t = 'x')": lambda row: row[2] in (1, 7, 99) and row[1] == "x",
    "k IN (1, 2, 5, 5, -3)": lambda row: row[2] in (1, 2, 5),
    "k = 3 AND a = 2": lambda row: row[2] == 3 and row[0] == 2,
    "k = 3 AND t = 'x' AND a = 2": lambda row: row == (2, "x", 3),
    "a = 3 OR k = 3": lambda row: row[0] == 3 or row[2] == 3,
    "NOT k = 3": lambda row: row[2] != 3,
    "k = 1 AND k = 2": lambda row: False,
    "k = -1": lambda row: False,
    "k = 99999999999999999999": lambda row: False,
    "a = 2": lambda row: row[0] == 2,
    "t = 'y' AND a = 1": lambda row: row[1] == "y" and row[0] == 1,
    "a < 2 OR k = 4": lambda row: row[0] < 2 or row[2] == 4,
    "k % 2 = 0": lambda row: row[2] % 2 == 0,
}


def definition(name: str, id: int, schema: Schema, key: tuple[int, ...] | None = None) -> Definition:
    relation = Relation(name, schema, Source(name, schema), key)
    return Definition(id, relation, 0)


class Counting(Duck):
    """Notes the number of rows that each query reads."""

    def __init__(self) -> None:
        super().__init__()
        self.read: list[int] = []

    def run(self, query: AdhocQuery, tables: Mapping[str, pa.Table], carried: Carried = anything) -> Answer:
        self.read += [table.num_rows for table in tables.values()]
        return super().run(query, tables, carried)


class Subject:
    """A table with a key, a bag of its rows, and a reader of both; `states` has the bag at every epoch."""

    def __init__(self, seed: int, rows: int, capacity: int = 1 << 20) -> None:
        self.rng = random.Random(seed)
        self.engine = Engine()
        node = Source("t", SCHEMA)
        self.engine.create_source("t", SCHEMA, key=(2,))
        self.engine.create_view("v", plan := project(node, (1, 0)))
        self.table = definition("t", 1, SCHEMA, (2,))
        self.view = definition("v", 2, plan.schema)
        self.reader = Reader(self.engine.dictionary, capacity)
        self.duck = Counting()
        self.rows: dict[int, Row] = {}
        self.states: list[list[Row]] = [[]]
        self.change(rows)

    @property
    def snapshot(self) -> Snapshot:
        return self.engine.snapshot

    def read(self, relation: Definition, epoch: int, query: Query) -> Reading:
        return self.reader.read(relation, self.snapshot, epoch, query, self.duck)

    def change(self, size: int) -> None:
        """Replace, delete and insert about so many rows, in one epoch."""
        lines: list[tuple[Row, int]] = []
        for _ in range(size):
            key = self.rng.randrange(max(10, size))
            if key in self.rows:
                lines.append((self.rows.pop(key), -1))
            if self.rng.random() < 0.7:
                row = self.rows[key] = (self.rng.randrange(4), self.rng.choice(TEXTS), key)
                lines.append((row, 1))
        epoch = self.snapshot.upper
        words = [(a, self.engine.dictionary.word(t), k, epoch, diff) for (a, t, k), diff in lines]
        delta = np.array(words, np.int64).reshape(-1, 5).T
        self.engine.stage({"t": delta}, epoch + 1).publish()
        self.states.append(list(self.rows.values()))

    def words(self, row: Row) -> tuple[int, ...]:
        return (row[0], self.engine.dictionary.word(row[1]), row[2])


@each_seed(few(4))
def test_readings_have_the_rows_that_the_predicate_accepts(seed: int) -> None:
    subject = Subject(seed, 300)
    for _ in range(25):
        subject.change(subject.rng.choice((1, 2, 40)))
        newest = subject.snapshot.upper - 1
        epoch = subject.rng.choice((newest, newest, newest, subject.rng.randrange(1, newest + 1)))
        for where, accepts in QUERIES.items():
            reading = subject.read(subject.table, epoch, Query(where))
            expected = sorted((row for row in subject.states[epoch] if accepts(row)), key=lambda row: row[2])
            assert list(map(tuple, reading.words.T.tolist())) == [subject.words(row) for row in expected]
            assert reading.counts.tolist() == [1] * len(expected)
            ordered = subject.read(subject.table, epoch, Query(where, "a DESC, k DESC"))
            expected.sort(key=lambda row: (-row[0], -row[2]))
            assert list(map(tuple, ordered.words.T.tolist())) == [subject.words(row) for row in expected]


@each_seed(few(4))
def test_a_bag_is_read_as_from_scratch(seed: int) -> None:
    subject = Subject(seed, 200)
    for _ in range(25):
        subject.change(subject.rng.choice((1, 3)))
        epoch = subject.snapshot.upper - 1
        everything = subject.read(subject.view, epoch, Query())
        bag = Counter((subject.engine.dictionary.word(t), a) for a, t, _ in subject.states[epoch])
        assert list(map(tuple, everything.words.T.tolist())) == sorted(bag)
        assert everything.counts.tolist() == [bag[row] for row in sorted(bag)]
        named = subject.read(subject.view, epoch, Query("t = 'x'"))
        assert int(named.counts.sum()) == sum(t == "x" for _, t, _ in subject.states[epoch])


@each_seed(few(4))
def test_pages_continue_where_the_last_one_ended(seed: int) -> None:
    subject = Subject(seed, 400)
    for _ in range(8):
        subject.change(30)
    for relation in (subject.table, subject.view):
        epoch = subject.rng.randrange(1, subject.snapshot.upper)
        words, counts = subject.snapshot.rows(relation.name, epoch)
        expected = np.repeat(words, counts, axis=1).T.tolist()
        first, skipped, found = None, 0, []
        while True:
            limit = subject.rng.choice((1, 2, 7, 100))
            page = subject.reader.page(relation, subject.snapshot, epoch, first, skipped + limit + 1)
            found += page.part(skipped, skipped + limit).T.tolist()
            if page.size <= skipped + limit:
                break
            first, skipped = page.place(skipped + limit)
        assert found == expected


def test_a_page_reads_few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    read = 0

    def counting(batches, *others):  # type: ignore[no-untyped-def]
        nonlocal read
        batches = list(batches)
        read += sum(map(len, batches))
        return accumulate(batches, *others)

    accumulate = reading.accumulate
    subject = Subject(1, 20_000)
    for _ in range(20):
        subject.change(1)
    monkeypatch.setattr(reading, "accumulate", counting)
    epoch = subject.snapshot.upper - 1
    page = subject.reader.page(subject.table, subject.snapshot, epoch, None, 11)
    assert page.size >= 11
    found = subject.reader.read(subject.table, subject.snapshot, epoch, Query("k = 77"))
    assert found.size <= 1
    assert 0 < read < 1_000


def test_a_reading_follows_changes_without_a_look_at_all_rows() -> None:
    subject = Subject(1, 2_000)
    for _ in range(10):
        subject.change(3)
        subject.read(subject.table, subject.snapshot.upper - 1, Query("k % 2 = 0"))
    assert subject.duck.read[0] > 500
    assert max(subject.duck.read[1:]) < 10


def test_rows_that_need_no_query_are_found_without_one() -> None:
    subject = Subject(1, 300)
    epoch = subject.snapshot.upper - 1

    def found(query: Query) -> int:
        return subject.reader.read(subject.table, subject.snapshot, epoch, query).size

    assert found(Query()) == len(subject.rows)
    assert found(Query("k IN (1, 2, 3)")) == len({1, 2, 3} & subject.rows.keys())
    for query in (Query("k = 3 AND a > 0"), Query("k = 3", "a")):
        assert found(query) == subject.read(subject.table, epoch, query).size
    for query in (Query("a = 1"), Query("k > 3 AND a > 0"), Query(None, "a")):
        with pytest.raises(NeedsQuery):
            found(query)
        subject.read(subject.table, epoch, query)
        assert found(query) == subject.read(subject.table, epoch, query).size  # it is kept now


def test_no_more_is_kept_than_fits() -> None:
    subject = Subject(1, 500, capacity=20_000)
    for _ in range(20):
        subject.change(1)
        for where in (None, "a = 1", "a < 3"):
            epoch = subject.snapshot.upper - 1
            subject.read(subject.table, epoch, Query(where))
            kept = subject.reader._kept
            assert sum(map(reads._bytes, kept.values())) == subject.reader._size <= 20_000
            assert all((id, query, at) in kept for (id, query), at in subject.reader._newest.items())


def test_a_relation_that_was_made_again_is_read_again() -> None:
    subject = Subject(1, 100)
    where = Query("a < 4")
    before = subject.read(subject.view, subject.snapshot.upper - 1, where)
    subject.engine.drop_view("v")
    plan = project(Source("t", SCHEMA), (1, 2))
    subject.engine.create_view("v", plan)  # with another column under the same name
    epoch = subject.snapshot.upper - 1
    after = subject.read(subject.view, epoch, where)
    assert after.words.tolist() != before.words.tolist()
    subject.change(1)
    later = subject.read(subject.view, epoch + 1, Query())
    assert later.words.tolist() == subject.snapshot.rows("v", epoch + 1)[0].tolist()
