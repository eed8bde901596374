"""The specification of an epoch in supersteps: everything a task needs to know, frozen and the same for
all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from engine.operators.rebuild import Rebuild
from engine.plan.nodes import Node
from engine.runtime.execution import JobTable, RowScan, Stored
from engine.state.store.files import BatchFile, TextFile


@dataclass(frozen=True)
class SuperstepLimits:
    """`solo`: if at most this many rows enter a loop, one task runs the whole loop. `rounds`: an epoch with a
    loop of more rounds is declined, since each round costs an exchange."""

    solo: int = 100_000
    rounds: int = 1_000


@dataclass(frozen=True)
class Spec:
    """The changes, the tables and views they concern, and the files of the state.

    Like `engine.runtime.execution.ExecutorJob`, but all changes except scans are in files. `scanned` has the
    scan of each scanned table without its frame; scanned rows must have new keys. The names of new files
    begin with `prefix`.
    """

    tables: tuple[JobTable, ...]
    views: tuple[tuple[str, Node], ...]
    stored: Mapping[str, Stored]
    scanned: Mapping[str, RowScan]
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
    prefix: str = ""
