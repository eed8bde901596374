"""Files of the state directory: what is written is read, and damage is named."""

from __future__ import annotations

import struct
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from engine.errors import StoreError
from engine.kernels.layers import COLUMNS, SPREAD
from engine.kernels.lookup import find_ranges
from engine.kernels.merge import merge
from engine.kernels.narrow.narrow_rows import NarrowRows
from engine.state.layer import NARROW, Layer
from engine.state.narrow_writer import NarrowWriter
from engine.state.store.batch_files import SMALL
from engine.state.store.directory import StateDirectory
from engine.state.store.files import BatchFile

LARGE = SMALL
"""Rows of three words that no small file holds."""


@pytest.fixture
def directory(tmp_path: Path) -> StateDirectory:
    return StateDirectory(tmp_path / "state")


def batch(rows: int, words: int = 1) -> np.ndarray:
    """Sorted rows with the words (3 i, i, i, ...) at epoch 1."""
    counter = np.arange(rows)
    return np.stack([3 * counter, *[counter] * (words - 1), np.ones(rows, int), -counter], axis=1)


def table_of(*layers) -> np.ndarray:
    table = np.zeros((len(layers), COLUMNS), np.int64)
    for line, layer in enumerate(layers):
        layer.register(table, line, 1)
    return table


def flip(path: Path, at: int) -> None:
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)


def test_a_narrow_batch_with_room_for_other_words_is_written_as_it_is_read(
    directory: StateDirectory,
) -> None:
    """A merge fixes its format before it knows the diffs; a file's reader has the format from their ends."""
    rows = batch(NARROW, words=2)
    wider = np.concatenate((rows, rows))
    wider[0, -1] = -(2**20)
    writer = NarrowWriter(len(rows), (NarrowRows.of(wider), NarrowRows.of(rows)), 1, 0)
    writer.write(rows)
    assert len(writer.rows.data) > len(NarrowRows.of(rows).data)
    file = directory.write(writer.rows, 1)
    assert (directory.open(file).matrix == rows).all()


@pytest.mark.parametrize("rows", [0, 1, 200, LARGE])
@pytest.mark.parametrize("key", [0, 1, 2, SPREAD])
def test_what_is_written_is_read(directory: StateDirectory, rows: int, key: int) -> None:
    written = batch(rows, words=2)
    file = directory.write(written, key, shard=2, shards=3)
    layer = directory.open(file)
    assert (layer.matrix == written).all()
    assert layer.rows.shape == written.shape == (file.rows, file.columns)
    kept = layer.rows if rows < NARROW else layer.rows.data
    assert kept.flags.c_contiguous and kept.flags.writeable and kept.flags.aligned
    assert layer.file == file
    assert (file.key, file.shard, file.shards) == (key, 2, 3)
    assert (layer.index is not None) == (rows >= 64 and key > 0)
    directory.verify(file)


@pytest.mark.parametrize("rows", [200, LARGE])
def test_kernels_take_a_mapped_batch_and_find_by_its_index(directory: StateDirectory, rows: int) -> None:
    layer = directory.open(directory.write(batch(rows), 1))
    keys = np.array([[3], [4], [3 * (rows - 1)]], np.int64)
    lows, highs = find_ranges(table_of(layer), keys)
    assert (highs - lows).tolist() == [[1, 0, 1]]
    assert lows[0, 0] == 1 and lows[0, 2] == rows - 1
    assert (merge(layer.matrix, layer.matrix, 1, 0)[:, -1] == 2 * layer.rows[1:, -1]).all()


def test_a_mapped_batch_is_not_written_back(directory: StateDirectory) -> None:
    file = directory.write(batch(LARGE))
    directory.open(file).rows.data[0] = 7
    assert directory.open(file).rows.data[0] == 0
    directory.verify(file)


@pytest.mark.parametrize("rows", [3, LARGE])
def test_a_file_of_version_1_is_read(directory: StateDirectory, rows: int) -> None:
    """Earlier releases wrote matrices, large ones too."""
    written = batch(rows, words=2)
    layer = Layer(written).indexed(1)
    slots, keys, bits = np.empty(0, np.uint32), 0, 0
    if layer.index is not None:
        slots, keys, bits = layer.index.slots, layer.index.keys, layer.index.place_bits
    body = struct.pack("<6q", *written.shape, 1, keys, len(slots), bits) + written.tobytes() + slots.tobytes()
    content = struct.pack("<8sII", b"freshetB", 1, zlib.crc32(body)) + body
    (directory.path / "old.batch").write_bytes(content)
    file = BatchFile("old.batch", *written.shape, 1, len(content), zlib.crc32(body))
    opened = directory.open(file)
    assert np.array_equal(opened.rows, written)
    keys_sought = np.array([[3], [4], [3 * (rows - 1)]], np.int64)
    lows, highs = find_ranges(table_of(opened), np.unique(keys_sought, axis=0))
    assert (highs - lows).sum() == 2
    directory.verify(file)


@pytest.mark.parametrize(("rows", "version"), [(100, 3), (LARGE, 4)])
def test_a_radix_index_is_told_by_the_version(directory: StateDirectory, rows: int, version: int) -> None:
    """Earlier releases, which know no such index, refuse its files."""
    file = directory.write(batch(rows), 1)
    content = (directory.path / file.name).read_bytes()
    assert struct.unpack_from("<8sI", content)[1] == version
    opened = directory.open(file)
    assert opened.index is not None and opened.index.is_even
    lows, highs = find_ranges(table_of(opened), np.array([[3], [4]], np.int64))
    assert (highs - lows).tolist() == [[1, 0]]


def test_an_index_of_hashes_is_read_as_before(directory: StateDirectory) -> None:
    written = batch(LARGE)
    written[-1, 0] = 1 << 60
    file = directory.write(written, 1)
    assert struct.unpack_from("<8sI", (directory.path / file.name).read_bytes())[1] == 2
    index = directory.open(file).index
    assert index is not None and index.place_bits > 0


def test_an_open_batch_outlives_its_file(directory: StateDirectory) -> None:
    layer = directory.open(directory.write(batch(LARGE)))
    assert directory.sweep(()) == 1
    assert (layer.matrix == batch(LARGE)).all()


def test_names_are_never_used_twice(directory: StateDirectory) -> None:
    files = {directory.write(batch(1)).name for _ in range(10)}
    assert len(files) == 10


@pytest.mark.parametrize("rows", [3, LARGE])
def test_damage_is_named(directory: StateDirectory, rows: int) -> None:
    file = directory.write(batch(rows), 1)
    path = directory.path / file.name
    flip(path, file.size // 2)
    with pytest.raises(StoreError, match=f"{file.name} is damaged"):
        directory.verify(file)
    if rows == 3:
        with pytest.raises(StoreError, match=f"{file.name} is damaged"):
            directory.open(file)
    flip(path, file.size // 2)
    directory.verify(file)


@pytest.mark.parametrize("at", [0, 12, 16, 24, 32])
def test_a_header_that_is_not_the_one_written_is_seen_on_opening(directory: StateDirectory, at: int) -> None:
    file = directory.write(batch(LARGE), 1)
    flip(directory.path / file.name, at)
    with pytest.raises(StoreError, match=f"{file.name} is not the one that was written"):
        directory.open(file)


def test_another_version_is_refused_by_its_number(directory: StateDirectory) -> None:
    file = directory.write(batch(2))
    flip(directory.path / file.name, 9)
    with pytest.raises(StoreError, match="has version 257; this release reads up to 4"):
        directory.open(file)


def test_a_cut_file_and_a_missing_one(directory: StateDirectory) -> None:
    file = directory.write(batch(LARGE))
    path = directory.path / file.name
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(StoreError, match=f"has {file.size - 8} bytes instead of {file.size}"):
        directory.open(file)
    path.unlink()
    with pytest.raises(StoreError, match=f"{file.name} is missing"):
        directory.open(file)
    with pytest.raises(StoreError, match="not the one that was written"):
        directory.open(replace(directory.write(batch(5)), rows=4))


def test_texts(directory: StateDirectory) -> None:
    words = np.array([3, -1, 2**62], np.int64)
    texts = pa.array(["", "naïve", "x" * 1000], pa.large_string())
    file = directory.write_texts(words, texts)
    assert file.entries == 3
    read, values = directory.read_texts(file)
    assert (read == words).all()
    assert values == texts
    flip(directory.path / file.name, 70)
    with pytest.raises(StoreError, match="checksum"):
        directory.read_texts(file)
    (directory.path / file.name).unlink()
    with pytest.raises(StoreError, match="is missing"):
        directory.read_texts(file)


def test_a_sweep_leaves_what_is_named_and_what_is_not_ours(directory: StateDirectory) -> None:
    kept = directory.write(batch(1))
    directory.write(batch(2))
    directory.write_texts(np.empty(0, np.int64), pa.array([], pa.large_string()))
    (directory.path / "README").write_text("not a state's file")
    assert directory.sweep({kept.name}) == 2
    assert {path.name for path in directory.path.iterdir()} == {kept.name, "README"}


def test_nothing_is_swept_while_somebody_looks_at_what_there_is(directory: StateDirectory) -> None:
    first, second = directory.write(batch(1)), directory.write(batch(2))
    with directory.unswept(), directory.unswept():
        assert directory.sweep(()) == 0
    with directory.unswept():
        reserving = directory.reserving({first.name})
        reserving.__enter__()
        assert directory.sweep(()) == 0
    assert directory.sweep(()) == 1
    reserving.__exit__(None, None, None)
    assert [path.name for path in directory.path.iterdir()] == [first.name] != [second.name]
    assert directory.sweep(()) == 1


def test_a_write_that_fails_leaves_no_file(
    directory: StateDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(descriptor: int) -> None:
        raise OSError("the disk is full")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match="full"):
        directory.write(batch(1))
    assert list(directory.path.iterdir()) == []


def test_nobody_removes_the_files_of_a_later_leader(directory: StateDirectory) -> None:
    """Whoever led before may sleep between its decision what is garbage and the removal."""
    later = StateDirectory(directory.path)
    alone = directory.write(batch(3))
    directory.lead(9)
    later.lead(10)
    early, late = directory.write(batch(3)), later.write(batch(3))
    with later.reserving() as prefix, later.scratch() as scratch:
        reserved = later.prefixed(prefix).write(batch(3))
        passing = scratch.write(batch(3))
        assert directory.sweep([]) == 2
        there = {path.name for path in directory.path.iterdir()}
        assert there == {late.name, reserved.name, passing.name}
        assert not there & {alone.name, early.name}
    earlier = directory.write(batch(3))
    assert later.sweep([late.name]) == 2
    assert [path.name for path in directory.path.iterdir()] == [late.name]
    assert earlier.name != late.name
