"""The size of a change: the cost of replacing more and more rows in one epoch."""

from __future__ import annotations

from dataclasses import dataclass

from bench.curves.base import Axis, Curve, Plot, Points, median
from bench.curves.subjects import Query, Subject, histogram, join, reach
from engine.operators.rebuild import Rebuild


@dataclass(frozen=True)
class Size:
    """`rows` of state for reduce and join, `edges` for the recursion; `rounds` has (rows replaced,
    rounds)."""

    rows: int
    edges: int
    rounds: tuple[tuple[int, int], ...]


FULL = Size(1_000_000, 100_000, ((1, 50), (10, 30), (100, 20), (1_000, 10), (10_000, 3), (100_000, 3)))
QUICK = Size(2_000, 200, ((1, 3), (10, 3), (100, 2)))


def measure(size: Size) -> Curve:
    half = size.rows // 2
    subjects: dict[str, tuple[Query, int, int, Rebuild]] = {
        "reduce": (histogram, size.rows // 5, size.rows, Rebuild.AUTO),
        "join": (join, half, half, Rebuild.AUTO),
    }
    for policy in Rebuild:
        subjects[f"recursion, rebuild {policy.value}"] = (reach, size.edges // 2, size.edges, policy)
    seconds: dict[str, Points] = {}
    held: dict[str, Points] = {}
    for name, (query, nodes, rows, policy) in subjects.items():
        subject = Subject(query, nodes, rows, policy)
        seconds[name], held[name] = [], []
        for replaced, rounds in size.rounds:
            subject.forget()
            took = [subject.replace(replaced) for _ in range(rounds)]
            seconds[name].append((replaced, median(took)))
            held[name].append((replaced, subject.flow.differences()))
    x = Axis("rows replaced")
    return Curve(
        "The size of a change",
        f"Reduce: a histogram of degrees over {size.rows:,} edges. Join: the paths of two of {half:,} "
        f"edges. Recursion: what ten nodes reach over {size.edges:,} edges. A level line is the price of "
        "the advance itself; a line of slope 1 is the price of the rows. Differences held are those of "
        "all traces after the rounds of a size, with their history.",
        (
            Plot("median time of a change", x, Axis("time", "s"), seconds),
            Plot("differences held", x, Axis("differences", log=True), held),
        ),
    )
