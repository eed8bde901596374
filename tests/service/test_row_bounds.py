"""The most rows of files: never fewer than a reader finds, and unknown where that cannot be told."""

from __future__ import annotations

import gzip
from math import inf
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from service.pipeline.locations import Location
from service.pipeline.row_bounds import most_rows


def at(*paths: Path) -> Location:
    return Location(tuple(f"file://{path}" for path in paths), f"file://{paths[0].parent}")


@pytest.mark.parametrize("format", ["csv", "json", "text"])
@pytest.mark.parametrize(
    ("content", "most"),
    [(b"", 0), (b"a", 1), (b"a\nb\n", 3), (b"a\rb\r\nc", 4), (b"\n" * 9_000_000, 9_000_001)],
)
def test_lines(tmp_path: Path, format: str, content: bytes, most: int) -> None:
    (tmp_path / "f").write_bytes(content)
    assert most_rows(format, at(tmp_path / "f"), {}) == most
    assert most_rows(format, at(tmp_path / "f", tmp_path / "f"), {}) == 2 * most


def test_lists_of_objects_on_a_line(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b'[{"a": 1}, {"a": {}}, {}]')
    assert most_rows("json", at(tmp_path / "f"), {"multiLine": "true"}) == 5


def test_footers(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": list(range(70))}), tmp_path / "f", row_group_size=30)
    assert most_rows("parquet", at(tmp_path / "f", tmp_path / "f"), {}) == 140


def test_what_cannot_be_told(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"a\nb\n")
    packed = tmp_path / "f.gz"
    packed.write_bytes(gzip.compress(b"a\nb\n"))
    unread = tmp_path / "f.zst"
    unread.write_bytes(b"a\nb\n")
    assert most_rows("csv", at(packed), {}) == inf
    assert most_rows("csv", at(unread), {}) == inf
    assert most_rows("csv", at(tmp_path / "f"), {"lineSep": "a"}) == inf
    assert most_rows("parquet", at(tmp_path / "f"), {}) == inf
    assert most_rows("orc", at(tmp_path / "f"), {}) == inf
    assert most_rows("jdbc", Location(), {}) == inf
    assert most_rows("csv", Location(("s3a://bucket/f",), "s3a://bucket"), {}) == inf
    assert most_rows("csv", at(tmp_path / "gone"), {}) == inf
