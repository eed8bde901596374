"""The one table: aligned text for the terminal, Markdown for the documents."""

from __future__ import annotations

from bench.http import Answered
from bench.reference import LOAD, REFERENCE, seconds
from bench.run import Result

HEADER = (
    "workload",
    "replaced",
    "rounds",
    "median",
    "99th pct",
    "rows/s",
    "peak memory",
    "DuckDB",
    "against DuckDB",
    "reference",
    "against reference",
    "goal",
)
NOTHING = "–"
Row = tuple[str, ...]


def engine_row(result: Result, full: bool) -> Row:
    """A workload's line: beside it DuckDB from scratch and, for a full run, the reference's figure."""
    timing = result.timing
    reported = seconds(REFERENCE, result.workload, result.batch) if full else None
    return (
        result.title,
        "load" if result.batch == LOAD else f"{result.batch:,}",
        f"{timing.count:,}",
        duration(timing.median),
        NOTHING if timing.count == 1 else duration(timing.p99),
        f"{result.changes / timing.total:,.0f}",
        f"{result.peak / 1e6:,.0f} MB, {result.peak / result.rows:,.0f} B/row",
        duration(result.duckdb),
        against(timing.median, result.duckdb),
        NOTHING if reported is None else duration(reported),
        NOTHING if reported is None else against(timing.median, reported),
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
        f"{answered.batch * answered.timing.count / answered.elapsed:,.0f}",
        f"{answered.peak / 1e6:,.0f} MB",
        NOTHING,
        NOTHING,
        NOTHING,
        NOTHING,
        answered.goal,
    )


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


def text(rows: list[Row]) -> str:
    """The table in columns of equal width: names to the left, figures to the right."""
    widths = _widths([HEADER, *rows])
    rule = tuple("-" * width for width in widths)
    return "\n".join("  ".join(_padded(row, widths)) for row in (HEADER, rule, *rows))


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
