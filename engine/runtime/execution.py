"""Running an advance elsewhere: what has to be known of it, and what comes back.

The engine hands a `ExecutorJob` to an `Executor`, which computes it over the files of the state and
returns the files of what is new. Both are frozen; nothing in the engine changes until what came
back is staged and published.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from engine.errors import EngineError
from engine.operators.rebuild import Rebuild
from engine.plan.nodes import Node, Source
from engine.state.store.directory import StateDirectory
from engine.state.store.files import BatchFile, TextFile


@dataclass(frozen=True)
class JobTable:
    """A source, and the columns of its key if it has one."""

    node: Source
    key: tuple[int, ...] | None


@dataclass(frozen=True)
class Stored:
    """Changes of a source that lie in files.

    `columns` are those of a file's rows that are the source's columns, the epoch and the diff; epochs before
    `since` are taken for it.
    """

    files: tuple[BatchFile, ...]
    columns: tuple[int, ...]
    since: int = 0


@dataclass(frozen=True)
class RowScan:
    """Rows to insert that are read while the job runs: `frame`, which is the executor's own kind of thing,
    has the table's columns and a last one that says what is wrong with a row, NULL if nothing is.

    With `skip_bad` such rows are counted and left out; without, the first one fails the job.
    """

    frame: Any
    skip_bad: bool = False


@dataclass(frozen=True)
class ExecutorJob:
    """An advance, or with `fresh` the hydration of views. `tables` and `views` are those that it concerns.

    Changes come as deltas, from files, and from scans, the last all at `epoch`. `state` and `texts` name the
    files of all that there is; `exceptions` the texts that have not the words of their hashes. `since` is
    the epoch up to which operators need not tell epochs apart. `name` says what it is for.
    """

    name: str
    tables: tuple[JobTable, ...]
    views: tuple[tuple[str, Node], ...]
    epoch: int
    since: int
    state: Mapping[str, tuple[BatchFile, ...]]
    texts: tuple[TextFile, ...]
    exceptions: tuple[tuple[str, int], ...]
    max_rounds: int
    rebuild: Rebuild
    deltas: Mapping[str, np.ndarray] = field(default_factory=dict)
    stored: Mapping[str, Stored] = field(default_factory=dict)
    scans: Mapping[str, RowScan] = field(default_factory=dict)
    fresh: bool = False


@dataclass(frozen=True)
class Scanned:
    """What scans have read: rows taken, rows left out, and what was wrong with the first of them."""

    rows: int = 0
    skipped: int = 0
    examples: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """What is new: the files of what is kept, by fingerprint, and the dictionary's."""

    files: Mapping[str, tuple[BatchFile, ...]]
    texts: tuple[TextFile, ...]
    scanned: Scanned = field(default_factory=Scanned)


class Declined(EngineError):
    """The executor has nothing against the job, but is not the one to do it."""

    code = "not_distributed"


class ViewsFailed(Exception):
    """An operator failed for the reason `cause`; `fingerprint` says which."""

    def __init__(self, fingerprint: str, cause: EngineError) -> None:
        super().__init__(str(cause))
        self.fingerprint = fingerprint
        self.cause = cause


class KeyTaken(EngineError):
    """A scan's row has a key that another row of the table has: `key` is its words."""

    code = "key_exists"

    def __init__(self, table: str, key: tuple[int, ...]) -> None:
        super().__init__(f"table {table} would have a key twice")
        self.table = table
        self.key = key


class BadRows(EngineError):
    """A scan has met a row that cannot be taken."""

    code = "bad_row"


class Executor(Protocol):
    """`directory` is where the state's files lie, divided into `shards`."""

    directory: StateDirectory
    shards: int

    def run(self, job: ExecutorJob) -> Outcome:
        """Compute the job. Raises Declined, ViewsFailed, KeyTaken or BadRows, and whatever went wrong."""
