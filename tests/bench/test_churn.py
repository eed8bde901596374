"""The benchmark of memory under churn: its cases run, and growth is the slope of a line."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bench.churn import ROWS, Sample, cases, growth, measured


def test_growth_is_the_slope_over_the_second_half() -> None:
    samples = [Sample(n * 10, 100 if n < 5 else 1000 + 70 * n, 0, 0, 0, 0, 0, 0) for n in range(10)]
    assert growth(samples) == pytest.approx(7)


def test_a_case_runs_and_is_sampled() -> None:
    case = replace(cases(0)[1], batch=30, posts=2, rounds=3)
    samples = list(measured(case))
    assert [sample.changes for sample in samples] == [60, 120, 180]
    assert [sample.texts for sample in samples] == [60, 120, 180]
    assert all(sample.anonymous > sample.dictionary > 0 for sample in samples)
    assert samples[-1].changes < ROWS
