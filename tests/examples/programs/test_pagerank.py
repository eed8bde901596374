"""PageRank against the same rounds in plain integers."""

from __future__ import annotations

from examples.programs.pagerank import pagerank
from tests.examples.programs import graphs
from tests.examples.programs.follow import HISTORIES, Case, Input, follow
from tests.examples.programs.history import Bag, Row
from tests.seeds import each_seed

ROUNDS = 6


def rounds_of_ranks(edges: Bag) -> set[Row]:
    """(node, millionths after ROUNDS rounds): 150,000 to each node, 85 % of each rank along its edges."""
    nodes = {node for edge in edges for node in edge}
    degrees = {node: sum(count for (source, _), count in edges.items() if source == node) for node in nodes}
    ranks = dict.fromkeys(nodes, 1_000_000)
    for _ in range(ROUNDS):
        following = dict.fromkeys(nodes, 150_000)
        for (source, target), count in edges.items():
            following[target] += count * (ranks[source] * 85 // (100 * degrees[source]))
        ranks = following
    return set(ranks.items())


CASE = Case(
    program=lambda edges: pagerank(edges, ROUNDS),
    inputs={"edges": Input({"source": int, "target": int}, graphs.edge)},
    oracle=rounds_of_ranks,
)


@each_seed(HISTORIES)
def test_every_epoch_is_as_from_scratch(seed: int) -> None:
    follow(CASE, seed)
