"""Memory for large matrices, on large pages if the system has them; and asking for memory ahead.

With pages of 4 KiB, the page faults of a large matrix cost more time than filling it, and random writes miss
the address translation cache. numpy asks for large pages itself; compiled code has to ask explicitly.
"""

from __future__ import annotations

import sys

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

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


@intrinsic
def prefetch(typing_context, address):
    """Ask for the cache line at an address, which is read soon. Any address may be asked for."""

    def codegen(context, builder, signature, arguments):
        place = ir.IntType(8).as_pointer()
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), (place, number, number, number))
        ask = builder.module.declare_intrinsic("llvm.prefetch", (place,), kind)
        reading, kept, data = (ir.Constant(number, value) for value in (0, 3, 1))
        builder.call(ask, (builder.inttoptr(arguments[0], place), reading, kept, data))
        return context.get_dummy_value()

    return types.void(types.int64), codegen
