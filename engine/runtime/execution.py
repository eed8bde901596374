"""Running an advance elsewhere: the job that is sent, and the outcome that comes back.

The engine hands an `ExecutorJob` to an `Executor`, which computes it over the files of the state and returns
the files of new batches. Job and outcome are frozen; the engine changes nothing until it has staged and
published the outcome.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from engine.errors import EngineError
from engine.judging.row_judge import RowJudge
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

    `columns` are the positions, in a file's rows, of the source's columns, the epoch and the diff. Epochs
    before `since` are read as `since`.
    """

    files: tuple[BatchFile, ...]
    columns: tuple[int, ...]
    since: int = 0


@dataclass(frozen=True)
class RowScan:
    """Rows to insert, read while the job runs.

    `frame` is of the executor's own kind. It has the columns that `judge` takes. With `skip_bad`, bad rows
    are counted and left out; without, the first one fails the job.
    """

    frame: Any
    judge: RowJudge
    skip_bad: bool = False


@dataclass(frozen=True)
class ExecutorJob:
    """An advance, or with `fresh` the hydration of views, over the tables and views that it concerns.

    Changes come as deltas, from files, and from scans; scanned rows come at `epoch`. `state` and `texts` name
    the files of the whole state; `exceptions` are the texts whose words are not their hashes. Operators need
    not tell epochs up to `since` apart. `name` describes the job to people. The names of new files begin with
    `prefix`.
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
    prefix: str = ""


@dataclass(frozen=True)
class Scanned:
    """The totals of all scans: rows taken, rows left out, and the first error messages."""

    rows: int = 0
    skipped: int = 0
    examples: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """The result of a job: the files of new batches, by fingerprint of the state, and of new texts."""

    files: Mapping[str, tuple[BatchFile, ...]]
    texts: tuple[TextFile, ...]
    scanned: Scanned = Scanned()


class Declined(EngineError):
    """This executor does not run jobs of this kind; the process runs it instead."""

    code = "not_distributed"


class ViewsFailed(Exception):
    """An operator failed with the error `cause`; `fingerprint` identifies the operator."""

    def __init__(self, fingerprint: str, cause: EngineError) -> None:
        super().__init__(str(cause))
        self.fingerprint = fingerprint
        self.cause = cause


class KeyTaken(EngineError):
    """A scanned row has the key of another row of the table; `key` has the key's words."""

    code = "key_exists"

    def __init__(self, table: str, key: tuple[int, ...]) -> None:
        super().__init__(f"two rows of table {table} would have the same key")
        self.table = table
        self.key = key


class BadRows(EngineError):
    """A scan met a row that cannot be inserted."""

    code = "bad_row"


class Executor(Protocol):
    """Runs jobs over the state's files, which lie in `directory`, divided into `shards`."""

    directory: StateDirectory
    shards: int

    def run(self, job: ExecutorJob) -> Outcome:
        """Compute the job. Raises Declined, ViewsFailed, KeyTaken, BadRows, or the executor's own error."""
