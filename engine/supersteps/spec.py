"""The specification of an epoch in supersteps: all that a task needs to know, frozen and the same for all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from engine.operators.rebuild import Rebuild
from engine.plan.nodes import Node
from engine.runtime.execution import JobTable, Stored
from engine.state.store.files import BatchFile, TextFile


@dataclass(frozen=True)
class SuperstepLimits:
    """`solo`: rows that may enter a loop which one task then runs whole. `rounds`: rounds of a loop that
    are worth so many exchanges: one that needs more is not for supersteps."""

    solo: int = 100_000
    rounds: int = 1_000


@dataclass(frozen=True)
class Spec:
    """What changes, what follows it, and where the state is.

    As `engine.runtime.execution.Job`, but that all changes which do not come from a scan are in files.
    `scanned` has the tables that are scanned, and whether bad rows are left out; their keys must be new.
    """

    tables: tuple[JobTable, ...]
    views: tuple[tuple[str, Node], ...]
    stored: Mapping[str, Stored]
    scanned: Mapping[str, bool]
    epoch: int
    since: int
    fresh: bool
    state: Mapping[str, tuple[BatchFile, ...]]
    texts: tuple[TextFile, ...]
    exceptions: tuple[tuple[str, int], ...]
    directory: Path
    scratch: Path
    shards: int
    max_rounds: int
    rebuild: Rebuild
    limits: SuperstepLimits = SuperstepLimits()
