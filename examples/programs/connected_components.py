"""Connected components: which nodes of an undirected graph hang together."""

from __future__ import annotations

from engine.api import Collection, Dataflow
from examples.programs.graphs import both_ways, nodes
from examples.programs.story import tell


def connected_components(edges: Collection) -> Collection:
    """From edges (source, target), leading both ways, to (node, label), the least node of its component."""
    return least_labels(nodes(edges), both_ways(edges))


def least_labels(nodes: Collection, edges: Collection) -> Collection:
    """From nodes (node) and edges (source, target) to (node, label), the least node that reaches the node."""
    own = labelled(nodes)
    return own.iterate(lambda labels: heard(own, labels, edges))


def labelled(nodes: Collection) -> Collection:
    """Nodes with themselves for a label: (node, label)."""
    return nodes.map(lambda it: {"node": it.node, "label": it.node})


def heard(own: Collection, labels: Collection, edges: Collection) -> Collection:
    """A round: each node tells its label along its edges, and keeps the least that it knows."""
    told = labels.join(
        edges, on=("node", "source"), select=lambda it, edge: {"node": edge.target, "label": it.label}
    )
    return own.concat(told).min("node", "label")


def main() -> None:
    flow = Dataflow()
    edges = flow.input("edges", source=int, target=int)
    labels = connected_components(edges).output()
    for node in range(5):
        edges.insert((node, (node + 1) % 5))
        edges.insert((10 + node, 10 + (node + 1) % 5))
    tell(flow, labels, "two rings, of the nodes 0 to 4 and 10 to 14")
    edges.insert((2, 12))
    tell(flow, labels, "a bridge from 2 to 12")
    edges.remove((12, 13))
    tell(flow, labels, "the second ring is cut between 12 and 13: there is another way around")
    edges.remove((10, 11))
    tell(flow, labels, "and between 10 and 11: 10, 13 and 14 are on their own")


if __name__ == "__main__":
    main()
