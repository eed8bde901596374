"""Strongly connected components against Tarjan's algorithm."""

from __future__ import annotations

from examples.programs.strongly_connected import strongly_connected
from tests.examples.programs import graphs
from tests.examples.programs.follow import HISTORIES, Case, Input, follow
from tests.examples.programs.history import Bag, Row
from tests.seeds import each_seed


def tarjan(edges: Bag) -> set[Row]:
    """(node, least node of its strong component)."""
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    found: set[Row] = set()

    def visit(node: int) -> None:
        order[node] = low[node] = len(order)
        stack.append(node)
        for source, target in edges:
            if source != node:
                continue
            if target not in order:
                visit(target)
                low[node] = min(low[node], low[target])
            elif target in stack:
                low[node] = min(low[node], order[target])
        if low[node] == order[node]:
            place = stack.index(node)
            component = stack[place:]
            del stack[place:]
            found.update((member, min(component)) for member in component)

    for node in sorted({node for edge in edges for node in edge}):
        if node not in order:
            visit(node)
    return found


CASE = Case(
    program=strongly_connected,
    inputs={"edges": Input({"source": int, "target": int}, graphs.edge)},
    oracle=tarjan,
)


@each_seed(HISTORIES)
def test_every_epoch_is_as_from_scratch(seed: int) -> None:
    follow(CASE, seed)
