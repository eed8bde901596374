"""Connected components against union-find."""

from __future__ import annotations

from examples.programs.connected_components import connected_components
from tests.examples.programs import graphs
from tests.examples.programs.follow import HISTORIES, Case, Input, follow
from tests.examples.programs.history import Bag, Row
from tests.seeds import each_seed


def union_find(edges: Bag) -> set[Row]:
    """(node, least node of its component)."""
    parent: dict[int, int] = {}

    def root(node: int) -> int:
        parent.setdefault(node, node)
        while parent[node] != node:
            node = parent[node]
        return node

    for source, target in edges:
        low, high = sorted((root(source), root(target)))
        parent[high] = low
    return {(node, root(node)) for node in parent}


CASE = Case(
    program=connected_components,
    inputs={"edges": Input({"source": int, "target": int}, graphs.edge)},
    oracle=union_find,
)


@each_seed(HISTORIES)
def test_every_epoch_is_as_from_scratch(seed: int) -> None:
    follow(CASE, seed)
