"""Memory that large work frees is used again by the work that follows."""

from __future__ import annotations

import subprocess
import sys

import pytest

ROUNDS = """
import resource
import engine.kernels
import numpy as np

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    arrays = [np.ones(400_000) for _ in range(4)]
    del arrays
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

print(*(faults() for _ in range(5)))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only glibc is told what to keep")
def test_freed_memory_is_not_cleared_again() -> None:
    run = subprocess.run([sys.executable, "-c", ROUNDS], capture_output=True, text=True, check=True)

    first, *others = map(int, run.stdout.split())

    assert first > 1_000
    assert max(others) < first / 10
