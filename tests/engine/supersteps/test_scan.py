"""Loads: rows that only an executor reads. Bad ones fail or are left out, and keys must be new."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from engine.codec.json import decode_rows
from engine.errors import StoreError
from engine.judging.row_judge import RowJudge
from engine.plan.nodes import Source
from engine.runtime.engine import Engine, Stage
from engine.runtime.execution import BadRows, KeyTaken, RowScan, Scanned
from engine.runtime.side_advance import SideAdvance
from engine.runtime.side_files import SideFiles
from engine.schema import BIGINT, TEXT, Column, Schema
from engine.state.store.directory import StateDirectory
from engine.supersteps.executor import SuperstepExecutor, SuperstepTask
from engine.supersteps.messages import Message
from engine.supersteps.scan import EXAMPLES
from engine.supersteps.spec import SuperstepLimits
from engine.supersteps.worker import worker_of
from planner import plan_query
from planner.relation import Relation
from tests.engine.supersteps.carrier import Carrier

SCHEMA = Schema((Column("id", BIGINT, False), Column("name", TEXT)))
NAMES = Source("names", SCHEMA)
JUDGE = RowJudge(SCHEMA.columns, (0, 1), corrupt=2)
COUNTS = "SELECT upper(name) AS name, count(*) AS n FROM names GROUP BY upper(name)"
Row = tuple[int, str | None]


def batch(*rows: tuple[int, str | None, str | None]) -> pa.RecordBatch:
    """Rows, each with its text if it is no record."""
    names = ("id", "name", "_error")
    types = (pa.int64(), pa.large_string(), pa.string())
    columns = [pa.array([row[c] for row in rows], types[c]) for c in range(3)]
    return pa.record_batch(columns, names=names)


def good(*rows: Row) -> pa.RecordBatch:
    return batch(*((*row, None) for row in rows))


class Loading:
    """An engine with a table and a view over it, which loads what it is given."""

    def __init__(self, directory: Path, key: tuple[int, ...] | None, carrier: Carrier) -> None:
        state = StateDirectory(directory / "state")
        scratch = directory / "scratch"
        self._executor = SuperstepExecutor(state, scratch, carrier, 3, SuperstepLimits(solo=0))
        self.engine = Engine()
        self.engine.create_source("names", SCHEMA, key)
        relation = Relation("names", SCHEMA, NAMES, key)
        self.engine.create_view("counts", plan_query(COUNTS, {"names": relation}).plan)

    def stage(self, *tasks: list[pa.RecordBatch], skip_bad: bool = False) -> Stage:
        upper = self.engine.snapshot.upper
        return self.engine.stage({}, upper + 1, self._executor, {"names": RowScan(tasks, JUDGE, skip_bad)})

    def load(self, *tasks: list[pa.RecordBatch], skip_bad: bool = False) -> Scanned:
        stage = self.stage(*tasks, skip_bad=skip_bad)
        stage.publish()
        return stage.scanned

    def aside(self, *tasks: list[pa.RecordBatch]) -> SideAdvance:
        """A side advance with what the tasks read."""
        aside = self.engine.begin_aside("names")
        aside.compute_on(self._executor, {}, {"names": RowScan(tasks, JUDGE)})
        return aside

    def join(self, aside: SideAdvance) -> Scanned:
        files = SideFiles(aside, self._executor.directory, 3)
        files.write(self.engine.snapshot.upper)
        stage = self.engine.join(aside, files)
        stage.publish()
        self.engine.discard(aside)
        return stage.scanned

    def insert(self, row: Row) -> None:
        self._change(row, 1)

    def delete(self, row: Row) -> None:
        self._change(row, -1)

    def _change(self, row: Row, diff: int) -> None:
        upper = self.engine.snapshot.upper
        words = [*self._words(row), upper, diff]
        self.engine.stage({"names": np.array([words], np.int64).T}, upper + 1).publish()

    def _words(self, row: Row) -> list[int]:
        return [row[0], int(self.engine.dictionary.intern([row[1]])[0])]

    def check(self, *rows: Row) -> None:
        """AssertionError unless the table holds these rows, and the view follows."""
        assert self._held("names", SCHEMA) == Counter(rows)
        counts = Counter(name and name.upper() for _, name in rows)
        assert self._held("counts", self.engine.snapshot.schema("counts")) == Counter(counts.items())

    def _held(self, name: str, schema: Schema) -> Counter:
        words, counts = self.engine.snapshot.rows(name)
        rows = decode_rows(words, schema, self.engine.dictionary)
        return Counter(dict(zip(map(tuple, rows), counts.tolist(), strict=True)))


@pytest.fixture
def bag(tmp_path: Path) -> Loading:
    return Loading(tmp_path, None, Carrier(0))


@pytest.fixture
def keyed(tmp_path: Path) -> Loading:
    loading = Loading(tmp_path, (0,), Carrier(0))
    loading.load([good((1, "a"), (2, "b"))])
    return loading


ROWS = tuple((number, f"name {number % 7}" if number % 5 else None) for number in range(50))


def test_all_that_tasks_read_is_one_epoch(bag: Loading) -> None:
    scanned = bag.load([good(*ROWS[:20]), good(), good(*ROWS[20:30])], [], [good(*ROWS[30:])])
    assert scanned == Scanned(50)
    bag.check(*ROWS)
    bag.load([good(*ROWS)])
    bag.check(*ROWS, *ROWS)


def test_a_bad_row_fails_the_load(bag: Loading) -> None:
    bag.load([good(*ROWS)])
    with pytest.raises(BadRows, match="no number"):
        bag.load([good((7, "c"))], [batch((8, "d", None), (0, None, "no number"))])
    bag.check(*ROWS)
    bag.load([good((7, "c"))])
    bag.check(*ROWS, (7, "c"))


def test_bad_rows_are_left_out_and_counted(bag: Loading) -> None:
    tasks = [
        [
            batch(
                *(
                    (number, "x", None if number % 2 else f"bad {number}")
                    for number in range(first, first + 30)
                )
            )
        ]
        for first in (0, 30)
    ]
    scanned = bag.load(*tasks, skip_bad=True)
    assert (scanned.rows, scanned.skipped, len(scanned.examples)) == (30, 30, EXAMPLES)
    assert set(scanned.examples) <= {f"not a record: bad {number}" for number in range(60)}
    bag.check(*((number, "x") for number in range(1, 60, 2)))


def test_a_load_of_bad_rows_alone_is_one_of_nothing(bag: Loading) -> None:
    assert bag.load([batch((0, None, "bad"))], skip_bad=True) == Scanned(0, 1, ("not a record: bad",))
    bag.check()


def test_a_key_twice_in_a_load(keyed: Loading) -> None:
    for tasks in ([[good((3, "c"), (3, "c"))]], [[good((3, "c"))], [good((4, "d")), good((3, "e"))]]):
        with pytest.raises(KeyTaken) as taken:
            keyed.load(*tasks)
        assert (taken.value.table, taken.value.key) == ("names", (3,))
        keyed.check((1, "a"), (2, "b"))


@pytest.mark.parametrize("name", ["b", "z"])
def test_a_key_that_the_table_has(keyed: Loading, name: str) -> None:
    with pytest.raises(KeyTaken) as taken:
        keyed.load([good((3, "c"))], [good((2, name))])
    assert taken.value.key == (2,)
    keyed.check((1, "a"), (2, "b"))
    keyed.load([good((3, "c"))])
    keyed.check((1, "a"), (2, "b"), (3, "c"))


def test_a_deleted_key_is_free_again(keyed: Loading) -> None:
    keyed.delete((2, "b"))
    keyed.load([good((2, "z"))])
    keyed.check((1, "a"), (2, "z"))
    with pytest.raises(KeyTaken):
        keyed.load([good((2, "b"))])
    keyed.delete((2, "z"))
    keyed.load([good((2, "b"))])
    keyed.check((1, "a"), (2, "b"))


def test_a_load_can_be_taken_back(keyed: Loading) -> None:
    keyed.stage([good((3, "c"))]).abort()
    keyed.check((1, "a"), (2, "b"))
    keyed.load([good((3, "c"))])
    keyed.check((1, "a"), (2, "b"), (3, "c"))


class Losing(Carrier):
    """Loses a file that a task has written."""

    def run(self, task: SuperstepTask) -> list[Message]:
        reports = super().run(task)
        files = [file for report in reports for _, file in report.about["files"]]
        (worker_of(task.spec).spec.directory / files[-1]["name"]).unlink()
        return reports


def test_a_load_that_cannot_be_taken_in_leaves_nothing(tmp_path: Path) -> None:
    """What has been taken in before the lost file does not come with the next epoch."""
    loading = Loading(tmp_path, None, Losing(0))
    with pytest.raises(StoreError, match="missing"):
        loading.load([good(*ROWS)])
    loading.check()
    loading.engine.stage({}, loading.engine.snapshot.upper + 1).publish()
    loading.check()


def test_a_load_aside(bag: Loading) -> None:
    bag.load([good((1, "a"), (2, "new"))])
    aside = bag.aside([good(*ROWS[:20])], [good(*ROWS[20:])])
    bag.insert((9, "newer"))
    bag.delete((1, "a"))
    assert bag.join(aside) == Scanned(50)
    bag.check(*ROWS, (2, "new"), (9, "newer"))
    bag.delete(ROWS[1])
    bag.check(ROWS[0], *ROWS[2:], (2, "new"), (9, "newer"))


def test_keys_aside(keyed: Loading) -> None:
    with pytest.raises(KeyTaken):
        keyed.aside([good((2, "c"))])
    aside = keyed.aside([good((3, "c"), (4, "d"))])
    keyed.insert((5, "e"))
    keyed.delete((1, "a"))
    aside.catch_up(keyed.engine.snapshot)
    keyed.insert((4, "f"))
    with pytest.raises(KeyTaken) as caught:
        keyed.join(aside)
    assert caught.value.key == (4,)
    keyed.check((2, "b"), (5, "e"), (4, "f"))


def test_a_key_that_came_and_went(keyed: Loading) -> None:
    aside = keyed.aside([good((3, "c"))])
    keyed.insert((3, "d"))
    keyed.delete((3, "d"))
    keyed.join(aside)
    keyed.check((1, "a"), (2, "b"), (3, "c"))
