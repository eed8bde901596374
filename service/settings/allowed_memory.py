"""The memory that this process may have."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

_MEMORY_CGROUP = re.compile(r"^\d+:(?:[^:]*,)?memory(?:,[^:]*)?:(.*)$|^0::(.*)$", re.MULTILINE)


@cache
def allowed_bytes(root: Path = Path("/")) -> int:
    """The least of the machine's memory and the limits of the process's cgroups, of version 1 or 2. `root` is
    where the system's files are."""
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min([machine, *_cgroup_limits(root)])


def _cgroup_limits(root: Path) -> Iterator[int]:
    """The limits of the process's cgroup and of those around it; a container may see its own as the root."""
    with suppress(OSError):
        for of_memory, unified in _MEMORY_CGROUP.findall((root / "proc/self/cgroup").read_text()):
            mount = root / "sys/fs/cgroup" / ("memory" if of_memory else "")
            file = "memory.limit_in_bytes" if of_memory else "memory.max"
            path = mount / (of_memory or unified).strip("/")
            for group in (path, *path.parents):
                if group != mount and mount not in group.parents:
                    break
                with suppress(OSError, ValueError):  # the cgroup is not seen from here, or has no limit
                    yield int((group / file).read_text())
