"""One workload from start to end: load, rounds, comparison with DuckDB.

A round makes a change visible in every view: it stages one epoch and publishes it. The change itself is made
before the clock starts. Memory is the engine's alone: the resident set above that of the process with all
code loaded (a small run of the same workload comes first) and with the workload's own rows in place; the
delta that is passed in counts.
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

import numpy as np

from bench import measure
from bench.duck import REPETITIONS, Recompute, compare, ordered
from bench.measure import Timing
from bench.reference import LOAD
from bench.subject import Subject
from bench.workloads import build
from bench.workloads.base import Phase, Workload, load, rows
from engine.kernels.parallel.threads import use


@dataclass(frozen=True)
class Result:
    """One line of the table: a load (batch `LOAD`) or a phase of rounds.

    `rows` is the number of rows in the tables, `changes` the number of the deltas' rows in all rounds, `peak`
    is in bytes, and `duckdb` is the median of DuckDB's query from scratch over the same rows, in seconds.
    """

    workload: str
    title: str
    rows: int
    batch: int
    changes: int
    timing: Timing
    peak: int
    duckdb: float


@dataclass(frozen=True)
class _Phase:
    """The engine's figures for a line of the table."""

    batch: int
    changes: int
    timing: Timing
    peak: int


def apart(name: str, quick: bool, threads: int = 1) -> list[Result]:
    """Call `run` in a fresh process, so that memory and caches are the workload's own; kernels run on so many
    threads."""
    with ProcessPoolExecutor(1, get_context("spawn"), use, (threads,)) as pool:
        return pool.submit(run, name, quick).result()


def run(name: str, quick: bool) -> list[Result]:
    """Measure the workload. Raises WrongAnswer if the engine and DuckDB disagree at its end."""
    _engine_part(build(name, quick=True))
    if not quick:
        measure.warm()
    workload = build(name, quick)
    phases, answers = _engine_part(workload)
    recomputed = _duckdb_part(build(name, quick), answers)
    return [
        Result(
            name,
            workload.title,
            rows(workload),
            phase.batch,
            phase.changes,
            phase.timing,
            phase.peak,
            seconds,
        )
        for phase, seconds in zip(phases, recomputed, strict=True)
    ]


def _engine_part(workload: Workload) -> tuple[list[_Phase], dict[str, np.ndarray]]:
    measure.release_memory()
    baseline = measure.resident()
    subject = Subject(workload)
    measure.reset_peak()
    took = subject.advance(load(workload, subject.epoch))
    phases = [_Phase(LOAD, rows(workload), Timing.of([took]), measure.peak() - baseline)]
    for phase in workload.phases:
        measure.reset_peak()
        timing, changes = _rounds(subject, workload, phase)
        phases.append(_Phase(phase.batch, changes, timing, measure.peak() - baseline))
    return phases, {view.name: subject.rows(view.name) for view in workload.views}


def _rounds(subject: Subject, workload: Workload, phase: Phase) -> tuple[Timing, int]:
    took = []
    changes = 0
    for _ in range(phase.rounds):
        deltas = workload.change(phase.batch, subject.epoch)
        changes += sum(delta.shape[1] for delta in deltas.values())
        took.append(subject.advance(deltas))
    return Timing.of(took), changes


def _duckdb_part(workload: Workload, answers: dict[str, np.ndarray]) -> list[float]:
    """Replay the workload, query after the load and after each phase, and compare the views at the end."""
    duck = Recompute(workload)
    medians = [_recomputed(duck)]
    for phase in workload.phases:
        for _ in range(phase.rounds):
            workload.change(phase.batch, epoch=0)
        medians.append(_recomputed(duck))
    for view in workload.views:
        answer = ordered(answers[view.name][: view.compared])
        compare(f"{workload.title}: {view.name}", answer, duck.rows(view.name)[: view.compared])
    duck.close()
    return medians


def _recomputed(duck: Recompute) -> float:
    duck.refresh()
    return Timing.of([duck.query() for _ in range(REPETITIONS)]).median
