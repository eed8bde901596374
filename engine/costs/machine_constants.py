"""Constants of the machine, measured when somebody first asks, and again when they are old.

A process of its own costs its start and the kernels that it loads, whatever it computes. It has to wait for
the service's threads, and then computes more slowly than these do. A file costs its flush to disk. All of it
depends on what else the machine does.
"""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import monotonic, perf_counter

from engine.operators.allowance import Allowance
from engine.plan.expressions import Call, ColumnRef, Literal, Op
from engine.plan.nodes import (
    AggregateSpec,
    Clamp,
    Constant,
    Filter,
    FlatMap,
    Function,
    Join,
    Node,
    Ordering,
    Reduce,
    Threshold,
    TopK,
    project,
)
from engine.processes.job_process import ProcessLimits
from engine.processes.process_executor import ProcessExecutor
from engine.runtime.execution import ViewsFailed
from engine.runtime.executor_jobs import job_over
from engine.runtime.hydration import Hydration
from engine.runtime.options import DEFAULTS
from engine.schema import BIGINT, BOOLEAN, Column, Schema
from engine.state.dictionary import Dictionary
from engine.state.packed_times import TOTAL
from engine.state.store.directory import StateDirectory
from engine.state.store.manifest import Manifest

_OLD = 300.0
"""Seconds after which the constants are measured again."""
_FLUSHES, _PATIENCE = 5, 60.0
_ALLOWANCE = Allowance(seconds=5.0, rows=5_000_000, bytes=256 << 20)
_FEW, _MANY = 64, 20_000
"""Rows of the views that are computed."""
_SLOWEST = 4.0
_NAME = "calibration"


@dataclass(frozen=True)
class MachineConstants:
    """The seconds of a `process` that computes a small view, and of the `flush` of a small file; and how many
    times as long as here work takes in such a process, its `slowness`."""

    process: float
    slowness: float
    flush: float


_lock = threading.Lock()
_known: tuple[float, MachineConstants] | None = None


def machine_constants() -> MachineConstants:
    """The constants. Blocks for about a second if they have to be measured."""
    global _known
    with _lock:
        if _known is None or monotonic() - _known[0] > _OLD:
            _known = monotonic(), _measured()
        return _known[1]


def job_seconds(plan: Node) -> float:
    """The seconds of computing a plan without sources in a process of its own. Raises EngineError."""
    job = job_over(Manifest(1, {}, {}, ()), Dictionary(), DEFAULTS, _NAME, (), {_NAME: plan})
    with TemporaryDirectory(prefix="freshet-constants-") as place:
        executor = ProcessExecutor(StateDirectory(Path(place)), 1, ProcessLimits(0, _ALLOWANCE), _PATIENCE)
        start = perf_counter()
        try:
            executor.run(replace(job, fresh=True))
        except ViewsFailed as failure:
            raise failure.cause from failure
        return perf_counter() - start


def _measured() -> MachineConstants:
    job_seconds(_view(_FEW))  # the first process may have to wait for the server of processes
    process = job_seconds(_view(_FEW))
    more, here = job_seconds(_view(_MANY)) - process, min(_here(_MANY), _here(_MANY))
    return MachineConstants(process, min(max(more / here, 1.0), _SLOWEST), _flush())


def _here(rows: int) -> float:
    """The seconds of the view with so many rows on this thread."""
    hydration = Hydration.of(_NAME, _view(rows), TOTAL, Dictionary(), DEFAULTS)
    start = perf_counter()
    hydration.run({})
    return perf_counter() - start


def _flush() -> float:
    took = []
    with TemporaryDirectory(prefix="freshet-constants-") as place:
        for number in range(_FLUSHES):
            start = perf_counter()
            with (Path(place) / str(number)).open("wb") as file:
                file.write(bytes(4096))
                file.flush()
                os.fsync(file.fileno())
            took.append(perf_counter() - start)
    return median(took)


def _view(rows: int) -> Node:
    """A view with operators of many kinds, over so many rows of its own."""
    schema = Schema((Column("a", BIGINT), Column("b", BIGINT)))
    count = Constant(((rows,),), Schema((Column("rows", BIGINT),)))
    numbers = FlatMap(count, _numbers, schema)
    some = Filter(numbers, Call(Op.GT, (ColumnRef(0, BIGINT), Literal(3, BIGINT)), BOOLEAN))
    counts = Reduce(some, (1,), (AggregateSpec(Function.SUM, 0, BIGINT),))
    joined = project(Join(some, counts, (1,), (0,)), (0, 3))
    return TopK(Threshold(joined, Clamp.DISTINCT), (), (Ordering(1),), 10)


def _numbers(rows: int) -> list[tuple[int, int]]:
    return [(number, number % 7) for number in range(rows)]
