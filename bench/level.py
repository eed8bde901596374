"""Costs that should be level: services with more unrelated views, or more rows, do the same by turns.

Every service has a table, a view that has all of its rows, and as many views of another table as it should
bear. In each round every service gets one POST of one row, reads the view's first rows and the row of one
key, polls the view's changes since the round before, and scrapes the metrics.
"""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

import numpy as np
import pyarrow as pa

from bench.data import SEED
from bench.http import Refused, call, service
from bench.measure import Timing, clock
from bench.table import duration, markdown

STEPS = ("POST of a row", "first 10 rows", "row by key", "poll of changes", "metrics")
BODY = 100_000
"""Rows in one body while the table is loaded."""
PATIENCE = 600.0


@dataclass(frozen=True)
class Load:
    """What a service bears: `views` that no change reaches, and `rows` of the table that changes."""

    views: int
    rows: int


FULL = ((Load(0, 1_000), Load(100, 1_000), Load(1_000, 1_000), Load(0, 1_000_000)), 200)
QUICK = ((Load(0, 10), Load(3, 10), Load(0, 200)), 3)


@dataclass
class Subject:
    """A service at a port with its load, and the nanoseconds of each step so far."""

    port: int
    load: Load
    epoch: int = 0
    taken: dict[str, list[int]] = field(default_factory=lambda: {step: [] for step in STEPS})

    def create(self) -> None:
        """Create the tables with their rows, and the views."""
        columns = [{"name": name, "type": "BIGINT", "nullable": False} for name in ("id", "amount")]
        for table in ("sales", "others"):
            body = {"name": table, "columns": columns, "primary_key": ["id"]}
            call(self.port, "POST", "/v1/tables", body)
        self._view("doubled", "SELECT id, amount * 2 AS twice FROM sales")
        for number in range(self.load.views):
            self._view(
                f"other_{number}", f"SELECT amount, count(*) AS n FROM others WHERE id > {number} GROUP BY 1"
            )
        for start in range(0, self.load.rows, BODY):
            ids = np.arange(start, min(start + BODY, self.load.rows))
            self.epoch = _post(self.port, pa.table({"id": ids, "amount": ids % 97}))

    def _view(self, name: str, sql: str) -> None:
        call(self.port, "POST", "/v1/views", {"name": name, "sql": sql}, PATIENCE)

    def take(self, id: int, amount: int) -> None:
        """Take all steps once; the row with this id gets another amount."""
        answers: list[bytes] = []

        def timed(step: str, method: str, path: str, body: object = None) -> None:
            self.taken[step].append(clock(lambda: answers.append(call(self.port, method, path, body))))

        row = [{"upsert": {"id": id, "amount": amount}}]
        timed(STEPS[0], "POST", "/v1/tables/sales/deltas", row)
        timed(STEPS[1], "GET", "/v1/views/doubled/rows?limit=10")
        timed(STEPS[2], "GET", f"/v1/views/doubled/rows?where={quote(f'id = {id}')}")
        timed(STEPS[3], "GET", f"/v1/views/doubled/changes?since={self.epoch}")
        timed(STEPS[4], "GET", "/metrics")
        self.epoch = json.loads(answers[0])["epoch"]


def _post(port: int, rows: pa.Table) -> int:
    """Insert rows into the table; returns the epoch."""
    body = io.BytesIO()
    with pa.ipc.new_stream(body, rows.schema) as writer:
        writer.write_table(rows)
    connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    headers = {"Content-Type": "application/vnd.apache.arrow.stream"}
    connection.request("POST", "/v1/tables/sales/deltas", body.getvalue(), headers)
    response = connection.getresponse()
    answer = response.read()
    connection.close()
    if response.status != 200:
        raise Refused(answer.decode(errors="replace"))
    return json.loads(answer)["epoch"]


def run(loads: Sequence[Load], rounds: int) -> list[Subject]:
    """The services, measured; they have stopped again."""
    rng = np.random.default_rng(SEED)
    with ExitStack() as running:
        subjects = []
        for load in loads:
            directory = running.enter_context(TemporaryDirectory(prefix="freshet-bench-"))
            port, _ = running.enter_context(service(Path(directory)))
            subjects.append(Subject(port, load))
            subjects[-1].create()
        for number in range(rounds):
            for subject in subjects:
                subject.take(int(rng.integers(subject.load.rows)), 97 + number)
    return subjects


def text(subjects: Sequence[Subject]) -> str:
    """The medians as a table in Markdown."""
    header = ("unrelated views", "rows", *STEPS)
    return markdown([_row(subject) for subject in subjects], header)


def _row(subject: Subject) -> tuple[str, ...]:
    load = subject.load
    medians = (duration(Timing.of(subject.taken[step]).median) for step in STEPS)
    return (f"{load.views:,}", f"{load.rows:,}", *medians)
