"""What branches cost: `python -m bench branches`.

One table, 20 views over it, a recursive one among them, and a branch that is made, changed, compared and
dropped through the service without HTTP. What has to follow the difference alone is measured at two sizes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter_ns

import numpy as np

from bench.measure import Timing
from bench.table import Row, duration, markdown
from service.app import create_app
from service.changes.table_changes import ChangeOp, TableChanges
from service.reading.callers import Caller
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
    """Nanoseconds by what was done over a table of so many rows; and what the last branch held."""

    rows: int
    taken: dict[str, list[int]] = field(default_factory=dict)
    bytes: int = 0

    def note(self, what: str, since: int) -> None:
        self.taken.setdefault(what, []).append(perf_counter_ns() - since)


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
    began = perf_counter_ns()
    branch = await branches.create("b")
    figures.note("make a branch", began)
    for what in ("change it, the first time", "change it again"):
        began = perf_counter_ns()
        await branch.apply(_sales(runtime, 2 * id, 1, ChangeOp.UPSERT))
        figures.note(what, began)
    began = perf_counter_ns()
    found = branches.difference("v0", "main", "b")
    figures.note("compare a view", began)
    assert len(found.counts), "a change of the branch is a difference"
    figures.bytes = branch.measured()
    began = perf_counter_ns()
    await branches.drop("b")
    figures.note("drop it", began)


def _sales(
    runtime: Runtime, first: int, count: int, op: ChangeOp = ChangeOp.INSERT
) -> dict[str, TableChanges]:
    ids = np.arange(first, first + count)
    words = np.vstack((ids, ids * 7919 % 1_000, ids * 104_729 % 1_000)).astype(np.int64)
    return {"sales": TableChanges.of(op, runtime.definition("sales").schema, words)}


def text(found: Sequence[Figures]) -> str:
    """The times as a table in Markdown."""
    rows: list[Row] = []
    for what in found[0].taken:
        timings = [Timing.of(figures.taken[what]) for figures in found]
        rows.append((what, *(duration(timing.median) for timing in timings)))
    rows.append(("what it held then", *(f"{figures.bytes:,} B" for figures in found)))
    return markdown(rows, ("median", *(f"{figures.rows:,} rows, {len(_VIEWS)} views" for figures in found)))
