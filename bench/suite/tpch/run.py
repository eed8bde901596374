"""TPC-H: the 22 queries as views, loaded and kept up to date, beside DuckDB's recompute of all of them.

One round places orders with their lines, and the next cancels as many. Memory is the process's above what it
holds before the load, including the rows in Arrow; a small run of the same comes first, so that all code is
loaded. After the load freed memory goes back to the system, as a service returns it after a load.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from bench import measure
from bench.duck import REPETITIONS
from bench.measure import Meter, Timing
from bench.phase_figures import PhaseFigures
from bench.run import Result
from bench.suite.maintained import Maintained
from bench.suite.tables import Tables
from bench.suite.tpch.queries import QUERIES
from bench.suite.tpch.schema import RELATIONS
from bench.suite.tpch.tables import Business, generate
from bench.workloads.base import LOAD, Phase
from engine.kernels.build import found
from engine.kernels.parallel.threads import use

NAME = "TPC-H"
PHASES = (Phase(1, 200), Phase(1_000, 20))
SMOKE = (Phase(1, 4), Phase(10, 2))


def run(quick: bool, threads: int = 1) -> list[Result]:
    """Measure the suite. Raises WrongAnswer if a view and DuckDB disagree at the end."""
    use(threads)
    results = _measured(0.002, SMOKE)
    if not quick:
        for kernel in found():
            kernel.ready()
        measure.warm()
        results = _measured(1, PHASES)
    return results


def _measured(scale: float, phases: Sequence[Phase]) -> list[Result]:
    with TemporaryDirectory(prefix="freshet-tpch-") as directory:
        generate(scale, Path(directory))
        tables = Business()
        rows = tables.load(Path(directory))
    measure.release_memory()
    baseline = measure.resident()
    maintained = Maintained(RELATIONS, QUERIES)
    count = sum(difference.rows for difference in rows.values())
    title = f"TPC-H, 22 views, {count:,} rows"
    measure.reset_peak()
    results = []

    def result(batch: int, changes: int, meter: Meter) -> None:
        figures = PhaseFigures(batch, meter.timing, measure.peak() - baseline)
        recomputed = Timing.of([measure.clock(lambda: _recompute(tables)) for _ in range(REPETITIONS)])
        results.append(Result(NAME, title, count, changes, figures, recomputed.median))

    meter = Meter()
    meter.add(lambda: maintained.advance(rows))
    result(LOAD, count, meter)
    rows.clear()
    measure.release_memory()
    for phase in phases:
        measure.reset_peak()
        meter, changes = Meter(), 0
        for number in range(phase.rounds):
            change = tables.cancel(phase.batch) if number % 2 else tables.place(phase.batch)
            changes += sum(difference.rows for difference in change.values())
            meter.add(partial(maintained.advance, change))
        result(phase.batch, changes, meter)
    maintained.compare(tables)
    tables.close()
    return results


def _recompute(tables: Tables) -> None:
    for sql in QUERIES.values():
        tables.connection.execute(sql).fetchall()
