"""PageRank in whole numbers: where a random surfer is after so many clicks."""

from __future__ import annotations

import random

from engine.api import Collection, Dataflow
from examples.programs.graphs import nodes
from examples.programs.story import tell

WHOLE = 1_000_000
"""What a rank is counted in: millionths of the average node's."""
STAY = 85
"""Percent of a rank that go along the edges."""


def pagerank(edges: Collection, rounds: int) -> Collection:
    """From edges (source, target), a bag, to (node, rank) after `rounds` rounds: ranks in millionths.

    Each round divides 85 % of a node's rank among its edges, rounded down, and gives every node 15 %
    of the average. Whole numbers have no rounding that depends on an order, so a change computes
    what starting anew would, and a round that comes to the same ranks as before costs nothing.
    """
    degrees = edges.count("source")
    every = nodes(edges)
    given = every.map(lambda it: {"node": it.node, "rank": WHOLE * (100 - STAY) // 100})

    def surf(ranks: Collection) -> Collection:
        shares = ranks.join(
            degrees,
            on=("node", "source"),
            select=lambda it, degree: {"source": it.node, "share": it.rank * STAY // (100 * degree.count)},
        )
        received = shares.join(
            edges, on="source", select=lambda share, edge: {"node": edge.target, "rank": share.share}
        )
        return given.concat(received).sum("node", "rank")

    return every.map(lambda it: {"node": it.node, "rank": WHOLE}).iterate(surf, rounds)


def main() -> None:
    flow = Dataflow()
    edges = flow.input("edges", source=int, target=int)
    ranks = pagerank(edges, rounds=20).output()
    rng = random.Random(5)
    links = [(rng.randrange(300), min(rng.randrange(300), rng.randrange(300))) for _ in range(1500)]
    for link in links:
        edges.insert(link)
    tell(flow, ranks, "1,500 links between 300 pages, mostly to pages of a small number")
    edges.insert((0, 299))
    tell(flow, ranks, "page 0 links to page 299 too: its other links are worth less")
    edges.remove((0, 299))
    tell(flow, ranks, "and no longer")


if __name__ == "__main__":
    main()
