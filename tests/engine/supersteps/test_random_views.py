"""Epochs in supersteps and epochs in the process, mixed by chance, give the referee's answers.

FRESHET_SUPERSTEPS is the number of (views, history) cases, each of which has some twenty views.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.supersteps import keeping
from tests.engine.supersteps.mixed import Here, Mixed, executor_for
from tests.property.cases import random_case
from tests.property.check import check
from tests.property.report import report

CASES = int(os.environ.get("FRESHET_SUPERSTEPS", "4"))
FIRST_SEED = int(os.environ.get("FRESHET_SEED", "0"))


@pytest.mark.parametrize("seed", range(FIRST_SEED, FIRST_SEED + CASES))
def test_views_equal_the_referee(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case, answers = random_case(seed)
    executor, rng = executor_for(seed, tmp_path, Here(seed))
    monkeypatch.setattr(keeping, "INLINE", rng.choice((0, 100, keeping.INLINE)))
    mismatch = check(case, answers, lambda: Mixed(executor, rng, 0.7))
    if mismatch is not None:
        pytest.fail(report(case, mismatch, case, mismatch), pytrace=False)
    assert executor.done
