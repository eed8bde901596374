"""The property that matters more than the rest: every view equals the referee's answer at every epoch.

FRESHET_CASES is the number of (view, history) pairs, 1,000 unless set; FRESHET_SEED is the first seed, so
that a failure can be run again alone. `python -m tests.property` is the long hunt.
"""

from __future__ import annotations

import os

import pytest

from tests.property.cases import random_case
from tests.property.check import check
from tests.property.report import report
from tests.property.shrink import shrink
from tests.property.tally import Tally

CASES = int(os.environ.get("FRESHET_CASES", "1000"))
FIRST_SEED = int(os.environ.get("FRESHET_SEED", "0"))
BLOCKS = 20


@pytest.mark.parametrize("block", range(BLOCKS))
def test_views_equal_the_referee(block: int, tally: Tally) -> None:
    """Each block takes every BLOCKS-th seed until its share of the pairs is checked."""
    left = -(-CASES // BLOCKS)
    seed = FIRST_SEED + block
    while left > 0:
        case, answers = random_case(seed)
        tally.add(case)
        mismatch = check(case, answers)
        if mismatch is not None:
            pytest.fail(report(case, mismatch, *shrink(case, mismatch, check)), pytrace=False)
        left -= len(case.views)
        seed += BLOCKS
