"""Memory for large matrices, on large pages if the system has them.

With pages of 4 KiB, the page faults of a large matrix cost more time than filling it, and random writes miss
the address translation cache. numpy asks for large pages itself; compiled code has to ask explicitly.
"""

from __future__ import annotations

import sys

import numpy as np
from numba import njit, types

LARGE = 1 << 22
"""The fewest bytes of a matrix for which large pages are worth asking for."""
PAGE = 4096
MADV_HUGEPAGE = 14

_madvise = types.ExternalFunction("madvise", types.intc(types.uintp, types.uintp, types.intc))
_HAS_LARGE_PAGES = sys.platform == "linux"


@njit
def empty_matrix(rows, columns):
    """An uninitialized int64[rows, columns]."""
    out = np.empty((rows, columns), np.int64)
    size = rows * columns * 8
    if _HAS_LARGE_PAGES and size >= LARGE:
        start = (out.ctypes.data + PAGE - 1) & -PAGE
        _madvise(start, out.ctypes.data + size - start, MADV_HUGEPAGE)  # type: ignore[call-overload]
    return out
