"""The benchmark of memory under churn: its cases run, and growth is told from rise and fall."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench.churn import ROWS, Sample, cases, growth, measured

pytestmark = pytest.mark.usefixtures("forked")


def test_growth_is_that_of_the_least_samples() -> None:
    for slope in (0, 7):
        held = [1000 * (n % 3) + slope * 10 * n for n in range(40)]
        samples = [Sample(n * 10, 5 if n < 20 else it, 0, 0, 0, 0, 0, 0) for n, it in enumerate(held)]
        assert growth(samples) == pytest.approx(slope, abs=1)


def test_a_case_runs_and_is_sampled() -> None:
    case = replace(cases(0)[1], batch=30, posts=2, rounds=3)
    samples = list(measured(case))
    assert [sample.changes for sample in samples] == [60, 120, 180]
    assert [sample.texts for sample in samples] == [60, 120, 180]
    assert all(sample.anonymous > sample.dictionary > 0 for sample in samples)
    assert samples[-1].changes < ROWS
