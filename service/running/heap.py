"""The C heap: how it gives memory back to the system.

Batches and texts come and go by the megabyte, in many threads. glibc keeps what is freed, in up to eight
arenas for each core, as long as anything behind it is in use. So the service has few arenas, and returns free
pages after each checkpoint. Where the C library has no such functions, nothing happens.
"""

from __future__ import annotations

import ctypes
import os

import pyarrow as pa

ARENAS = 2
"""Arenas of the heap: kernels allocate rarely, and Python's small objects are not on it."""
_M_ARENA_MAX = -8


def limit_arenas() -> None:
    """Use few arenas from now on, unless the environment has a limit already."""
    if "MALLOC_ARENA_MAX" in os.environ:
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_ARENA_MAX, ARENAS)


def return_free_memory() -> None:
    """Return free pages to the system. Other threads that allocate wait for it, some milliseconds."""
    pa.default_memory_pool().release_unused()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
