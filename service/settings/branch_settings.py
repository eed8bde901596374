"""Settings of branches: how many there may be, and what each may hold.

`service/settings/settings.py` reads them together with all others.
"""

from __future__ import annotations

from dataclasses import dataclass

from service.settings.doors import MIB, setting


@dataclass(frozen=True)
class BranchSettings:
    branches: int = setting(16, "FRESHET_BRANCHES", "branches that there may be; one more gets 429")
    branch_bytes: int = setting(
        256 * MIB,
        "FRESHET_BRANCH_BYTES",
        "bytes that a branch may hold besides what it shares with its parent; then it takes no more changes",
    )
