"""The processor that kernels are compiled for: a baseline that most machines have, so that code can be
shipped.

It is chosen before numba is imported, which reads it once. If the machine lacks a feature of the baseline, or
has another architecture, numba's own choice stays: the machine itself.
"""

from __future__ import annotations

import os
import platform

import llvmlite.binding as llvm

BASELINE = "x86-64-v3"
_PARTS = ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sse4.2", "xsave")
"""The baseline's features beyond the first x86-64 processors, by LLVM's names."""


def choose() -> None:
    """Set numba's variables to the baseline, unless they are set already or the machine lacks it."""
    if "NUMBA_CPU_NAME" in os.environ or "NUMBA_CPU_FEATURES" in os.environ:
        return
    if platform.machine() != "x86_64" or not all(llvm.get_host_cpu_features().get(part) for part in _PARTS):
        return
    os.environ["NUMBA_CPU_NAME"] = BASELINE
    os.environ["NUMBA_CPU_FEATURES"] = ",".join(f"+{part}" for part in _PARTS)
