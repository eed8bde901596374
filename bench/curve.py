"""The cost of a change by its size: updated in place, with its recursions rebuilt, and as the engine chooses.

Three engines get the same changes in turn, so that other work on the machine affects all of them alike. Small
changes come first, so the engine that chooses has observed some before the large ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bench.measure import Timing
from bench.subject import Subject
from bench.workloads import build
from bench.workloads.base import load
from engine.operators.rebuild import Rebuild

SHARES = (0.0001, 0.001, 0.01, 0.1, 0.5, 1.0)
ROUNDS = 5
POLICIES = (Rebuild.NEVER, Rebuild.ALWAYS, Rebuild.AUTO)
HEADER = ("share", "replaced", "changed", "rebuilt", "chosen", "rebuilds chosen")


@dataclass(frozen=True)
class Point:
    """A share of the largest table, replaced in one epoch: median seconds of each policy.

    `rebuilds` is the number of rounds, of `ROUNDS`, in which the choosing engine rebuilt a recursion.
    """

    share: float
    replaced: int
    seconds: tuple[float, ...]
    rebuilds: int


def curve(name: str, quick: bool) -> Iterator[Point]:
    """The points of the workload called `name`, by share."""
    workload = build(name, quick)
    subjects = [Subject(workload, policy) for policy in POLICIES]
    for subject in subjects:
        subject.advance(load(workload, subject.epoch))
    largest = max(words.shape[1] for words in workload.tables.values())
    for share in SHARES:
        replaced = max(1, round(share * largest))
        before = subjects[-1].rebuilds
        took: list[list[int]] = [[] for _ in POLICIES]
        for _ in range(ROUNDS):
            deltas = workload.change(replaced, subjects[0].epoch)
            for subject, nanoseconds in zip(subjects, took, strict=True):
                nanoseconds.append(subject.advance(deltas))
        medians = tuple(Timing.of(nanoseconds).median for nanoseconds in took)
        yield Point(share, replaced, medians, subjects[-1].rebuilds - before)


def line(point: Point) -> str:
    """The point as a line of CSV, with the columns of `HEADER`."""
    seconds = (f"{seconds:.6f}" for seconds in point.seconds)
    return ",".join((f"{point.share:g}", str(point.replaced), *seconds, str(point.rebuilds)))
