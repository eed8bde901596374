"""Calls in processes of their own: results, errors, and processes that end."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest

from engine.errors import InvalidValue
from engine.processes.apart import CallEnded, CallLimits, CallTimeout, apart

LIMITS = CallLimits(256 << 20, 10.0)


def _divided(one: int, other: int) -> tuple[int, int]:
    return os.getpid(), one // other


def _refused() -> None:
    raise InvalidValue("no", "a hint")


def _greedy() -> int:
    return int(np.ones(1 << 30, np.uint8).sum())


def _killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _busy() -> None:
    while True:
        pass


def test_the_result_comes_from_another_process() -> None:
    process, result = apart(LIMITS, _divided, 7, 2)
    assert result == 3
    assert process != os.getpid()


def test_errors_come_back() -> None:
    with pytest.raises(ZeroDivisionError):
        apart(LIMITS, _divided, 1, 0)
    with pytest.raises(InvalidValue) as refused:
        apart(LIMITS, _refused)
    assert refused.value.hint == "a hint"


def test_too_much_memory() -> None:
    with pytest.raises(MemoryError):
        apart(LIMITS, _greedy)


def test_a_process_that_ends() -> None:
    with pytest.raises(CallEnded):
        apart(LIMITS, _killed)


def test_too_much_time() -> None:
    with pytest.raises(CallTimeout):
        apart(CallLimits(256 << 20, -4.0), _busy)


def test_without_limits() -> None:
    assert apart(CallLimits(1 << 62, float("inf")), _divided, 7, 2)[1] == 3
