"""Breadth-first distances against a search with a queue."""

from __future__ import annotations

from collections import deque

from examples.programs.breadth_first import breadth_first
from tests.examples.programs import graphs
from tests.examples.programs.follow import HISTORIES, Case, Input, follow
from tests.examples.programs.history import Bag, Row
from tests.seeds import each_seed


def search(edges: Bag, roots: Bag) -> set[Row]:
    """(node, edges on a shortest way from a root)."""
    distances = {node: 0 for (node,) in roots}
    queue = deque(distances)
    while queue:
        node = queue.popleft()
        for source, target in edges:
            if source == node and target not in distances:
                distances[target] = distances[node] + 1
                queue.append(target)
    return set(distances.items())


CASE = Case(
    program=breadth_first,
    inputs={
        "edges": Input({"source": int, "target": int}, graphs.edge),
        "roots": Input({"node": int}, graphs.node),
    },
    oracle=search,
)


@each_seed(HISTORIES)
def test_every_epoch_is_as_from_scratch(seed: int) -> None:
    follow(CASE, seed)
