"""Room for large matrices, on large pages where the system has them.

A page fault for every 4 KiB costs a large matrix more time than filling it, and random writes miss
the translation of addresses. numpy asks for large pages itself; compiled code has to.
"""

from __future__ import annotations

import sys

import numpy as np
from numba import njit, types

LARGE = 1 << 22
"""Bytes from which a matrix is worth asking for."""
PAGE = 4096
MADV_HUGEPAGE = 14

_madvise = types.ExternalFunction("madvise", types.intc(types.uintp, types.uintp, types.intc))
_HAS_LARGE_PAGES = sys.platform == "linux"


@njit
def empty_matrix(rows, columns):
    """An int64[rows, columns] with nothing in it yet."""
    out = np.empty((rows, columns), np.int64)
    size = rows * columns * 8
    if _HAS_LARGE_PAGES and size >= LARGE:
        start = (out.ctypes.data + PAGE - 1) & -PAGE
        _madvise(start, out.ctypes.data + size - start, MADV_HUGEPAGE)  # type: ignore[call-overload]
    return out
