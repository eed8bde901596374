"""A sink's file is durable before it can be seen, and its name is when the call returns."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from engine.schema import BIGINT, Column, Schema
from engine.state.dictionary import Dictionary
from service.pipeline.changelog import file_name, file_row_count, write_file


def test_a_file_is_on_disk_before_it_can_be_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "out" / file_name("s", None, 3)
    synced: list[tuple[str, bool]] = []
    fsync = os.fsync

    def noted(descriptor: int) -> None:
        kind = "directory" if os.path.isdir(f"/proc/self/fd/{descriptor}") else "file"
        synced.append((kind, path.exists()))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    delta = np.array([[7, 8], [3, 3], [1, -1]], np.int64)
    write_file(path, delta, Schema((Column("x", BIGINT),)), Dictionary())
    assert file_row_count(path) == 2
    assert ("file", False) in synced
    assert synced[-1] == ("directory", True)
