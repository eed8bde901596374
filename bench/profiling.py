"""Where a workload's rounds spend their time in Python: cProfile around the engine's part only.

The profiler slows Python calls but not kernels, so its shares overstate Python.
"""

from __future__ import annotations

import cProfile
import io
import pstats

from bench.subject import Subject
from bench.workloads import build
from bench.workloads.base import LOAD, Workload, load

LINES = 40


def profile(name: str, batch: int, quick: bool) -> str:
    """Statistics of the rounds that replace `batch` rows (`LOAD`: of the load), after a small warming run."""
    small = build(name, quick=True)
    _profiled(small, min(batch, max(phase.batch for phase in small.phases)))
    profiler = _profiled(build(name, quick), batch)
    output = io.StringIO()
    statistics = pstats.Stats(profiler, stream=output).strip_dirs()
    statistics.sort_stats("tottime").print_stats(LINES)
    statistics.sort_stats("cumulative").print_stats(LINES)
    return output.getvalue()


def _profiled(workload: Workload, batch: int) -> cProfile.Profile:
    rounds = next((phase.rounds for phase in workload.phases if phase.batch == batch), 10)
    subject = Subject(workload)
    profiler = cProfile.Profile()
    deltas = load(workload, subject.epoch)
    if batch == LOAD:
        profiler.runcall(subject.advance, deltas)
        return profiler
    subject.advance(deltas)
    for _ in range(rounds):
        deltas = workload.change(batch, subject.epoch)
        profiler.runcall(subject.advance, deltas)
    return profiler
