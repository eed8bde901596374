"""WITH MUTUALLY RECURSIVE against its definition: bindings in sequence, nested, correlated, with limits.

FRESHET_SEQUENCES is the number of (view, history) pairs, FRESHET_SEED the first seed.
"""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from tests.property.algebra import Diverges, Recursion
from tests.property.check import check
from tests.property.duck import Answer
from tests.property.histories import History
from tests.property.report import described
from tests.property.sequence_cases import VIEWS, answer, contents, random_case, random_recursions

CASES = int(os.environ.get("FRESHET_SEQUENCES", "72"))
FIRST_SEED = int(os.environ.get("FRESHET_SEED", "0"))
BLOCKS = 4


@pytest.mark.parametrize("block", range(BLOCKS))
def test_views_equal_the_definition(block: int) -> None:
    for seed in range(FIRST_SEED + block, FIRST_SEED + -(-CASES // VIEWS), BLOCKS):
        case, answers = random_case(seed)
        mismatch = check(case, answers)
        if mismatch is not None:
            shown = replace(case, views=tuple(v for v in case.views if v.name == mismatch.view))
            pytest.fail(described(shown, mismatch), pytrace=False)


def test_the_cases_tell_a_sequence_from_updates_together() -> None:
    """A good part of the recursions would hold other rows if their bindings were updated together."""
    told = 0
    for seed in range(5):
        recursions, history = random_recursions(seed)
        told += sum(_differs(query, answers, history) for query, answers in recursions)
    assert told >= 5


def _differs(query: Recursion, answers: tuple[Answer, ...], history: History) -> bool:
    try:
        return answers != tuple(answer(query, epoch, together=True) for epoch in contents(history))
    except Diverges:
        return True
