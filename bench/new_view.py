"""A new view with a recursion over a large table, while single rows are posted at a fixed pace.

The table is a forest: each row names its parent. The view finds the root of every row by a recursion, and
counts the rows of each root. Writers move leaves to other parents all the time. What counts is how long a
post waits, from before the view is asked for until some seconds after it is there, and that the view is right
at the epoch at which it appears and at the end: numpy follows the parents of the same epoch's rows.
"""

from __future__ import annotations

import io
import json
import random
import threading
import time
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bench import measure
from bench.data import SEED
from bench.duck import WrongAnswer
from bench.http import JSON, Refused, call, service
from bench.table import markdown

PARQUET = "application/vnd.apache.parquet"
TREE = 1_000
"""Rows of a tree: three children a row, so that the recursion takes seven rounds."""
BRANCHES = TREE // 3
"""The first so many rows of a tree may have children; the others are leaves."""
BATCH = 500_000
WRITERS = 8
POSTS = 200
"""Posts a second."""
AFTER = 10.0
"""Seconds for which posts go on once the view is there."""
PATIENCE = 3_600.0
FULL, QUICK = 5_000_000, 20_000
_TABLE = "CREATE TABLE nodes (id BIGINT PRIMARY KEY, parent BIGINT)"
_VIEW = """
    WITH RECURSIVE up (id, root) AS (
        SELECT id, id FROM nodes WHERE parent IS NULL
        UNION ALL
        SELECT n.id, u.root FROM up AS u JOIN nodes AS n ON n.parent = u.id
    )
    SELECT root, count(*) AS n FROM up GROUP BY root
"""


@dataclass(frozen=True)
class Built:
    """`seconds` from the request for the view to its answer, and the milliseconds of the posts meanwhile."""

    rows: int
    seconds: float
    posts: int
    median: float
    p99: float
    most: float
    peak: int


def text(built: Built) -> str:
    """The figures as a table."""
    header = ("rows", "view after", "posts", "median", "99th pct", "longest", "peak memory of the service")
    line = (
        f"{built.rows:,}",
        f"{built.seconds:.1f} s",
        f"{built.posts:,}",
        f"{built.median:.1f} ms",
        f"{built.p99:.1f} ms",
        f"{built.most:.1f} ms",
        f"{built.peak / 1e6:,.0f} MB",
    )
    return markdown([line], header)


class Movers:
    """Writers that move leaves. A post is due at a fixed moment, and has waited since then."""

    def __init__(self, port: int, rows: int) -> None:
        self.waits: list[float] = []
        self._port = port
        self._trees = rows // TREE
        self._ended = threading.Event()
        self._threads = [threading.Thread(target=self._move, args=(number,)) for number in range(WRITERS)]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join()

    def _move(self, number: int) -> None:
        chance = random.Random(f"{SEED} {number}")
        connection = HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE)
        due = time.monotonic() + number / POSTS
        while not self._ended.wait(max(0.0, due - time.monotonic())):
            leaf = chance.randrange(self._trees) * TREE + chance.randrange(BRANCHES, TREE)
            parent = chance.randrange(self._trees) * TREE + chance.randrange(BRANCHES)
            body = f'[{{"upsert":{{"id":{leaf},"parent":{parent}}}}}]'
            connection.request("POST", "/v1/tables/nodes/deltas", body, {"Content-Type": JSON})
            answer = connection.getresponse()
            if answer.status != 200:
                raise Refused(answer.read().decode())
            answer.read()
            self.waits.append((time.monotonic() - due) * 1000)
            due += WRITERS / POSTS
        connection.close()


def run(rows: int) -> Built:
    """Build the view over so many rows. Raises WrongAnswer if it is wrong."""
    with (
        TemporaryDirectory(prefix="freshet-bench-") as directory,
        service(Path(directory)) as (port, process),
    ):
        call(port, "POST", "/v1/tables", {"sql": _TABLE})
        _fill(port, rows)
        movers = Movers(port, rows)
        movers.start()
        try:
            time.sleep(2.0)
            measure.reset_peak(process)
            first, start = len(movers.waits), time.perf_counter()
            answer = call(port, "POST", "/v1/views", {"name": "sizes", "sql": _VIEW}, PATIENCE)
            seconds = time.perf_counter() - start
            time.sleep(AFTER)
        finally:
            movers.stop()
        waits = np.array(movers.waits[first:])
        for asked in (answer, call(port, "GET", "/v1/status")):
            _compare(port, int(json.loads(asked)["epoch"]))
        return Built(
            rows,
            seconds,
            len(waits),
            float(np.median(waits)),
            float(np.quantile(waits, 0.99)),
            float(waits.max()),
            measure.peak(process),
        )


def _fill(port: int, rows: int) -> None:
    place = np.arange(rows)
    inside = place % TREE
    parents = place - inside + (inside - 1) // 3
    for at in range(0, rows, BATCH):
        part = slice(at, at + BATCH)
        table = pa.table({"id": place[part], "parent": pa.array(parents[part], mask=inside[part] == 0)})
        body = io.BytesIO()
        pq.write_table(table, body)
        _send(port, "POST", "/v1/tables/nodes/deltas", body.getvalue())


def _compare(port: int, epoch: int) -> None:
    """Check the view at an epoch against the table's rows at that epoch."""
    nodes, sizes = _rows(port, "tables/nodes", epoch), _rows(port, "views/sizes", epoch)
    known = nodes.sort_by("id")
    id = known["id"].to_numpy()
    parent = known["parent"].fill_null(-1).to_numpy()
    root = np.where(parent < 0, id, parent)
    while (root[root] != root).any():
        root = root[root]
    roots, counts = np.unique(root, return_counts=True)
    found = sizes.sort_by("root")
    if not (
        np.array_equal(found["root"].to_numpy(), roots) and np.array_equal(found["n"].to_numpy(), counts)
    ):
        raise WrongAnswer(f"the view is not that of the table's rows at epoch {epoch}")


def _rows(port: int, path: str, epoch: int) -> pa.Table:
    return pq.read_table(io.BytesIO(_send(port, "GET", f"/v1/{path}/rows?as_of={epoch}")))


def _send(port: int, method: str, path: str, body: bytes | None = None) -> bytes:
    connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request(method, path, body, {"Content-Type": PARQUET, "Accept": PARQUET})
        answer = connection.getresponse()
        content = answer.read()
    finally:
        connection.close()
    if answer.status != 200:
        raise Refused(f"{method} {path} answers {answer.status}: {content[:500]!r}")
    return content
