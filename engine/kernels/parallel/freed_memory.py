"""What the C heap does with memory that is freed.

Large work is done in parts, and each part frees what it has allocated. If the heap returned that memory to
the system, every part would wait for the same pages to be cleared again.
"""

from __future__ import annotations

import ctypes
import sys

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_FROM_THE_SYSTEM = 32 << 20
"""From so many bytes on, an allocation is the system's own, and goes back as soon as it is freed."""
_KEPT = 2 * _FROM_THE_SYSTEM
"""So many free bytes at the heap's end stay there."""


def keep_freed() -> None:
    """Fix the two limits where glibc would move them by itself, once something just below the first is freed.

    Other systems, and other libraries, stay as they are.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, _FROM_THE_SYSTEM)
        mallopt(_TRIM_THRESHOLD, _KEPT)
