"""Window functions against DuckDB, with orders that leave nothing to chance.

FRESHET_WINDOWS is the number of cases, each of four views.
"""

from __future__ import annotations

import os
from pathlib import Path

from engine.runtime.engine import Engine
from tests.engine.supersteps.mixed import Here, Mixed, executor_for
from tests.property.cases import answers
from tests.property.check import Make, check
from tests.property.windows import windows_case
from tests.seeds import each_seed

CASES = int(os.environ.get("FRESHET_WINDOWS", "30"))


@each_seed(CASES)
def test_random_windows(seed: int) -> None:
    _equal(seed, Engine)


@each_seed(3)
def test_in_supersteps(seed: int, tmp_path: Path) -> None:
    executor, rng = executor_for(seed, tmp_path, Here(seed))
    _equal(seed, lambda: Mixed(executor, rng, 0.7))
    assert executor.done


def _equal(seed: int, make: Make) -> None:
    case = windows_case(seed)
    expected = answers(case)
    assert expected.keys() == {view.name for view in case.views}, "DuckDB takes every view"
    mismatch = check(case, expected, make)
    assert mismatch is None, mismatch
