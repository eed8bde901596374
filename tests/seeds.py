"""The seed of a run of the tests: what they draw by chance, they draw from it.

A run draws a fresh one and shows it (`tests/conftest.py`); `--seed N` or FRESHET_SEED=N runs it again. It
stands in the environment before the first test module is imported, so that the processes of one run, and the
programs that its tests start, have the same. The names of tests do not depend on it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TypeVar

import pytest

from tests.share import SHARE

T = TypeVar("T")
SEED = int(os.environ.get("FRESHET_SEED", "0"))


def few(count: int) -> int:
    """How many of so many random cases this run takes: an eighth, and at least one. `make soak`, which sets
    FRESHET_SHARE to 1, takes all."""
    return -(-count // SHARE)


def steps(count: int) -> int:
    """How many steps of so many a long random history of this run has: a half. All of them in `make soak`."""
    return count if SHARE == 1 else -(-count // 2)


def some(grid: Iterable[T]) -> list[T]:
    """The cases of a grid that this run takes: every eighth, the first among them; all in `make soak`."""
    return list(grid)[::SHARE]


def half(cases: Sequence[T]) -> Sequence[T]:
    """The cases of a table that this run takes: the first or the second of each pair, as the seed says. All
    of them in `make soak`."""
    return _one_of_each(2, cases)


def third(cases: Sequence[T]) -> Sequence[T]:
    """The same, of each three."""
    return _one_of_each(3, cases)


def _one_of_each(size: int, cases: Sequence[T]) -> Sequence[T]:
    return cases[SEED % size :: size] if SHARE > 1 else cases


def seeds(count: int, first: int = 0) -> range:
    """So many seeds of this run, from the `first` one on."""
    return range(SEED + first, SEED + first + count)


def each_seed(count: int, fixed: int | None = None) -> pytest.MarkDecorator:
    """Runs the test with so many values of `seed`: those of this run, or from a `fixed` one on."""
    chosen = seeds(count) if fixed is None else range(fixed, fixed + count)
    return pytest.mark.parametrize("seed", chosen, ids=range(count))
