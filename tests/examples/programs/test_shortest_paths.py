"""Shortest paths against Dijkstra's algorithm."""

from __future__ import annotations

import heapq

from examples.programs.shortest_paths import shortest_paths
from tests.examples.programs import graphs
from tests.examples.programs.follow import HISTORIES, Case, Input, follow
from tests.examples.programs.history import Bag, Row
from tests.seeds import each_seed


def dijkstra(edges: Bag, roots: Bag) -> set[Row]:
    """(node, least length of a way from a root)."""
    settled: dict[int, int] = {}
    heap = [(0, node) for (node,) in roots]
    heapq.heapify(heap)
    while heap:
        length, node = heapq.heappop(heap)
        if node in settled:
            continue
        settled[node] = length
        for source, target, weight in edges:
            if source == node:
                heapq.heappush(heap, (length + weight, target))
    return set(settled.items())


CASE = Case(
    program=shortest_paths,
    inputs={
        "edges": Input({"source": int, "target": int, "length": int}, graphs.weighted_edge),
        "roots": Input({"node": int}, graphs.node),
    },
    oracle=dijkstra,
)


@each_seed(HISTORIES)
def test_every_epoch_is_as_from_scratch(seed: int) -> None:
    follow(CASE, seed)
