"""Sizing: what rows, views and changes cost a service in memory, on disk and when it starts again.

Every subject has a service of its own. A few rows come first, so that code which is loaded on first use
counts for nothing. Then all rows come, then changes. The service is killed and replays its log; it ends
as it should, which writes a checkpoint, and maps the files of that. Memory is anonymous memory: pages of
mapped files, which Linux may drop and read again, are not in it.
"""

from __future__ import annotations

import io
import os
import signal
import sqlite3
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa

from bench import measure
from bench.data import SEED
from bench.http import Refused, call, service
from bench.measure import Timing

ARROW = "application/vnd.apache.arrow.stream"
ROWS, QUICK = 1_000_000, 2_000
EPOCHS = 10
SINGLES = 200
TREE = 85
"""Nodes of a tree of four levels in which a node has four children."""
SETTINGS = {"FRESHET_CHECKPOINT_BYTES": str(2**40), "FRESHET_CHECKPOINT_COMMITS": str(2**40)}
Make = Callable[[np.ndarray, np.random.Generator], dict[str, object]]


@dataclass(frozen=True)
class Subject:
    """A table `t` with a key `id` and more columns, which `make` gives for ids, and perhaps a view of it."""

    name: str
    columns: str
    make: Make
    view: str = ""


@dataclass(frozen=True)
class Sizes:
    """What a subject costs. `memory`, `log` and `files` are bytes for each row, `history` and `epoch` bytes for
    each change of many and for each epoch of one; `single`, `replay` and `start` are seconds. `after` is the
    anonymous memory of the process after a start from files.
    """

    subject: Subject
    memory: float
    log: float
    files: float
    history: float
    epoch: float
    single: float
    replay: float
    start: float
    after: int


def integers(count: int) -> Make:
    return lambda ids, rng: {f"a{n}": rng.integers(0, 2**40, len(ids)) for n in range(count)}


def texts(length: int, distinct: int = 0) -> Make:
    """Texts of one length: all different, or of a number of different ones."""

    def make(ids: np.ndarray, rng: np.random.Generator) -> dict[str, object]:
        numbers = rng.integers(0, distinct or 2**40, len(ids))
        return {"a0": [f"{number:0{length}d}" for number in numbers.tolist()]}

    return make


def parents(ids: np.ndarray, rng: np.random.Generator) -> dict[str, object]:
    """Trees of `TREE` nodes: a root has -1; a node below has a random parent of the level above its own."""
    inside = ids % TREE
    first, count = np.where(inside < 21, 1, 5), np.where(inside < 21, 4, 16)
    parent = np.where(inside < 5, 0, first + rng.integers(0, 16, len(ids)) % count)
    return {"a0": np.where(inside == 0, -1, ids - inside + parent)}


PAIR = "a0 BIGINT NOT NULL"
CLOSURE = """WITH RECURSIVE up (id, above) AS (SELECT id, a0 FROM t WHERE a0 >= 0 UNION
    SELECT up.id, t.a0 FROM up JOIN t ON t.id = up.above WHERE t.a0 >= 0) SELECT id, above FROM up"""
TABLES = (
    Subject("2 integers", PAIR, integers(1)),
    Subject("8 integers", ", ".join(f"a{n} BIGINT NOT NULL" for n in range(7)), integers(7)),
    Subject("integer, text of 20 bytes, all different", "a0 TEXT NOT NULL", texts(20)),
    Subject("integer, text of 100 bytes, all different", "a0 TEXT NOT NULL", texts(100)),
    Subject("integer, text of 20 bytes, 1,000 different", "a0 TEXT NOT NULL", texts(20, 1_000)),
)
VIEWS = (
    Subject("filter: half of the rows", PAIR, integers(1), "SELECT id, a0 FROM t WHERE a0 % 2 = 0"),
    Subject(
        "join: each row with one other",
        PAIR,
        integers(1),
        "SELECT a.id, b.a0 FROM t AS a JOIN t AS b ON b.id = a.id / 10",
    ),
    Subject(
        "count and sum, 10 rows a group",
        PAIR,
        integers(1),
        "SELECT id / 10 AS g, count(*) AS n, sum(a0) AS total FROM t GROUP BY id / 10",
    ),
    Subject("recursion: all ancestors, 2.7 a row", PAIR, parents, CLOSURE),
)
SUBJECTS = TABLES + VIEWS


def run(rows: int, subjects: Sequence[Subject] = SUBJECTS) -> list[Sizes]:
    found = []
    for subject in subjects:
        with TemporaryDirectory(prefix="freshet-bench-") as directory:
            found.append(_measured(subject, rows, Path(directory)))
        print(found[-1], flush=True)
    return found


def _measured(subject: Subject, rows: int, directory: Path) -> Sizes:
    rng = np.random.default_rng(SEED)
    few = rows // 100
    ids = np.arange(rows + few)
    with service(directory, SETTINGS) as (port, process):
        call(
            port, "POST", "/v1/tables", {"sql": f"CREATE TABLE t (id BIGINT PRIMARY KEY, {subject.columns})"}
        )
        if subject.view:
            call(port, "POST", "/v1/views", {"name": "v", "sql": subject.view})
        for some in np.array_split(ids[rows:], EPOCHS):
            _upsert(port, subject, some, rng)
        _upsert(port, subject, ids[rows:], rng)
        empty, logged = _held(process), _log(directory)
        for some in np.array_split(ids[:rows], EPOCHS):
            _upsert(port, subject, some, rng)
        full, log = _held(process), _log(directory) - logged
        for _ in range(EPOCHS):
            _upsert(port, subject, rng.choice(rows, few, replace=False), rng)
        changed, logged = _held(process), _log(directory)
        single = Timing.of(
            [
                measure.clock(lambda: _upsert(port, subject, rng.integers(0, rows, 1), rng))
                for _ in range(SINGLES)
            ]
        )
        epoch = (_log(directory) - logged) / SINGLES
        os.kill(process, signal.SIGKILL)
    replay, _ = _start(directory)
    files = sum(file.stat().st_size for file in (directory / "state").rglob("*") if file.is_file())
    start, after = _start(directory)
    return Sizes(
        subject=subject,
        memory=(full - empty) / rows,
        log=log / rows,
        files=files / rows,
        history=(changed - full) / (EPOCHS * few),
        epoch=epoch,
        single=single.median,
        replay=replay,
        start=start,
        after=after,
    )


def _start(directory: Path) -> tuple[float, int]:
    """The seconds until a service is ready over what there is, and the memory that it then holds."""
    begun = time.perf_counter()
    with service(directory, SETTINGS) as (_, process):
        return time.perf_counter() - begun, _held(process)


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
