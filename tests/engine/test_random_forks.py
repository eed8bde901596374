"""Random views and histories on forks: the engine has the referee's answers, and its forks have the same.

FRESHET_FORKS is the number of (views, history) cases, each of a few views.
"""

from __future__ import annotations

import os
import random

import pytest

from tests.engine.forking_engine import Forking
from tests.property import sequence_cases
from tests.property.cases import Answers, Case, random_case
from tests.property.check import check
from tests.property.report import report
from tests.seeds import each_seed, few

CASES = int(os.environ.get("FRESHET_FORKS", few(4)))
CANDIDATES = 8
"""For the views of a case."""


@each_seed(CASES)
def test_views_equal_the_referee(seed: int) -> None:
    _check(seed, *random_case(seed, CANDIDATES))


@each_seed(max(1, CASES // 4))
def test_recursions_equal_their_definition(seed: int) -> None:
    _check(seed, *sequence_cases.random_case(seed))


def _check(seed: int, case: Case, answers: Answers) -> None:
    rng = random.Random(seed)
    engines: list[Forking] = []

    def made() -> Forking:
        engines.append(Forking(rng))
        return engines[-1]

    mismatch = check(case, answers, made)
    if mismatch is not None:
        pytest.fail(report(case, mismatch, case, mismatch), pytrace=False)
    assert sum(engine.compared for engine in engines)
