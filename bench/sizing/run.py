"""How the sizes are measured: a service is filled, killed, started twice, and changed.

Every subject has a data directory of its own. A few rows come first, so that code which is loaded on
first use counts for nothing; then all rows come, and the service is killed. The next one replays the log,
and ends with a checkpoint. The one after it maps the files of that, and the last one takes changes. Memory
is anonymous memory: it does not have the pages of mapped files, which Linux may drop and read again.
"""

from __future__ import annotations

import io
import os
import signal
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa

from bench import measure
from bench.data import SEED
from bench.http import Refused, call, service
from bench.sizing.subjects import SUBJECTS, Subject

ARROW = "application/vnd.apache.arrow.stream"
ROWS, QUICK = 1_000_000, 2_000
EPOCHS = 10
CHANGES = 50
"""Epochs of changes, each of a part of the rows: enough that what merges leave free weighs little."""
WARM = 100
"""The part of the rows that comes before anything is measured, and that an epoch of changes replaces."""
SINGLES = 200
SETTINGS = {"FRESHET_CHECKPOINT_BYTES": str(2**40), "FRESHET_CHECKPOINT_COMMITS": str(2**40)}


@dataclass(frozen=True)
class Sizes:
    """What a subject costs.

    `memory`, `log` and `files` are bytes for each row, `history` bytes for each change, `epoch` bytes of log
    for an epoch of one change. `replay` and `start` are processor seconds, which depend little on what else
    the machine does. `after` is the anonymous memory of the process after a start from files.
    """

    subject: Subject
    memory: float
    log: float
    files: float
    history: float
    epoch: float
    replay: float
    start: float
    after: int


def run(rows: int, subjects: Sequence[Subject] = SUBJECTS) -> list[Sizes]:
    found = []
    for subject in subjects:
        with TemporaryDirectory(prefix="freshet-bench-") as directory:
            found.append(_measured(subject, rows, Path(directory)))
        print(found[-1], flush=True)
    return found


def _measured(subject: Subject, rows: int, directory: Path) -> Sizes:
    rng = np.random.default_rng(SEED)
    memory, log = load(subject, rows, directory, rng)
    replay, _ = _start(directory)
    files = sum(file.stat().st_size for file in (directory / "state").rglob("*") if file.is_file())
    start, after = _start(directory)
    history, epoch = change(subject, rows, directory, rng)
    return Sizes(subject, memory / rows, log / rows, files / rows, history, epoch, replay, start, after)


def load(subject: Subject, rows: int, directory: Path, rng: np.random.Generator) -> tuple[int, int]:
    """Bytes of memory and of the log that the rows add. The service is killed, and writes no checkpoint."""
    ids = np.arange(rows + rows // WARM)
    with service(directory, SETTINGS) as (port, process):
        sql = f"CREATE TABLE t (id BIGINT PRIMARY KEY, {subject.columns})"
        call(port, "POST", "/v1/tables", {"sql": sql})
        if subject.view:
            call(port, "POST", "/v1/views", {"name": "v", "sql": subject.view})
        for some in (ids[rows:], ids[rows:]):
            _upsert(port, subject, some, rng)
        empty, logged = _held(process), _log(directory)
        for some in np.array_split(ids[:rows], EPOCHS):
            _upsert(port, subject, some, rng)
        added = _held(process) - empty, _log(directory) - logged
        os.kill(process, signal.SIGKILL)
    return added


def _start(directory: Path) -> tuple[float, int]:
    """The processor seconds until a service is ready, and its memory then. Its end writes a checkpoint."""
    with service(directory, SETTINGS) as (_, process):
        return measure.busy(process), _held(process)


def change(subject: Subject, rows: int, directory: Path, rng: np.random.Generator) -> tuple[float, float]:
    """Bytes of memory for each change, and bytes of log for an epoch of one."""

    def some(count: int) -> None:
        _upsert(port, subject, rng.choice(rows, count, replace=False), rng)

    many = rows // WARM
    with service(directory, SETTINGS) as (port, process):
        some(many)
        before = _held(process)
        for _ in range(CHANGES):
            some(many)
        history, logged = _held(process) - before, _log(directory)
        for _ in range(SINGLES):
            some(1)
        return history / (CHANGES * many), (_log(directory) - logged) / SINGLES


def _held(process: int) -> int:
    time.sleep(1)  # merges of batches and the answers' buffers end by themselves
    return measure.anonymous(process)


def _log(directory: Path) -> int:
    connection = sqlite3.connect(f"file:{directory / 'freshet.db'}?mode=ro", uri=True)
    try:
        return connection.execute("SELECT coalesce(sum(length(payload)), 0) FROM log").fetchone()[0]
    finally:
        connection.close()


def _upsert(port: int, subject: Subject, ids: np.ndarray, rng: np.random.Generator) -> None:
    columns = {"id": ids, **subject.make(ids, rng), "_op": ["upsert"] * len(ids)}
    table = pa.table(columns)
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    connection = HTTPConnection("127.0.0.1", port, timeout=600)
    try:
        connection.request("POST", "/v1/tables/t/deltas", sink.getvalue(), {"Content-Type": ARROW})
        response = connection.getresponse()
        answer = response.read()
    finally:
        connection.close()
    if response.status >= 300:
        raise Refused(f"rows are answered {response.status}: {answer.decode(errors='replace')}")
