"""The transitive closure of a graph: which node reaches which."""

from __future__ import annotations

from engine.api import Collection, Dataflow
from examples.programs.story import tell


def transitive_closure(edges: Collection) -> Collection:
    """From edges (source, target) to the pairs (source, target) that a way of one edge or more joins.

    In every round all ways that are known grow by an edge at their end.
    """

    def lengthen(ways: Collection) -> Collection:
        longer = ways.join(
            edges,
            on=("target", "source"),
            select=lambda way, edge: {"source": way.source, "target": edge.target},
        )
        return edges.concat(longer).distinct()

    return edges.distinct().iterate(lengthen)


def main() -> None:
    flow = Dataflow()
    edges = flow.input("edges", source=str, target=str)
    ways = transitive_closure(edges).output()
    for ends in ("ab", "bc", "de"):
        edges.insert(tuple(ends))
    tell(flow, ways, "a to b, b to c, d to e")
    edges.insert(("c", "d"))
    tell(flow, ways, "c to d joins them")
    edges.insert(("e", "d"))
    tell(flow, ways, "e to d closes a cycle")
    edges.remove(("c", "d"))
    tell(flow, ways, "c to d goes: nothing else led to the cycle of d and e")


if __name__ == "__main__":
    main()
