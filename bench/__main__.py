"""`python -m bench`: measure everything, print tables, write the pages of figures under docs.

`python -m bench churn` is a command of its own: a service under load for an hour.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from bench import (
    branches,
    bulk,
    bulk_files,
    bulk_ways,
    churn,
    curve,
    http,
    level,
    new_view,
    points,
    profiling,
    run,
    why,
)
from bench.apart import apart
from bench.beside_reference import HEADER as BESIDE
from bench.beside_reference import beside_row
from bench.costs import page as costs_page
from bench.costs import run as costs
from bench.costs import subjects
from bench.costs.run import Foretold
from bench.curves import page
from bench.curves.base import Curve
from bench.curves.run import CURVES
from bench.curves.run import measure as measure_curve
from bench.endurance import NAME as CHURN
from bench.endurance import main as churning
from bench.endurance_page import NAME as CHURN_PAGE
from bench.endurance_page import main as churn_page
from bench.measure import Share
from bench.report import document, facts
from bench.run import Result
from bench.sizing import page as sizing_page
from bench.sizing import run as sizing
from bench.suite.tpch import run as tpch
from bench.table import Row, engine_row, http_row, text
from bench.wire import page as wire_page
from bench.wire import run as wire
from bench.workloads import FULL

HTTP = "http"
COST_CURVES = "curves"
EVERYTHING = (*FULL, tpch.NAME, HTTP, COST_CURVES)
BULK = "bulk"
SIZING = "sizing"
LEVEL = "level"
MEMORY = "memory"
NEW_VIEW = "new-view"
POINTS = "points"
BRANCHES = "branches"
POSTGRES = "postgres"
COSTS = "costs"
WHY = "why"
BY_NAME = (BULK, SIZING, LEVEL, MEMORY, NEW_VIEW, POINTS, BRANCHES, POSTGRES, COSTS, WHY)
"""Only if they are named: TPC-H in bulk, a quarter of an hour; what rows and views need; what requests cost
beside them; what a service holds while rows are replaced again and again; how long posts wait while a
large view is built; point reads beside DuckDB's; what branches cost; the PostgreSQL door beside
PostgreSQL; estimates of views beside what they cost; and what explanations take."""
DOCUMENT = Path(__file__).parents[1] / "docs" / "benchmarks.md"


def main(arguments: list[str] | None = None) -> None:
    command, *rest = [*(sys.argv[1:] if arguments is None else arguments), ""]
    if command == CHURN:
        churning(rest[:-1])
        return
    if command == CHURN_PAGE:
        churn_page(rest[:-1], facts)
        return
    options = _parser().parse_args(arguments)
    if options.profile:
        name, batch = options.profile
        print(profiling.profile(name, batch, options.quick))
        return
    if options.curve:
        print(",".join(curve.HEADER))
        for point in curve.curve(options.curve, options.quick):
            print(curve.line(point), flush=True)
        return
    chosen = options.workloads or EVERYTHING
    if table := [name for name in chosen if name not in (COST_CURVES, *BY_NAME)]:
        _table(table, options.quick, options.output, options.threads)
    if COST_CURVES in chosen:
        _curves(options.quick, options.output)
    if BULK in chosen:
        _bulk(options.quick, options.lines, options.output)
    if SIZING in chosen:
        _sizing(options.quick, options.output)
    if LEVEL in chosen:
        print(level.text(level.run(*(level.QUICK if options.quick else level.FULL))))
    if MEMORY in chosen:
        churn.run(churn.QUICK if options.quick else churn.FULL)
    if NEW_VIEW in chosen:
        print(new_view.text(new_view.run(new_view.QUICK if options.quick else new_view.FULL)))
    if POINTS in chosen:
        print(points.text(points.run(*(points.QUICK if options.quick else points.FULL))))
    if BRANCHES in chosen:
        print(branches.text(branches.run(*(branches.QUICK if options.quick else branches.FULL))))
    if POSTGRES in chosen:
        _postgres(options.quick, options.output)
    if COSTS in chosen:
        _costs(options.quick, options.output, options.suites, options.texts)
    if WHY in chosen:
        _why(options.quick)


def _table(chosen: list[str], quick: bool, output: Path | None, threads: int) -> None:
    start = Share.now()
    results, rows = _measure(chosen, quick, threads)
    beside = [row for result in results if (row := beside_row(result)) is not None]
    about = facts(start.others())
    print(about, text(rows), *([text(beside, BESIDE)] if beside else []), sep="\n\n")
    whole = not quick and threads == 1 and set(chosen) == {*FULL, tpch.NAME, HTTP}
    target = output or (DOCUMENT if whole else None)
    if target:
        target.write_text(document(about, rows, beside, http.NODES))


def _curves(quick: bool, output: Path | None) -> None:
    start = Share.now()
    curves: dict[str, Curve] = {}
    for name in CURVES:
        print(f"running the curve {name} ...", flush=True)
        curves[name] = apart(measure_curve, name, quick)
        print(page.tables(curves[name]), flush=True)
    if output or not quick:
        page.write(facts(start.others()), curves, (output or DOCUMENT).with_name(page.NAME))


def _bulk(quick: bool, lines: Sequence[int], output: Path | None) -> None:
    start = Share.now()
    sizes = bulk.QUICK if quick else lines
    ways = bulk_ways.run(sizes[0])
    files = [load for size in sizes for load in bulk_files.run(size)]
    subjects = points.run(*(points.QUICK if quick else points.FULL))
    rows = bulk.run(sizes)
    if output or not quick:
        parts = (
            bulk.page(facts(start.others()), rows),
            bulk_files.HEAD + bulk_files.text(files),
            bulk_ways.head() + bulk_ways.text(ways),
            points.HEAD + points.text(subjects),
        )
        (output or DOCUMENT).with_name(bulk.PAGE).write_text("\n".join(parts) + "\n")


def _postgres(quick: bool, output: Path | None) -> None:
    start, sizes = Share.now(), wire.QUICK if quick else wire.FULL
    figures = wire.measure(sizes, lambda line: print(line, flush=True))
    text = wire_page.page(facts(start.others()), figures, sizes)
    print(text)
    if output or not quick:
        (output or DOCUMENT).with_name(wire_page.NAME).write_text(text)


def _costs(quick: bool, output: Path | None, suites: Sequence[str], texts: Path | None) -> None:
    start, sizes = Share.now(), subjects.QUICK if quick else subjects.FULL
    found: list[Foretold] = []
    for name in suites or subjects.SUBJECTS:
        subject = subjects.SUBJECTS[name](sizes[name], texts)
        found += costs.run(subject, lambda one: print(costs_page.line(one), flush=True))
    print(costs_page.text(found))
    if output or not (quick or suites):
        costs_page.write((output or DOCUMENT).with_name(costs_page.NAME), facts(start.others()), found)


def _why(quick: bool) -> None:
    start = Share.now()
    found = why.run(*(why.QUICK if quick else why.FULL))
    print(facts(start.others()), why.text(found), sep="\n\n")


def _sizing(quick: bool, output: Path | None) -> None:
    start = Share.now()
    rows = sizing.QUICK if quick else sizing.ROWS
    found = sizing.run(rows)
    if output or not quick:
        target = (output or DOCUMENT).with_name(sizing_page.NAME)
        target.write_text(sizing_page.page(facts(start.others()), rows, found))


def _measure(chosen: list[str], quick: bool, threads: int) -> tuple[list[Result], list[Row]]:
    """The engine's figures, and the lines of the table."""
    all_results, rows = [], []
    for name in chosen:
        print(f"running {name} ...", flush=True)
        if name == HTTP:
            rows += [http_row(answered) for answered in http.run(http.QUICK if quick else http.FULL)]
        else:
            results = apart(tpch.run, quick, threads) if name == tpch.NAME else run.run(name, quick, threads)
            rows += [engine_row(result) for result in results]
            all_results += results
    return all_results, rows


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "workloads",
        nargs="*",
        type=_workload,
        help=f"of {', '.join((*EVERYTHING, *BY_NAME))}; if none, all but the last {len(BY_NAME)}",
    )
    parser.add_argument("--quick", action="store_true", help="tiny sizes: shows that it works, not how fast")
    parser.add_argument(
        "--lines",
        type=int,
        nargs="+",
        default=bulk.SIZES,
        metavar="N",
        help=f"the lines of {BULK} (default: {' and '.join(map(str, bulk.SIZES))})",
    )
    parser.add_argument(
        "--suites",
        nargs="+",
        choices=tuple(subjects.SUBJECTS),
        default=(),
        help=f"only these suites of {COSTS}",
    )
    parser.add_argument(
        "--texts", type=Path, help="directory with sqlglot's source distribution, or for it: TPC-DS is in it"
    )
    parser.add_argument(
        "--threads", type=int, default=1, help="threads on which the engine runs kernels (default: 1)"
    )
    parser.add_argument(
        "--output",
        type=Path,
        help="also write the page here, and curves.md beside it (default: under docs, for a full run)",
    )
    parser.add_argument(
        "--profile",
        metavar="WORKLOAD:BATCH",
        type=_phase,
        help="only profile rounds of one workload, e.g. W1:1 (W1:0: its load)",
    )
    parser.add_argument(
        "--curve",
        metavar="WORKLOAD",
        choices=tuple(FULL),
        help="only measure rounds of one workload against the size of the change, as CSV",
    )
    return parser


def _workload(name: str) -> str:
    if name not in (*EVERYTHING, *BY_NAME):
        raise argparse.ArgumentTypeError(f"there is no workload {name}")
    return name


def _phase(text: str) -> tuple[str, int]:
    name, _, batch = text.partition(":")
    if name not in FULL or not batch.isdecimal():
        raise argparse.ArgumentTypeError(f"{text} is not one of {', '.join(FULL)}, a colon and a number")
    return name, int(batch)


if __name__ == "__main__":
    main()
