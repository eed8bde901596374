"""Random queries in the words of every proven dialect mean what the canonical ones mean, at every epoch.

FRESHET_FOREIGN is the number of queries a dialect, 6 unless set. The queries are the same in every run.
"""

from __future__ import annotations

import os
from itertools import count

import pytest

from planner.dialects.standing import PROVEN, standings
from tests.dialects.random_queries import Outcome, ask
from tests.dialects.spellings import KNOWN

WANTED = int(os.environ.get("FRESHET_FOREIGN", "6"))
DIALECTS = [name for name, known in standings().items() if known.standing == PROVEN and name in KNOWN]


@pytest.fixture(scope="module")
def outcome() -> Outcome:
    """What came of as many cases as give every dialect its number of queries, or a fault."""
    outcome = Outcome()
    for seed in count():
        left = [dialect for dialect in DIALECTS if outcome.right[dialect] < WANTED]
        if not left:
            return outcome
        ask(seed, left, outcome)
    raise AssertionError("there are no more cases")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_queries_mean_what_the_canonical_ones_mean(outcome: Outcome, dialect: str) -> None:
    faults = [str(fault) for fault in outcome.faults if fault.dialect == dialect]
    assert not faults, "\n".join([f"{len(faults)} of {outcome.right[dialect] + len(faults)}", *faults])
    assert outcome.right[dialect] >= WANTED
