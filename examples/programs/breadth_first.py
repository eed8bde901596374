"""Breadth-first search: how many edges every node is away from the nearest root."""

from __future__ import annotations

import random

from engine.api import Collection, Dataflow
from examples.programs.story import tell


def breadth_first(edges: Collection, roots: Collection) -> Collection:
    """From edges (source, target) and roots (node) to (node, distance) of every node that a root reaches.

    In a round every reached node offers its neighbours one step more than its own; a node keeps
    the least offer. When an edge goes, what was offered over it goes from the rounds in which it
    was offered, and what was second best there is best again.
    """
    starts = roots.map(lambda root: {"node": root.node, "distance": 0}).distinct()

    def step(distances: Collection) -> Collection:
        offers = distances.join(
            edges,
            on=("node", "source"),
            select=lambda at, edge: {"node": edge.target, "distance": at.distance + 1},
        )
        return starts.concat(offers).min("node", "distance")

    return starts.iterate(step)


def main() -> None:
    flow = Dataflow()
    edges = flow.input("edges", source=int, target=int)
    roots = flow.input("roots", node=int)
    distances = breadth_first(edges, roots).output()
    rng = random.Random(7)
    for _ in range(3000):
        edges.insert((rng.randrange(1000), rng.randrange(1000)))
    roots.insert((0,))
    tell(flow, distances, "3,000 random edges between 1,000 nodes, and node 0 for a root")
    edges.insert((0, 777))
    tell(flow, distances, "an edge from the root to node 777: a short cut for some")
    edges.remove((0, 777))
    tell(flow, distances, "and without it again")
    roots.insert((1,))
    tell(flow, distances, "node 1 is a root too")


if __name__ == "__main__":
    main()
