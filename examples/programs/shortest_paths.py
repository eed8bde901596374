"""Shortest paths: how long the shortest way from a root to every node is."""

from __future__ import annotations

import random

from engine.api import Collection, Dataflow
from examples.programs.story import tell


def shortest_paths(edges: Collection, roots: Collection) -> Collection:
    """From edges (source, target, length), length not negative, and roots (node) to (node, distance).

    A node that no root reaches has no row. This is Bellman's and Ford's way: in every round each
    node offers its neighbours its distance and the length of the edge, and keeps the least offer.
    """
    starts = started(roots)
    return starts.iterate(lambda distances: relaxed(starts, distances, edges))


def started(roots: Collection) -> Collection:
    """The roots at distance 0: (node, distance)."""
    return roots.map(lambda root: {"node": root.node, "distance": 0}).distinct()


def relaxed(starts: Collection, distances: Collection, edges: Collection) -> Collection:
    """A round: the least of what each node starts with and what it is offered along the edges."""
    offers = distances.join(
        edges,
        on=("node", "source"),
        select=lambda at, edge: {"node": edge.target, "distance": at.distance + edge.length},
    )
    return starts.concat(offers).min("node", "distance")


def main() -> None:
    """A town of 20 by 20 crossings, numbered row by row, whose streets take 1 to 9 minutes either way."""
    flow = Dataflow()
    edges = flow.input("edges", source=int, target=int, length=int)
    roots = flow.input("roots", node=int)
    distances = shortest_paths(edges, roots).output()
    rng = random.Random(3)
    streets = [(at, at + 1) for at in range(400) if at % 20 < 19] + [(at, at + 20) for at in range(380)]
    minutes = {street: rng.randint(1, 9) for street in streets}
    for (source, target), length in minutes.items():
        edges.insert((source, target, length))
        edges.insert((target, source, length))
    roots.insert((0,))
    tell(flow, distances, "20 by 20 crossings, from the first")
    street = (21, 22)
    edges.remove((*street, minutes[street]))
    edges.insert((*street, minutes[street] + 2))
    tell(
        flow,
        distances,
        f"works on the way from 21 to 22: {minutes[street] + 2} minutes instead of {minutes[street]}",
    )
    edges.remove((*street, minutes[street] + 2))
    edges.insert((*street, minutes[street]))
    tell(flow, distances, "the works have ended")


if __name__ == "__main__":
    main()
