"""The table that has our figures beside those of the reference, from one run."""

from __future__ import annotations

from bench.run import Result
from bench.table import NOTHING, Row, against, batch_text, duration

HEADER = (
    "workload",
    "replaced",
    "median",
    "reference",
    "against it",
    "99th pct",
    "reference",
    "against it",
    "processor",
    "reference",
    "against it",
    "memory",
    "reference",
    "against it",
)


def beside_row(result: Result) -> Row | None:
    """A workload's line; None if the reference was not run."""
    if result.reference is None:
        return None
    ours, theirs = result.figures, result.reference
    has_percentile = ours.timing.count > 1
    return (
        result.title,
        batch_text(ours.batch),
        *_pair(ours.timing.median, theirs.timing.median),
        *(_pair(ours.timing.p99, theirs.timing.p99) if has_percentile else (NOTHING,) * 3),
        *_pair(ours.timing.processor_each, theirs.timing.processor_each),
        f"{ours.peak / 1e6:,.0f} MB",
        f"{theirs.peak / 1e6:,.0f} MB",
        f"{ours.peak / theirs.peak:.2f}×",
    )


def _pair(ours: float, theirs: float) -> Row:
    return duration(ours), duration(theirs), against(ours, theirs) if theirs else NOTHING
