"""What views cost that a change does not reach: services with ever more of them do the same work by turns.

Every service has a table and a view that the changes reach, and as many views of another table as it should
bear. In each round every service gets one POST of one row, one read of the view's first rows, one poll of the
view's changes since the round before, and one scrape of its metrics. The medians should be level.
"""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.http import call, service
from bench.measure import Timing, clock
from bench.table import duration, markdown

STEPS = ("POST of a row", "first 10 rows", "poll of changes", "scrape of metrics")
FULL = ((0, 100, 1_000), 300)
QUICK = ((0, 3), 3)
PATIENCE = 600.0


@dataclass
class Subject:
    """A service at a port with `views` unrelated views, and the nanoseconds of each step so far."""

    port: int
    views: int
    epoch: int = 0
    taken: dict[str, list[int]] = field(default_factory=lambda: {step: [] for step in STEPS})

    def create(self) -> None:
        """Create the tables and the views."""
        columns = [{"name": name, "type": "BIGINT", "nullable": False} for name in ("id", "amount")]
        for table in ("sales", "others"):
            call(self.port, "POST", "/v1/tables", {"name": table, "columns": columns})
        sql = "SELECT id, count(*) AS n, sum(amount) AS total FROM {} GROUP BY id"
        self._view("totals", sql.format("sales"))
        for number in range(self.views):
            self._view(f"other_{number}", sql.format(f"others WHERE amount > {number}"))

    def _view(self, name: str, sql: str) -> None:
        call(self.port, "POST", "/v1/views", {"name": name, "sql": sql}, PATIENCE)

    def take(self, number: int) -> None:
        """Take all steps once, with row `number`."""
        row = [{"insert": {"id": number, "amount": number}}]
        since = self.epoch
        answers: list[bytes] = []

        def timed(step: str, method: str, path: str, body: object = None) -> None:
            self.taken[step].append(clock(lambda: answers.append(call(self.port, method, path, body))))

        timed(STEPS[0], "POST", "/v1/tables/sales/deltas", row)
        timed(STEPS[1], "GET", "/v1/views/totals/rows?limit=10")
        timed(STEPS[2], "GET", f"/v1/views/totals/changes?since={since}")
        timed(STEPS[3], "GET", "/metrics")
        self.epoch = json.loads(answers[0])["epoch"]


def run(counts: tuple[int, ...], rounds: int) -> list[Subject]:
    """The services, measured; they have stopped again."""
    with ExitStack() as running:
        subjects = []
        for views in counts:
            directory = running.enter_context(TemporaryDirectory(prefix="freshet-bench-"))
            port, _ = running.enter_context(service(Path(directory)))
            subjects.append(Subject(port, views))
            subjects[-1].create()
        for number in range(rounds):
            for subject in subjects:
                subject.take(number)
    return subjects


def text(subjects: list[Subject]) -> str:
    """The medians as a table in Markdown."""
    header = ("unrelated views", *STEPS)
    rows = [
        (f"{subject.views:,}", *(duration(Timing.of(subject.taken[step]).median) for step in STEPS))
        for subject in subjects
    ]
    return markdown(rows, header)
