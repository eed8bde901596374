"""Strongly connected components: nodes that lie on a common cycle."""

from __future__ import annotations

from engine.api import Collection, Dataflow
from examples.programs.connected_components import least_labels
from examples.programs.graphs import nodes, turned
from examples.programs.story import tell


def strongly_connected(edges: Collection) -> Collection:
    """From edges (source, target) to (node, label): the least node of its strong component, maybe itself.

    An edge inside a component has the same least node before both of its ends, and the same least
    node behind them. Edges of which this is not so go, first looking one way, then the other, until
    all that are left are inside of components: a loop whose every round holds two loops.
    """
    every = nodes(edges)

    def trim(kept: Collection) -> Collection:
        """The edges whose two ends are reached from the same least node."""
        labels = least_labels(every, kept)
        labelled = kept.join(labels, on=("source", "node"))
        return labelled.join(labels, on=(("target", "label"), ("node", "label"))).select("source", "target")

    inside = edges.distinct().iterate(lambda kept: turned(trim(turned(trim(kept)))))
    return least_labels(every, inside)


def main() -> None:
    flow = Dataflow()
    edges = flow.input("edges", source=int, target=int)
    components = strongly_connected(edges).output()
    for ends in ((1, 2), (2, 3), (3, 1), (3, 4), (4, 5), (5, 4)):
        edges.insert(ends)
    tell(flow, components, "the cycles 1 2 3 and 4 5, and an edge from 3 to 4")
    edges.insert((5, 2))
    tell(flow, components, "an edge from 5 back to 2 makes one component of all")
    edges.remove((3, 1))
    tell(flow, components, "without 3 to 1, nothing leads back to 1")
    edges.remove((5, 2))
    tell(flow, components, "without 5 to 2, only the cycle 4 5 is left")


if __name__ == "__main__":
    main()
