"""What a phase of a workload costs: its load, or rounds of one size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from bench.measure import Timing


@dataclass(frozen=True)
class PhaseFigures:
    """Rounds that replace `batch` rows each, `LOAD` for a load; `peak` is the bytes that they need."""

    batch: int
    timing: Timing
    peak: int

    @staticmethod
    def typical(turns: Sequence[PhaseFigures]) -> PhaseFigures:
        """The median of each figure over the turns."""
        timings = [turn.timing for turn in turns]
        timing = Timing(
            median([one.median for one in timings]),
            median([one.p99 for one in timings]),
            median([one.total for one in timings]),
            timings[0].count,
            median([one.processor for one in timings]),
        )
        return PhaseFigures(turns[0].batch, timing, round(median([turn.peak for turn in turns])))
