"""The memory that this process has, and the mark above which nothing large begins.

Anonymous memory counts: mapped files go from memory when something else needs it. At the mark, the service
still has room for small changes and the views that exist. What takes more is refused until memory is free.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from time import monotonic

from service.errors import Unavailable
from service.settings.allowed_memory import allowed_bytes

LARGE = 1 << 20
"""Bytes of a body that is refused above the mark."""
SHARE = 0.8
"""The mark, as a share of the memory that the process may have, if no setting says it."""
_EVERY = 1.0
"""Seconds between two looks at the memory."""


def resident_bytes() -> int:
    """The resident memory of the process."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def anonymous_bytes() -> int:
    """The part of the resident memory that is in no file; 0 where the system does not say."""
    with suppress(OSError), open("/proc/self/status") as file:
        for line in file:
            if line.startswith("RssAnon:"):
                return int(line.split()[1]) * 1024
    return 0


class MemoryMark:
    """The mark of a service. Any thread may look at it; it reads the memory at most once a second."""

    def __init__(
        self, high: int, read: Callable[[], int] = anonymous_bytes, clock: Callable[[], float] = monotonic
    ) -> None:
        """`high`: bytes of anonymous memory; 0 is a share of what the process may have."""
        self.high = high or int(SHARE * allowed_bytes())
        self._read = read
        self._clock = clock
        self._seen: tuple[float, int] | None = None

    @property
    def used(self) -> int:
        """Bytes of anonymous memory, as of the last second."""
        now = self._clock()
        seen = self._seen
        if seen is None or now - seen[0] >= _EVERY:
            seen = self._seen = (now, self._read())
        return seen[1]

    @property
    def is_passed(self) -> bool:
        """Whether nothing large may begin."""
        return self.used > self.high

    def check(self, what: str) -> None:
        """Raises Unavailable for something large if the mark is passed."""
        if self.is_passed:
            raise Unavailable(
                f"the service has {self.used >> 20} MiB of memory in use, and begins {what} only below "
                f"{self.high >> 20} MiB",
                "try again later, drop views that are not needed, or raise FRESHET_MEMORY_HIGH",
                code="memory_high",
            )
