"""What branches cost: `python -m bench branches`.

One table, 20 views over it, a recursive one among them, and a branch that is made, changed, read, compared,
merged and dropped through the service without HTTP. What has to follow the difference alone is measured at
two sizes. Beside each time is what the process has used of its processors meanwhile: on a machine that does
other work, it says more than the time that has passed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter_ns, process_time_ns

import numpy as np

from bench.measure import Timing
from bench.table import Row, duration, markdown
from service.app import create_app
from service.changes.table_changes import ChangeOp, TableChanges
from service.reading.callers import Caller
from service.running.branches.branch_merging import ConflictChoice
from service.running.runtime import Runtime
from service.settings.settings import Settings

FULL, QUICK = ((500_000, 5_000_000), 20), ((1_000, 10_000), 3)
"""Rows of the table, and how often everything is done."""
_TABLE = "CREATE TABLE sales (id BIGINT PRIMARY KEY, shop BIGINT, amount BIGINT)"
_VIEWS = (
    "SELECT shop, count(*) AS n, sum(amount) AS amount FROM sales GROUP BY shop",
    "WITH RECURSIVE up(a, b) AS (SELECT shop, amount FROM sales WHERE id < 1000 UNION "
    "SELECT up.a, s.amount FROM up JOIN sales s ON s.shop = up.b AND s.id < 1000) SELECT a, count(*) AS n "
    "FROM up GROUP BY a",
    *(
        f"SELECT shop % {k} AS part, sum(amount) AS amount FROM sales GROUP BY shop % {k}"
        for k in range(2, 20)
    ),
)


@dataclass
class Figures:
    """Nanoseconds by what was done over a table of so many rows, and nanoseconds of processors; and what the
    last branch held."""

    rows: int
    taken: dict[str, list[int]] = field(default_factory=dict)
    used: dict[str, list[int]] = field(default_factory=dict)
    bytes: int = 0

    @contextmanager
    def timing(self, what: str) -> Iterator[None]:
        """Takes the time of the block."""
        began, used = perf_counter_ns(), process_time_ns()
        yield
        self.taken.setdefault(what, []).append(perf_counter_ns() - began)
        self.used.setdefault(what, []).append(process_time_ns() - used)

    def shown(self, what: str) -> str:
        """The medians of both."""
        taken, used = (duration(Timing.of(found[what]).median) for found in (self.taken, self.used))
        return f"{taken} ({used})"


def run(sizes: Sequence[int], times: int) -> list[Figures]:
    found = []
    for rows in sizes:
        with TemporaryDirectory(prefix="freshet-bench-") as directory:
            found.append(asyncio.run(_run(Path(directory), rows, times)))
    return found


async def _run(directory: Path, rows: int, times: int) -> Figures:
    app = create_app(replace(Settings(data=directory / "data"), spark="never"))
    figures = Figures(rows)
    async with app.router.lifespan_context(app):
        runtime: Runtime = app.state.runtime
        await app.state.sql_door.run(_TABLE, "postgres", Caller())
        await runtime.apply(_sales(runtime, 0, rows))
        for number, sql in enumerate(_VIEWS):
            await runtime.create_view(f"v{number}", sql)
        for turn in range(times):
            await _turn(runtime, figures, rows + turn)
    return figures


async def _turn(runtime: Runtime, figures: Figures, id: int) -> None:
    branches = runtime.branches
    with figures.timing("make a branch"):
        branch = await branches.create("b")
    for number, what in enumerate(("change it, the first time", "change it again")):
        with figures.timing(what):
            await branch.apply(_sales(runtime, 2 * id + number, 1, ChangeOp.UPSERT))
    with figures.timing("read a view of it"):
        found = branch.snapshot.rows("v0", branch.readable.newest)
    assert len(found[1]), "the branch has the rows of its parent"
    with figures.timing("compare a view"):
        differing = branches.difference("v0", "main", "b")
    assert len(differing.counts), "a change of the branch is a difference"
    figures.bytes = branch.measured()
    with figures.timing("make a view on it"):
        await branch.create_view("own", "SELECT amount, count(*) AS n FROM v0 GROUP BY amount")
    await branch.drop_view("own")
    with figures.timing("merge it"):
        await branches.merge("b", ConflictChoice.FAIL)
    with figures.timing("drop it"):
        await branches.drop("b")


def _sales(
    runtime: Runtime, first: int, count: int, op: ChangeOp = ChangeOp.INSERT
) -> dict[str, TableChanges]:
    ids = np.arange(first, first + count)
    words = np.vstack((ids, ids * 7919 % 1_000, ids * 104_729 % 1_000)).astype(np.int64)
    return {"sales": TableChanges.of(op, runtime.definition("sales").schema, words)}


def text(found: Sequence[Figures]) -> str:
    """The times as a table in Markdown."""
    rows: list[Row] = [(what, *(figures.shown(what) for figures in found)) for what in found[0].taken]
    rows.append(("what it held then", *(f"{figures.bytes:,} B" for figures in found)))
    return markdown(
        rows,
        (
            "median (and processor time)",
            *(f"{figures.rows:,} rows, {len(_VIEWS)} views" for figures in found),
        ),
    )
