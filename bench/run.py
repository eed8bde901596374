"""One workload from start to end: load, rounds, comparison with DuckDB and with the reference.

The reference takes its turns between ours, so that what others do on the machine meets both.

A round makes a change visible in every view: it stages one epoch and publishes it. The change itself is made
before the clock starts. Those of small rounds are made together, because a round meets caches as the work
before it has left them: numpy would leave them otherwise than the few instructions by which the reference
makes a change.

Memory is the engine's alone: the resident set above that of the process with all code loaded (a small run of
the same workload comes first, and then all kernels are loaded) and with the workload's own rows in place; the
delta that is passed in counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from bench import measure, reference
from bench.apart import apart
from bench.duck import REPETITIONS, Recompute, compare, ordered
from bench.measure import Meter, Timing
from bench.phase_figures import PhaseFigures
from bench.subject import Subject
from bench.workloads import ON_ALL_CORES, build
from bench.workloads.base import LOAD, Deltas, Phase, Workload, load, rows
from engine.kernels.build import found
from engine.kernels.parallel.threads import available, use

TURNS = 3
"""Of ours and of the reference, if it runs too."""
AHEAD = 1_000
"""Changes are made ahead of their rounds until they replace so many rows."""


@dataclass(frozen=True)
class Result:
    """One line of the table: a load (batch `LOAD`) or a phase of rounds.

    `rows` is the number of rows in the tables, `changes` the number of the deltas' rows in all rounds, and
    `duckdb` is the median of DuckDB's query from scratch over the same rows, in seconds. `reference` has the
    figures of the reference for the same work, if it was run.
    """

    workload: str
    title: str
    rows: int
    changes: int
    figures: PhaseFigures
    duckdb: float
    reference: PhaseFigures | None = None


@dataclass(frozen=True)
class _Turn:
    """The figures of all phases, the number of changes in each, and the views' rows at the end."""

    phases: list[PhaseFigures]
    changes: list[int]
    answers: dict[str, np.ndarray]


def run(name: str, quick: bool, threads: int = 1) -> list[Result]:
    """Measure the workload, in fresh processes, so that memory and caches are its own. Kernels run on so many
    threads.

    Raises WrongAnswer if the engine and DuckDB disagree at its end.
    """
    program = None if quick or name not in reference.WORKLOADS else reference.program()
    turns, others = [], []
    for _ in range(1 if program is None else TURNS):
        turns.append(apart(turn, name, quick, threads))
        if program is not None:
            others.append(reference.run(program, name))
    title, held, recomputed = apart(_duckdb_part, name, quick, turns[-1].answers)
    own = [PhaseFigures.typical(phase) for phase in zip(*(turn.phases for turn in turns), strict=True)]
    beside = [PhaseFigures.typical(phase) for phase in zip(*others, strict=True)]
    by_batch = {figures.batch: figures for figures in beside}
    return [
        Result(name, title, held, changes, figures, seconds, by_batch.get(figures.batch))
        for figures, changes, seconds in zip(own, turns[0].changes, recomputed, strict=True)
    ]


def turn(name: str, quick: bool, threads: int) -> _Turn:
    """The engine's part, once."""
    use(available() if name in ON_ALL_CORES else threads)
    _rounds_of(build(name, quick=True))
    if not quick:
        for kernel in found():
            kernel.ready()
        measure.warm()
    return _rounds_of(build(name, quick))


def _rounds_of(workload: Workload) -> _Turn:
    measure.release_memory()
    baseline = measure.resident()
    subject = Subject(workload)
    phases, changes = [], []
    for phase in (Phase(LOAD, 1), *workload.phases):
        measure.reset_peak()
        meter, count = Meter(), 0
        for sizes in _together(phase):
            count += _rounds(subject, workload, sizes, meter)
        phases.append(PhaseFigures(phase.batch, meter.timing, measure.peak() - baseline))
        changes.append(count)
    answers = {view.name: subject.rows(view.name) for view in workload.views if not view.idle}
    return _Turn(phases, changes, answers)


def _together(phase: Phase) -> Iterator[list[int]]:
    """The sizes of the phase's rounds, divided into those whose changes are made together."""
    sizes: list[int] = []
    for number in range(phase.rounds):
        sizes.append(phase.size(number))
        if sum(sizes) >= AHEAD:
            yield sizes
            sizes = []
    if sizes:
        yield sizes


def _rounds(subject: Subject, workload: Workload, sizes: list[int], meter: Meter) -> int:
    """Makes changes of these sizes, and brings them into the engine one after the other; gives the number of
    their rows."""
    count = 0
    for deltas in [_change(workload, size, subject.epoch + ahead) for ahead, size in enumerate(sizes)]:
        meter.add(partial(subject.advance, deltas))
        count += sum(delta.shape[1] for delta in deltas.values())
    return count


def _change(workload: Workload, batch: int, epoch: int) -> Deltas:
    return load(workload, epoch) if batch == LOAD else workload.change(batch, epoch)


def _duckdb_part(name: str, quick: bool, answers: dict[str, np.ndarray]) -> tuple[str, int, list[float]]:
    """Replay the workload, query after the load and after each phase, and compare the views at the end.

    Gives the workload's title, the rows of its tables and the medians in seconds."""
    workload = build(name, quick)
    duck = Recompute(workload)
    medians = [_recomputed(duck)]
    for phase in workload.phases:
        for number in range(phase.rounds):
            workload.change(phase.size(number), epoch=0)
        medians.append(_recomputed(duck))
    for view in workload.views:
        if view.idle:
            continue
        answer = ordered(answers[view.name][: view.compared])
        compare(f"{workload.title}: {view.name}", answer, duck.rows(view.name)[: view.compared])
    duck.close()
    return workload.title, rows(workload), medians


def _recomputed(duck: Recompute) -> float:
    duck.refresh()
    return Timing.of([duck.query() for _ in range(REPETITIONS)]).median
