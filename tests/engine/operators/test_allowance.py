"""An allowance counts what operators do, and nothing else that happens meanwhile."""

from __future__ import annotations

from time import thread_time
from types import SimpleNamespace
from typing import Any

import numba
import pytest

from engine.errors import OverBudget
from engine.kernels.compiled import Kernel
from engine.operators.allowance import Allowance, Spending

OPERATOR: Any = SimpleNamespace(kind="map", out=[])
SECONDS = 0.05


def work(*_: object) -> None:
    """Takes twice the allowance."""
    until = thread_time() + 2 * SECONDS
    while thread_time() < until:
        pass


def one() -> int:
    return 1


@pytest.fixture
def spending() -> Spending:
    begun = Spending(Allowance(seconds=SECONDS, all_seconds=SECONDS))
    begun.begin(OPERATOR)
    return begun


def test_time_that_an_operator_takes_counts(spending: Spending) -> None:
    work()
    with pytest.raises(OverBudget):
        spending.round(())


def test_kernels_that_are_loaded_or_compiled_do_not(
    spending: Spending, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel, needed = Kernel(one, numba.int64(), {}), Kernel(one, numba.int64(), {})

    def compile_both(_: object) -> None:
        work()
        needed.ready()

    for each, compile in ((kernel, compile_both), (needed, work)):
        monkeypatch.setattr(each.dispatcher, "compile", compile)
        monkeypatch.setattr(each.dispatcher, "disable_compile", lambda: None)
    kernel.ready()
    spending.round(())
    work()
    with pytest.raises(OverBudget):
        spending.round(())
