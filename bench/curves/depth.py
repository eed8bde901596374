"""The depth of a recursion: the nodes reached along a path, which takes a round for every node."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bench.curves.base import Axis, Curve, Plot, Points, advance, feed, median
from bench.curves.subjects import reach
from bench.data import insertion
from engine.api import Dataflow, Input


@dataclass(frozen=True)
class Size:
    nodes: tuple[int, ...]
    rounds: int


FULL = Size((10, 30, 100, 300, 1_000, 3_000), 10)
QUICK = Size((5, 10), 2)


def measure(size: Size) -> Curve:
    lines: dict[str, Points] = {"load": [], "edge in the middle": [], "last edge": []}
    for nodes in size.nodes:
        loaded, middle, last = _path(nodes, size.rounds)
        for line, seconds in zip(lines.values(), (loaded, middle, last), strict=True):
            line.append((nodes, seconds))
    return Curve(
        "The depth of a recursion",
        "The query finds the nodes that the first node of a path reaches, one in each round. A change takes "
        "an edge away or puts it back. In the middle of the path this changes one node in each of n / 2 "
        "rounds. At the end it changes one node, and should not depend on the length of the path.",
        (Plot("time of a load and of a single change", Axis("nodes of the path"), Axis("time", "s"), lines),),
    )


def _path(nodes: int, rounds: int) -> tuple[float, float, float]:
    """Seconds of the load, of a change of an edge in the middle, and of a change of the last edge."""
    flow = Dataflow()
    edges = flow.input("edges", source=int, target=int)
    flow.output(reach(flow, edges, roots=1))
    feed(edges, insertion(np.stack((np.arange(nodes - 1), np.arange(1, nodes))), 0))
    loaded = advance(flow) / 1e9
    middle, last = (_toggled(flow, edges, at, rounds) for at in (nodes // 2, nodes - 2))
    return loaded, middle, last


def _toggled(flow: Dataflow, edges: Input, at: int, rounds: int) -> float:
    """The median seconds in which the edge from `at` goes or comes back."""
    took = []
    for diff in (-1, 1) * rounds:
        edges.update((at, at + 1), diff)
        took.append(advance(flow))
    return median(took)
