"""The size of the state: the cost of replacing a single row in ever larger collections."""

from __future__ import annotations

from dataclasses import dataclass

from bench.curves.base import Axis, Curve, Plot, Points, median
from bench.curves.subjects import Query, Subject, count, distinct, join, least, reach


@dataclass(frozen=True)
class Size:
    """`rows` of state for all queries, and `most` for those that are `LARGE`."""

    rows: tuple[int, ...]
    most: tuple[int, ...]
    rounds: int


FULL = Size((1_000, 10_000, 100_000, 1_000_000), (10_000_000, 35_000_000), 200)
QUICK = Size((100, 1_000), (2_000,), 5)
QUERIES: dict[str, Query] = {
    "count": count,
    "min": least,
    "distinct": distinct,
    "join": join,
    "recursion": reach,
}
LARGE = ("count", "distinct")
"""Queries of which this machine's memory holds the largest states."""


def measure(size: Size) -> Curve:
    lines: dict[str, Points] = {name: [] for name in QUERIES}
    held: dict[str, Points] = {name: [] for name in QUERIES}
    for rows in (*size.rows, *size.most):
        for name, query in QUERIES.items():
            if rows in size.most and name not in LARGE:
                continue
            subject = Subject(query, rows // 2, rows)
            lines[name].append((rows, median([subject.replace(1) for _ in range(size.rounds)])))
            held[name].append((rows, subject.flow.differences()))
            del subject
    x = Axis("rows of the state")
    return Curve(
        "The size of the state",
        "One row is replaced by another. A level line means that a change does not pay for the size of the "
        "state; a small slope comes from longer searches and colder memory.",
        (
            Plot("median time of a single change", x, Axis("time", "s"), lines),
            Plot("differences held", x, Axis("differences"), held),
        ),
    )
