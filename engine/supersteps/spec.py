"""The specification of an epoch in supersteps: everything a task needs to know, frozen and the same for
all."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from engine.runtime.execution import ExecutorJob


@dataclass(frozen=True)
class SuperstepLimits:
    """`solo`: if at most this many rows enter a loop, one task runs the whole loop. `rounds`: an epoch with a
    loop of more rounds is declined, since each round costs an exchange."""

    solo: int = 100_000
    rounds: int = 1_000


@dataclass(frozen=True)
class Spec:
    """A job, and where its files are.

    All of its changes are in files, except scans, which have no frame here; scanned rows must have new keys.
    """

    job: ExecutorJob
    directory: Path
    scratch: Path
    shards: int
    limits: SuperstepLimits = SuperstepLimits()
