"""Bulk in miniature, read and computed in the process: every answer is checked by the benchmark itself."""

from __future__ import annotations

import pytest

from bench import bulk, bulk_files, bulk_ways

pytestmark = pytest.mark.usefixtures("forked")


def test_loads_under_views() -> None:
    (row,) = bulk.run(bulk.QUICK, (bulk.HERE,))
    assert row.lines > 0.9 * bulk.QUICK[0]
    assert f"| {row.lines:,} | process |" in bulk.page("the facts", [row])


def test_one_file_by_format() -> None:
    loads = bulk_files.run(1_000, ("process",))
    assert [load.format for load in loads] == ["parquet", "csv", "json"]
    assert bulk_files.text(loads).count("| process |") == 3


def test_columns_in_and_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk_ways, "A_POST", 2_000)
    monkeypatch.setattr(bulk_ways, "TAKES", 2)
    ways = bulk_ways.run(2_000)
    assert [way.what for way in ways] == [
        *("Arrow posted", "Arrow posted", "NDJSON posted", "exported as Parquet"),
        *("read as Arrow", "read as NDJSON", "read as CSV"),
    ]
    assert bulk_ways.text(ways).count("\n") == 6
