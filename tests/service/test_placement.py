"""Spark computes what the memory has no room for, or as many rows as the setting says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.spark.sessions import Sessions
from engine.state.store.directory import StateDirectory
from service.placement import Placement
from service.settings.settings import WORD_MEMORY, Settings

MEMORY = 1000 * WORD_MEMORY


@pytest.fixture
def placement(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Placement:
    monkeypatch.setattr("service.settings.settings.allowed_bytes", lambda: MEMORY)
    settings = Settings(data=tmp_path, build_memory=MEMORY // 2)
    return Placement(settings, Sessions(settings.spark_options), StateDirectory(tmp_path))


def deltas(*rows: int) -> dict[str, np.ndarray]:
    return {f"t{place}": np.zeros((5, count), np.int64) for place, count in enumerate(rows)}


def test_what_fits_into_memory_stays_here(placement: Placement) -> None:
    assert placement.for_deltas(deltas(100, 100)) is None
    assert placement.for_deltas(deltas(100, 101)) is not None
    assert (placement.tally.process, placement.tally.spark) == (1, 1)


def test_a_build_has_a_memory_of_its_own(placement: Placement) -> None:
    assert placement.executor(100, 501) is None
    assert placement.executor(100, 501, MEMORY // 2) is not None
    assert placement.executor(100, 501, MEMORY * 9) is None
    assert placement.executor(100, 1001, MEMORY * 9) is not None


def test_a_number_of_rows_counts_alone(placement: Placement) -> None:
    placement.settings = replace(placement.settings, spark_rows=150)
    assert placement.for_deltas(deltas(149)) is None
    assert placement.for_deltas(deltas(100, 50)) is not None
    assert placement.executor(149, 10**9, 1) is None


@pytest.mark.parametrize(("where", "here"), [("always", False), ("never", True)])
def test_spark_has_all_or_nothing(placement: Placement, where: str, here: bool) -> None:
    placement.settings = replace(placement.settings, spark=where)
    assert (placement.executor(1, 1) is None) is here
    assert (placement.executor(10**9, 10**10) is None) is here
