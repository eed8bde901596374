"""Random dataflows with nested loops against the definition, at every epoch, however history is chopped.

The oracle evaluates a plan from scratch at each epoch. FRESHET_DATAFLOWS sets the number of cases, 100
unless it is set.
"""

from __future__ import annotations

import os
import random

import pytest

from tests.engine.histories import check
from tests.engine.plans import SOURCES, PlanMaker
from tests.seeds import seeds

CASES = int(os.environ.get("FRESHET_DATAFLOWS", "100"))
GROUP = 100


@pytest.mark.parametrize("first", range(0, CASES, GROUP))
def test_random_dataflows(first: int) -> None:
    compared = 0
    for seed in seeds(GROUP, first):
        rng = random.Random(seed)
        compared += check(PlanMaker(rng).plan(rng.choice((1, 2)), 5), SOURCES, rng, seed)
    assert compared > 0.8 * GROUP
