"""Window functions against DuckDB, with orders that leave nothing to chance."""

from __future__ import annotations

import pytest

from tests.property.cases import answers
from tests.property.check import check
from tests.property.windows import windows_case


@pytest.mark.parametrize("seed", range(100))
def test_random_windows(seed: int) -> None:
    case = windows_case(seed)
    expected = answers(case)
    assert expected.keys() == {view.name for view in case.views}, "DuckDB takes every view"
    mismatch = check(case, expected)
    assert mismatch is None, mismatch
