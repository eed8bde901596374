"""Epochs as side advances and epochs in the running dataflow, mixed by chance, give the referee's answers.

FRESHET_SIDE_CASES is the number of (views, history) cases, each of a few views.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.engine.advancing_aside import AdvancingAside
from tests.engine.supersteps.mixed import Here, executor_for
from tests.property import sequence_cases
from tests.property.cases import Answers, Case, random_case
from tests.property.check import check
from tests.property.report import report
from tests.seeds import each_seed, few

CASES = int(os.environ.get("FRESHET_SIDE_CASES", few(4)))
CANDIDATES = 8
"""For the views of a case."""


@each_seed(CASES)
def test_views_equal_the_referee(seed: int, tmp_path: Path) -> None:
    _check(seed, *random_case(seed, CANDIDATES), tmp_path)


@each_seed(max(1, CASES // 5))
def test_recursions_equal_their_definition(seed: int, tmp_path: Path) -> None:
    _check(seed, *sequence_cases.random_case(seed), tmp_path)


def _check(seed: int, case: Case, answers: Answers, tmp_path: Path) -> None:
    executor, rng = executor_for(seed, tmp_path, Here(seed))
    engines: list[AdvancingAside] = []

    def made() -> AdvancingAside:
        engines.append(AdvancingAside(rng, tmp_path / "state", executor if rng.random() < 0.5 else None))
        return engines[-1]

    mismatch = check(case, answers, made)
    if mismatch is not None:
        pytest.fail(report(case, mismatch, case, mismatch), pytrace=False)
    print(
        "joined", sum(engine.joined for engine in engines), "behind", sum(engine.behind for engine in engines)
    )
