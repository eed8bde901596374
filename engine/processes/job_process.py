"""The process of one job: computes views over files, writes new files, and reports their names.

The process is as limited as the job: beyond its memory an allocation fails, beyond its allowance an operator
is stopped.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from engine.errors import EngineError, OverBudget
from engine.kernels.narrow.batch_type import WORD
from engine.kernels.parallel import threads
from engine.operators.allowance import Allowance, Spending
from engine.operators.operator import Meter, Operator
from engine.runtime.execution import ExecutorJob, Outcome, Stored
from engine.runtime.executor_jobs import read_stored
from engine.runtime.hydration import Hydration
from engine.runtime.kept import kept_states
from engine.runtime.options import Options
from engine.runtime.rewriting import Captured, rewrite
from engine.state.packed_times import TOTAL, Frontier
from engine.state.store.directory import StateDirectory, Writing
from engine.state.store.files import BatchFile
from engine.state.task_dictionary import TaskDictionary

_NICE = 5
ROWS, ROUNDS, DONE, OF = range(4)
"""The places of a job's progress: rows made, rounds run, operators done, and of how many."""


@dataclass(frozen=True)
class ProcessLimits:
    """Bytes of memory that a job's process may have, 0 for any; what its operators may use; and how many
    threads run kernels."""

    memory: int
    allowance: Allowance
    threads: int = 1


class _Reporting(Spending):
    """Spending that also shows the progress of the job."""

    def __init__(self, allowance: Allowance, progress: Any, operators: int) -> None:
        super().__init__(allowance)
        self._progress = progress
        progress[OF] = operators

    def begin(self, operator: Operator) -> None:
        super().begin(operator)
        self._progress[DONE] += 1

    def made(self, operator: Operator) -> None:
        self._progress[ROWS] += sum(delta.shape[1] for delta in operator.out)
        super().made(operator)

    def round(self, rounds: tuple[int, ...]) -> None:
        self._progress[ROUNDS] += 1
        super().round(rounds)


def run_job(
    job: ExecutorJob,
    directory: StateDirectory,
    shards: int,
    limits: ProcessLimits,
    progress: Any,
    reports: Connection,
) -> None:
    """Run the job, and send its Outcome or an EngineError. `progress` is a shared array of four numbers."""
    _confine(limits.memory)
    threads.use(limits.threads)
    try:
        report: Outcome | EngineError = outcome_of(
            job, directory, shards, lambda operators: _Reporting(limits.allowance, progress, operators)
        )
    except EngineError as error:
        report = error
    except MemoryError:
        report = OverBudget.of_memory()
    reports.send(report)


def _confine(memory: int) -> None:
    os.nice(_NICE)
    if memory:
        _limit(memory)


def spare(stored: Stored, wanted: frozenset[int] | None) -> None:
    """Raise the limit by words that nobody reads: they take no memory, but the system counts them."""
    most, _ = resource.getrlimit(resource.RLIMIT_DATA)
    if wanted is not None and most != resource.RLIM_INFINITY:
        unread = len(stored.columns) - 2 - len(wanted)
        _limit(most + WORD * unread * sum(file.rows for file in stored.files))


def _limit(memory: int) -> None:
    """Let allocations fail beyond so many bytes, or beyond what the system allows at most."""
    _, ceiling = resource.getrlimit(resource.RLIMIT_DATA)
    most = memory if ceiling == resource.RLIM_INFINITY else min(memory, ceiling)
    resource.setrlimit(resource.RLIMIT_DATA, (most, ceiling))


def outcome_of(
    job: ExecutorJob, directory: StateDirectory, shards: int, meter_for: Callable[[int], Meter]
) -> Outcome:
    """Compute the one view of a fresh job in this process. `meter_for` makes the meter, given the number of
    operators. Raises EngineError if the view cannot be computed.
    """
    dictionary = TaskDictionary(None, directory, job.texts, job.exceptions)
    ((name, plan),) = job.views
    with dictionary.knowing():  # who asks for the view has its texts
        hydration = Hydration.of(name, plan, TOTAL, dictionary, Options(job.max_rounds, job.rebuild))
    hydration.history.trace.since = max((stored.since for stored in job.stored.values()), default=0)
    inputs = hydration.inputs.keys() & job.stored.keys()
    deltas: dict[str, np.ndarray] = {}
    for source in inputs:
        stored, wanted = job.stored[source], hydration.wanted(source)
        spare(stored, wanted)
        deltas[source] = read_stored(stored, directory, wanted=wanted)
    hydration.run(deltas, meter_for(len(hydration.dataflow.operators)))
    hydration.dataflow.publish(Frontier(TOTAL, (job.epoch,)))
    with directory.writing() as writing:
        files = dict(_written(hydration, directory, writing, shards))
        new = dictionary.new()
        texts = () if new is None else (writing.write_texts(*new),)
    return Outcome(files, texts)


def _written(
    hydration: Hydration, directory: StateDirectory, writing: Writing, shards: int
) -> Iterator[tuple[str, tuple[BatchFile, ...]]]:
    """The files of each state, by its fingerprint."""
    for fingerprint, state in kept_states(hydration.dataflow.operators.items()):
        written = rewrite(Captured.of(fingerprint, state), directory, writing, shards).files
        if written:
            yield fingerprint, written
