"""Segments: which epochs the next one covers, and what a directory may hold."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from engine.codec import encode_rows
from engine.dictionary import Dictionary
from engine.schema import BIGINT, TEXT, Column, Schema
from service import segments
from service.catalog import Segment
from service.metrics import Metrics
from service.segments import SegmentFiles, first_to_write, history
from service.settings import Settings
from service.state import State, recover

SCHEMA = Schema((Column("id", BIGINT), Column("name", TEXT)))


@pytest.fixture
def state(tmp_path: Path) -> Iterator[State]:
    state = recover(Settings(data=tmp_path / "data"), Metrics())
    state.definitions.create_table("t", SCHEMA, None)
    yield state
    state.close()


def advance(state: State, *rows: tuple[int, str]) -> None:
    words = encode_rows(rows, SCHEMA, state.engine.dictionary)
    epoch = state.engine.snapshot.upper
    tail = np.array([[epoch] * len(rows), [1] * len(rows)], np.int64)
    state.engine.stage({"t": np.concatenate((words, tail))}, epoch + 1).publish()


@pytest.mark.parametrize(
    ("sizes", "log_bytes", "expected"),
    [
        ([], 10, 1),
        ([100], 10, 2),
        ([100], 50, 2),
        ([100], 51, 1),
        ([100, 40, 10], 6, 3),
        ([100, 30, 10], 6, 2),
        ([100, 30, 10], 5, 4),
        ([100, 30, 10], 1000, 1),
    ],
)
def test_smaller_segments_are_taken_in(sizes: list[int], log_bytes: int, expected: int) -> None:
    """Segments of an epoch each; one is taken in if it is less than twice what follows."""
    found = [Segment(epoch, epoch, "", size) for epoch, size in enumerate(sizes, 1)]
    assert first_to_write(found, log_bytes) == expected


def test_every_difference_is_written_few_times() -> None:
    """With checkpoints of equal size, what is written grows as n log n."""
    found: list[Segment] = []
    written = 0
    for epoch in range(1, 1025):
        first = first_to_write(found, 1)
        size = 1 + sum(s.size for s in found if s.first >= first)
        found = [s for s in found if s.first < first] + [Segment(first, epoch, "", size)]
        written += size
    assert len(found) <= 11
    assert written <= 1024 * 11


def test_write_and_read(state: State, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segments, "FRAME_ROWS", 2)
    advance(state, (1, "a"), (2, "b"), (3, "c"))
    advance(state, (1, "a"), (4, "ü"))
    files = SegmentFiles(tmp_path / "files")
    tables = [state.definitions.get("t")]
    snapshot, dictionary = state.engine.snapshot, state.engine.dictionary
    whole = files.write(snapshot, tables, dictionary, 1)
    last = files.write(snapshot, tables, dictionary, 2)
    for segment, expected in ((whole, history(snapshot, "t", 1)), (last, history(snapshot, "t", 2))):
        other = Dictionary()
        parts = list(files.read(segment, other))
        assert {id for id, _ in parts} == {tables[0].id}
        found = np.concatenate([delta for _, delta in parts], axis=1)
        np.testing.assert_array_equal(found, expected)
        assert set(other.texts(found[1])) <= {"a", "b", "c", "ü"}
    assert (last.first, last.last, history(snapshot, "t", 2).shape) == (2, 2, (4, 2))


def test_sweep(tmp_path: Path) -> None:
    files = SegmentFiles(tmp_path / "files")
    for name in ("kept", "unknown", "half.writing"):
        (tmp_path / "files" / name).write_text("x")
    files.sweep([Segment(1, 1, "kept", 1)])
    assert [path.name for path in (tmp_path / "files").iterdir()] == ["kept"]
