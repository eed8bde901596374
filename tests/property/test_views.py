"""The property that matters more than the rest: every view equals the referee's answer at every epoch.

FRESHET_CASES is the number of (view, history) pairs, 60 unless set. `python -m tests.property` is the
long hunt.
"""

from __future__ import annotations

import os

import pytest

from tests.property.cases import random_case
from tests.property.check import check
from tests.property.histories import is_valid as is_valid_history
from tests.property.report import report
from tests.property.shrink import shrink
from tests.property.tally import Tally
from tests.seeds import SEED, few

CASES = int(os.environ.get("FRESHET_CASES", "60"))
BLOCKS = few(40)


@pytest.mark.parametrize("block", range(BLOCKS))
def test_views_equal_the_referee(block: int, tally: Tally) -> None:
    """Each block takes every BLOCKS-th seed until its share of the pairs is checked."""
    until, seed = tally.pairs + CASES / BLOCKS, SEED + block
    while tally.pairs < until:
        case, answers = random_case(seed)
        assert is_valid_history(case.tables, case.history)
        tally.add(case, answers)
        mismatch = check(case, answers, counted=tally.compared)
        if mismatch is not None:
            pytest.fail(report(case, mismatch, *shrink(case, mismatch, check)), pytrace=False)
        seed += BLOCKS
