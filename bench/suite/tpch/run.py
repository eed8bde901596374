"""TPC-H: the 22 queries as views, loaded and kept up to date, beside DuckDB's recompute of all of them.

One round places orders with their lines, and the next cancels as many. Memory is the process's above what it
holds before the load, including the rows in Arrow.
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

from bench import measure
from bench.duck import REPETITIONS
from bench.measure import Timing
from bench.reference import LOAD
from bench.run import Result
from bench.suite.maintained import Maintained
from bench.suite.tables import Tables
from bench.suite.tpch.queries import QUERIES
from bench.suite.tpch.schema import RELATIONS
from bench.suite.tpch.tables import Business, generate
from bench.workloads.base import Phase
from engine.kernels.parallel.threads import use

NAME = "TPC-H"
PHASES = (Phase(1, 200), Phase(1_000, 20))
SMOKE = (Phase(1, 4), Phase(10, 2))


def apart(quick: bool, threads: int = 1) -> list[Result]:
    """Call `run` in a fresh process, so that memory and caches are its own; kernels have so many threads."""
    with ProcessPoolExecutor(1, get_context("spawn"), use, (threads,)) as pool:
        return pool.submit(run, quick).result()


def run(quick: bool) -> list[Result]:
    """Measure the suite. Raises WrongAnswer if a view and DuckDB disagree at the end."""
    scale, phases = (0.002, SMOKE) if quick else (1, PHASES)
    with TemporaryDirectory(prefix="freshet-tpch-") as directory:
        generate(scale, Path(directory))
        tables = Business()
        rows = tables.load(Path(directory))
    if not quick:
        measure.warm()
    measure.release_memory()
    baseline = measure.resident()
    maintained = Maintained(RELATIONS, QUERIES)
    count = sum(difference.rows for difference in rows.values())
    title = f"TPC-H, 22 views, {count:,} rows"
    measure.reset_peak()
    results = []

    def result(batch: int, changes: int, took: list[int]) -> None:
        peak = measure.peak() - baseline
        recomputed = Timing.of([measure.clock(lambda: _recompute(tables)) for _ in range(REPETITIONS)])
        results.append(Result(NAME, title, count, batch, changes, Timing.of(took), peak, recomputed.median))

    result(LOAD, count, [maintained.advance(rows)])
    rows.clear()
    for phase in phases:
        measure.reset_peak()
        took, changes = [], 0
        for number in range(phase.rounds):
            change = tables.cancel(phase.batch) if number % 2 else tables.place(phase.batch)
            changes += sum(difference.rows for difference in change.values())
            took.append(maintained.advance(change))
        result(phase.batch, changes, took)
    maintained.compare(tables)
    tables.close()
    return results


def _recompute(tables: Tables) -> None:
    for sql in QUERIES.values():
        tables.connection.execute(sql).fetchall()
