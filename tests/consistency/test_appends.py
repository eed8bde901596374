"""What clients of a running service see is strictly serialisable. FRESHET_APPENDS is how much they do."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator

import pytest

from tests.consistency.appends import Recorder
from tests.consistency.faults import FAULTS
from tests.consistency.history import History
from tests.consistency.serialisability import anomaly
from tests.seeds import SEED
from tests.service.client import Process

TRANSACTIONS = int(os.environ.get("FRESHET_APPENDS", "200"))
SETTINGS = {"FRESHET_CHECKPOINT_BYTES": "50000", "FRESHET_LOG_LEVEL": "warning"}


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Iterator[History]:
    process = Process(tmp_path_factory.mktemp("appends") / "data", SETTINGS)
    try:
        process.wait_ready()
        yield Recorder(process.port, SEED).record(TRANSACTIONS)
    finally:
        process.kill()


def test_a_history_is_strictly_serialisable(history: History) -> None:
    assert len(history) >= TRANSACTIONS
    assert anomaly(history) == ""


@pytest.mark.parametrize("plant", FAULTS, ids=lambda plant: plant.__name__)
def test_a_fault_in_it_would_be_found(
    history: History, plant: Callable[[History, random.Random], History]
) -> None:
    planted = plant(history, random.Random(SEED))
    assert planted != history
    assert anomaly(planted)
