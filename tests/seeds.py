"""The seed of a run of the tests: what they draw by chance, they draw from it.

A run draws a fresh one and shows it (`tests/conftest.py`); `--seed N` or FRESHET_SEED=N runs it again. It
stands in the environment before the first test module is imported, so that the processes of one run, and the
programs that its tests start, have the same. The names of tests do not depend on it.
"""

from __future__ import annotations

import os

import pytest

SEED = int(os.environ.get("FRESHET_SEED", "0"))


def seeds(count: int, first: int = 0) -> range:
    """So many seeds of this run, from the `first` one on."""
    return range(SEED + first, SEED + first + count)


def each_seed(count: int, fixed: int | None = None) -> pytest.MarkDecorator:
    """Runs the test with so many values of `seed`: those of this run, or from a `fixed` one on."""
    chosen = seeds(count) if fixed is None else range(fixed, fixed + count)
    return pytest.mark.parametrize("seed", chosen, ids=range(count))
