"""The number of cores: what large changes take on more cores than this machine has.

How work is divided depends on its size alone, not on the number of threads. So one thread computes the parts
one after the other, each on the clock. They are then placed on cores as the engine's threads take them:
whoever is free takes the next. All that is not divided counts in full.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import count, islice

import numpy as np

from bench.curves.base import Axis, Curve, Plot, Points, median
from bench.measure import clock
from bench.subject import Subject
from bench.workloads import build
from bench.workloads.base import load
from engine.kernels.parallel import threads
from engine.plan.nodes import Source
from engine.runtime.engine import Engine
from planner import plan_query
from planner.relation import Relation

Work = Callable[[], object]


@dataclass(frozen=True)
class Size:
    """`cores` to place the work on; `turns` of each kind of work; rounds replace `rows` rows."""

    cores: tuple[int, ...]
    rows: int
    turns: int
    is_quick: bool


FULL = Size((1, 2, 4, 8, 16, 32, 64), 100_000, 5, is_quick=False)
QUICK = Size((1, 2, 4), 10, 1, is_quick=True)
WORKLOADS = ("W1", "W2")


@dataclass
class Divided:
    """Work of one thread: its seconds of processor, and those of the parts of each piece that was divided."""

    whole: float = 0.0
    pieces: list[list[float]] = field(default_factory=list)

    def on(self, cores: int) -> float:
        """The seconds that it takes on so many cores."""
        return self.whole - sum(sum(parts) - makespan(parts, cores) for parts in self.pieces)


def makespan(parts: Sequence[float], cores: int) -> float:
    """When the last of the parts is done, if each core takes the next part as soon as it is free."""
    free = [0.0] * min(cores, len(parts))
    for seconds in parts:
        heapq.heapreplace(free, free[0] + seconds)
    return max(free, default=0.0)


@contextmanager
def dividing() -> Iterator[Divided]:
    """Divided work is done in this thread meanwhile, one part after the other, and noted."""
    divided, each = Divided(), threads.each

    def noted(function: Callable, parts: Sequence) -> list:
        threads.each = each  # a part that divides its own work stays one part
        seconds, results = [], []
        for part in parts:
            start = time.thread_time()
            results.append(function(part))
            seconds.append(time.thread_time() - start)
        divided.pieces.append(seconds)
        threads.each = noted
        return results

    threads.use(1)
    threads.each = noted
    start = time.thread_time()
    try:
        yield divided
    finally:
        divided.whole = time.thread_time() - start
        threads.each = each


def measure(size: Size) -> Curve:
    placed: dict[str, Points] = {}
    faster: dict[str, Points] = {}
    for name in WORKLOADS:
        for what, make in ((f"{name}: load", _loads), (f"{name}: view", _views), (f"{name}: rows", _rounds)):
            done = [_noted(work) for work in islice(make(name, size), size.turns)]
            placed[what] = [(n, float(np.median([each.on(n) for each in done]))) for n in size.cores]
            faster[what] = [(n, placed[what][0][1] / seconds) for n, seconds in placed[what]]
            placed[f"{what}, on the clock"] = [
                (n, median([_clocked(work, n) for work in islice(make(name, size), size.turns)]))
                for n in sorted({1, threads.available()})
            ]
    x = Axis("cores")
    return Curve(
        "The number of cores",
        "The load of W1 (5,000,000 edges) and of W2 (6,000,000 lines), their views made over tables that are "
        f"there, and rounds that replace {size.rows:,} rows. One thread computes all parts, and their "
        "seconds of processor are placed on so many cores, so a line shows what the division of the work "
        "allows. What cores take from each other, memory above all, is not in it. Lines on the clock are "
        "real threads, on the cores that this machine has.",
        (
            Plot("median time", x, Axis("time", "s"), placed),
            Plot("times as fast as one core", x, Axis("times", "×", log=False), faster),
        ),
    )


def _loads(name: str, size: Size) -> Iterator[Work]:
    while True:
        workload = build(name, size.is_quick)
        subject = Subject(workload)
        yield partial(subject.advance, load(workload, subject.epoch))


def _views(name: str, size: Size) -> Iterator[Work]:
    workload = build(name, size.is_quick)
    engine, catalog = Engine(), {}
    for table, schema in workload.schemas.items():
        engine.create_source(table, schema)
        catalog[table] = Relation(table, schema, Source(table, schema))
    epoch = engine.snapshot.upper
    engine.stage(load(workload, epoch), epoch + 1).publish()
    plan = plan_query(workload.views[0].sql, catalog).plan
    for number in count():
        yield partial(engine.create_view, str(number), plan)
        engine.drop_view(str(number))


def _rounds(name: str, size: Size) -> Iterator[Work]:
    workload = build(name, size.is_quick)
    subject = Subject(workload)
    subject.advance(load(workload, subject.epoch))
    while True:
        yield partial(subject.advance, workload.change(size.rows, subject.epoch))


def _noted(work: Work) -> Divided:
    with dividing() as divided:
        work()
    return divided


def _clocked(work: Work, cores: int) -> int:
    threads.use(cores)
    try:
        return clock(work)
    finally:
        threads.use(1)
