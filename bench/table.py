"""The one table: aligned text for the terminal, Markdown for the documents."""

from __future__ import annotations

from bench.http import Answered
from bench.run import Result
from bench.workloads.base import LOAD

HEADER = (
    "workload",
    "replaced",
    "rounds",
    "median",
    "99th pct",
    "processor",
    "rows/s",
    "peak memory",
    "DuckDB",
    "against DuckDB",
    "goal",
)
NOTHING = "–"
Row = tuple[str, ...]


def engine_row(result: Result) -> Row:
    """A workload's line; beside it stands DuckDB from scratch."""
    timing, peak = result.figures.timing, result.figures.peak
    return (
        result.title,
        batch_text(result.figures.batch),
        f"{timing.count:,}",
        duration(timing.median),
        NOTHING if timing.count == 1 else duration(timing.p99),
        duration(timing.processor_each),
        f"{result.changes / timing.total:,.0f}",
        f"{peak / 1e6:,.0f} MB, {peak / result.rows:,.0f} B/row",
        duration(result.duckdb),
        against(timing.median, result.duckdb),
        NOTHING,
    )


def http_row(answered: Answered) -> Row:
    """A line of the service's figures; beside it stands only the goal."""
    return (
        answered.title,
        f"{answered.batch:,} new",
        f"{answered.timing.count:,}",
        duration(answered.timing.median),
        duration(answered.timing.p99),
        duration(answered.timing.processor_each),
        f"{answered.batch * answered.timing.count / answered.elapsed:,.0f}",
        f"{answered.peak / 1e6:,.0f} MB",
        NOTHING,
        NOTHING,
        answered.goal,
    )


def batch_text(batch: int) -> str:
    return "load" if batch == LOAD else f"{batch:,}"


def against(ours: float, theirs: float) -> str:
    """Our time beside another's, in words that name the slower: `3.2× as fast`, `takes 5.0× as long`."""
    slower = ours > theirs
    ratio = ours / theirs if slower else theirs / ours
    shown = f"{ratio:.1f}" if ratio < 9.95 else f"{ratio:,.0f}"
    if shown == "1.0":
        return "equally fast"
    return f"takes {shown}× as long" if slower else f"{shown}× as fast"


def duration(seconds: float) -> str:
    """Three digits and a fitting unit: `17.0 µs`, `1.10 ms`; 0.9 seconds are `900 ms`."""
    if seconds >= 1:
        return f"{_three_digits(seconds)} s"
    if seconds >= 1e-3:
        return f"{_three_digits(seconds * 1e3)} ms"
    return f"{_three_digits(seconds * 1e6)} µs"


def _three_digits(value: float) -> str:
    return f"{value:.{max(0, 3 - len(str(int(value))))}f}"


def text(rows: list[Row], header: Row = HEADER) -> str:
    """A table in columns of equal width: names to the left, figures to the right."""
    widths = _widths([header, *rows])
    rule = tuple("-" * width for width in widths)
    return "\n".join("  ".join(_padded(row, widths)) for row in (header, rule, *rows))


def markdown(rows: list[Row], header: Row = HEADER) -> str:
    """A table in Markdown; its source is aligned as in `text`."""
    widths = _widths([header, *rows])
    rule = ("-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:]))
    return "\n".join(f"| {' | '.join(_padded(row, widths))} |" for row in (header, rule, *rows))


def _widths(rows: list[Row]) -> list[int]:
    return [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]


def _padded(row: Row, widths: list[int]) -> Row:
    first, *others = (cell.rjust(width) for cell, width in zip(row, widths, strict=True))
    return (first.strip().ljust(widths[0]), *others)
