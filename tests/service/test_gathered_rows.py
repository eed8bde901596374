"""The rows of a load in one matrix: however many were expected, and wherever bad ones lie between them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from engine.judging.row_judge import RowJudge
from engine.runtime.execution import Scanned
from engine.schema import Column, Kind, Schema, Type
from engine.state.dictionary import Dictionary
from service.changes.table_changes import ROOM, ChangeOp, TableChanges, differences
from service.errors import Invalid
from service.pipeline.gathered_rows import GatheredRows
from service.pipeline.local_files import LocalFile, about_as_many

COLUMNS = (Column("a", Type(Kind.INTEGER), False), Column("b", Type(Kind.TEXT), True))
BATCHES = (["1", "2", "x"], [], ["3"], ["y", "4", "5", "6"], ["z"])


def gathered(expected: int, batches: tuple[list[str], ...]) -> GatheredRows:
    rows = GatheredRows(RowJudge(COLUMNS, (0, None)), Dictionary(), expected)
    for batch in batches:
        rows.add(pa.record_batch([pa.array(batch, pa.string())], ["a"]))
    return rows


@pytest.mark.parametrize("expected", [0, 1, 3, 5, 6, 9, 1000, 1 << 60])
def test_any_expectation_gives_the_same_rows(expected: int) -> None:
    rows, scanned = gathered(expected, BATCHES).taken(True)
    assert rows.shape == (2 + ROOM, 6) and rows.flags.c_contiguous
    assert rows[0].tolist() == [1, 2, 3, 4, 5, 6]
    assert (scanned.rows, scanned.skipped, len(scanned.examples)) == (6, 3, 3)


@pytest.mark.parametrize("expected", [0, 9])
def test_bad_rows_fail_the_load_unless_they_are_skipped(expected: int) -> None:
    with pytest.raises(Invalid, match=r"3 bad rows: .*x.*y.*z"):
        gathered(expected, BATCHES).taken(False)


def test_rows_that_were_expected_are_not_copied() -> None:
    rows = gathered(4, (["1", "2"], ["3", "4"]))
    first = rows.taken(False)[0]
    assert first[0].tolist() == [1, 2, 3, 4] and first is rows.taken(False)[0]


def test_no_rows_at_all() -> None:
    rows, scanned = gathered(0, ()).taken(False)
    assert rows.shape == (2 + ROOM, 0) and scanned == Scanned()


def test_differences_are_made_in_their_room_and_are_those_of_a_copy() -> None:
    schema = Schema(COLUMNS)
    words, _ = gathered(3, (["1", "2", "3"],)).taken(False)
    changes = TableChanges.within(ChangeOp.INSERT, schema, words)
    ones = np.ones(3, np.int64)
    copied = differences(changes.words, 7, ones)
    within = differences(changes.words, 7, ones, changes.room)
    assert within is words and (within == copied).all()
    assert within[-2:].tolist() == [[7, 7, 7], [1, 1, 1]]
    again = differences(changes.words, 8, ones, changes.room)
    assert again[-2].tolist() == [8, 8, 8] and changes.words[0].tolist() == [1, 2, 3]


def test_no_memory_is_added_for_fewer_rows_than_were_expected() -> None:
    rows = gathered(1000, BATCHES)
    room = rows._room
    taken = rows.taken(True)[0]
    assert np.shares_memory(room, taken) and taken[0].tolist() == [1, 2, 3, 4, 5, 6]


def test_how_many_rows_a_text_has_is_told_from_its_beginning(tmp_path: Path) -> None:
    files = []
    for name, content in (("a", b"1\n" * 3_000_000), ("b", b""), ("c", b"one line")):
        (tmp_path / name).write_bytes(content)
        files.append(LocalFile(tmp_path / name, {}, len(content)))
    assert 3_000_000 < about_as_many(files) < 3_500_000
    packed = LocalFile(tmp_path / "a.gz", {}, 10)
    assert about_as_many(files[1:]) == about_as_many([*files, packed]) == 0
