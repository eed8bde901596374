"""WITH MUTUALLY RECURSIVE against its definition: bindings in sequence, nested, correlated, with limits.

FRESHET_SEQUENCES is the number of (view, history) pairs, 12 unless set.
"""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from tests.property.check import check
from tests.property.report import described
from tests.property.sequence_cases import TELLING, VIEWS, contents, random_case, random_recursions, tells
from tests.seeds import SEED, seeds

CASES = int(os.environ.get("FRESHET_SEQUENCES", "12"))
BLOCKS = 4


@pytest.mark.parametrize("block", range(BLOCKS))
def test_views_equal_the_definition(block: int) -> None:
    for seed in seeds(-(-CASES // VIEWS))[block::BLOCKS]:
        case, answers = random_case(seed)
        mismatch = check(case, answers)
        if mismatch is not None:
            shown = replace(case, views=tuple(v for v in case.views if v.name == mismatch.view))
            pytest.fail(described(shown, mismatch), pytrace=False)


def test_the_cases_tell_a_sequence_from_updates_together() -> None:
    recursions, history = random_recursions(SEED)
    assert sum(tells(query, answers, contents(history)) for query, answers in recursions) >= TELLING
