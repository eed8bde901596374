"""Epochs in supersteps and epochs in the process, mixed by chance, give the referees' answers.

FRESHET_SUPERSTEPS is the number of (views, history) cases, each of a few views; a fifth as many, one at
least, have an explicit recursion, whose nested rounds take many supersteps.
"""

from __future__ import annotations

import os
import random
from dataclasses import replace
from pathlib import Path

import pytest

from engine.supersteps import keeping
from tests.engine.supersteps.mixed import Here, Mixed, executor_for
from tests.property import sequence_cases
from tests.property.algebra import Binary, Name, Recursion, Unary
from tests.property.cases import Answers, Case, random_case
from tests.property.check import check
from tests.property.histories import random_history
from tests.property.report import report
from tests.property.sequences import BINARY, UNARY
from tests.property.terms import Term
from tests.property.views import View
from tests.seeds import each_seed

CASES = int(os.environ.get("FRESHET_SUPERSTEPS", "1"))
CANDIDATES = 5
"""For the views of a case."""


@each_seed(CASES)
def test_views_equal_the_referee(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _check(seed, *random_case(seed, CANDIDATES), tmp_path, monkeypatch)


@each_seed(max(1, CASES // 5))
def test_explicit_recursions_equal_their_definition(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case, answers = sequence_cases.random_case(seed)
    short = replace(case, views=case.views[:1], history=case.history[:3])
    _check(seed, short, {"v0": answers["v0"][:4]}, tmp_path, monkeypatch)


def test_a_binding_of_the_same_round(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second name joins the first one, as it is in the round, with itself; the first reads the second."""
    first = Binary(*BINARY[5], Name("e"), Unary(*UNARY[1], Name("two")))
    recursion = Recursion(
        (("one", first), ("two", Binary(*BINARY[0], Name("one"), Name("one")))), Name("two"), 3
    )
    history = random_history(random.Random(5), sequence_cases.TABLES, 3)
    epochs = sequence_cases.contents(history)
    answers = tuple(sequence_cases.answer(recursion, epoch) for epoch in epochs)
    assert sequence_cases.tells(recursion, answers, epochs)
    case = Case(5, sequence_cases.TABLES, (View("v0", Term("query", recursion.sql), ()),), history)
    _check(5, case, {"v0": answers}, tmp_path, monkeypatch)


def _check(seed: int, case: Case, answers: Answers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    executor, rng = executor_for(seed, tmp_path, Here(seed))
    monkeypatch.setattr(keeping, "INLINE", rng.choice((0, 100, keeping.INLINE)))
    mismatch = check(case, answers, lambda: Mixed(executor, rng, 0.7))
    if mismatch is not None:
        pytest.fail(report(case, mismatch, case, mismatch), pytrace=False)
    assert executor.done
