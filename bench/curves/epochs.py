"""Epochs in a batch: one history with ever more epochs, in one advance and in many small ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bench.curves.base import Axis, Curve, Plot, Points, advance, feed
from bench.curves.subjects import Query, count, distinct, join, least
from bench.data import SEED
from engine import Dataflow


@dataclass(frozen=True)
class Size:
    changes: int
    nodes: int
    epochs: tuple[int, ...]
    advances: int
    """The most advances that the history is divided into."""


FULL = Size(1_000_000, 200_000, (1, 1_000, 100_000), 10_000)
QUICK = Size(2_000, 400, (1, 10, 100), 50)
QUERIES: dict[str, Query] = {"count": count, "min": least, "distinct": distinct, "join": join}


def measure(size: Size) -> Curve:
    at_once: dict[str, Points] = {name: [] for name in QUERIES}
    in_small: dict[str, Points] = {name: [] for name in QUERIES}
    for epochs in size.epochs:
        delta = history(size.changes, size.nodes, epochs)
        for name, query in QUERIES.items():
            at_once[name].append((epochs, _at_once(query, delta) / 1e9))
            in_small[name].append((epochs, _in_small(query, delta, epochs, size.advances) / 1e9))
    x, y = Axis("epochs"), Axis("time", "s")
    return Curve(
        "Epochs in a batch",
        f"The same {size.changes:,} insertions and deletions, divided among more and more epochs. In one "
        "advance an epoch is only a number beside a row, so lines should rise little. With an advance "
        "for each epoch, each advance has its price.",
        (
            Plot("all epochs in one advance", x, y, at_once),
            Plot(f"an advance an epoch, at most {size.advances:,}", x, y, in_small),
        ),
    )


def history(changes: int, nodes: int, epochs: int) -> np.ndarray:
    """A delta in which random edges come and later go, evenly spread over the epochs and sorted by them."""
    rng = np.random.default_rng(SEED)
    edges = rng.integers(0, nodes, (2, changes // 2))
    places = np.sort(rng.permutation(changes).reshape(-1, 2), axis=1).T
    delta = np.empty((4, changes), np.int64)
    for moments, diff in zip(places, (1, -1), strict=True):
        delta[:2, moments] = edges
        delta[3, moments] = diff
    delta[2] = np.arange(changes) * epochs // changes
    return delta


def _at_once(query: Query, delta: np.ndarray) -> int:
    flow = Dataflow()
    edges = flow.input("edges", source=int, target=int)
    flow.output(query(flow, edges))
    feed(edges, delta)
    return advance(flow, int(delta[2, -1]) + 1)


def _in_small(query: Query, delta: np.ndarray, epochs: int, advances: int) -> int:
    flow = Dataflow()
    edges = flow.input("edges", source=int, target=int)
    flow.output(query(flow, edges))
    took = 0
    step = max(1, epochs // advances)
    ends = np.arange(step, epochs + 1, step)
    for end, part in zip(ends, np.split(delta, np.searchsorted(delta[2], ends[:-1]), axis=1), strict=True):
        feed(edges, part)
        took += advance(flow, int(end))
    return took
