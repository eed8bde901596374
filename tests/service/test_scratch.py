"""A start removes the files that a killed service's epoch on Spark has left behind."""

from __future__ import annotations

from pathlib import Path

from service.metrics import Metrics
from service.running.state import recover
from service.settings.settings import Settings


def test_a_start_removes_scratch(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path)
    left = settings.scratch / "an-epoch"
    left.mkdir(parents=True)
    (left / "rows").write_bytes(b"12345678")
    recover(settings, Metrics()).close()
    assert not settings.scratch.exists()
