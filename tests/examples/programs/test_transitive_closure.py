"""The transitive closure against Warshall's algorithm."""

from __future__ import annotations

from examples.programs.transitive_closure import transitive_closure
from tests.examples.programs import graphs
from tests.examples.programs.follow import HISTORIES, Case, Input, follow
from tests.examples.programs.history import Bag, Row
from tests.seeds import each_seed


def warshall(edges: Bag) -> set[Row]:
    """(source, target) of every way of one edge or more."""
    reached = set(edges)
    nodes = sorted({node for edge in edges for node in edge})
    for middle in nodes:
        for source in nodes:
            if (source, middle) in reached:
                reached |= {(source, target) for target in nodes if (middle, target) in reached}
    return reached


CASE = Case(
    program=transitive_closure,
    inputs={"edges": Input({"source": int, "target": int}, graphs.edge)},
    oracle=warshall,
)


@each_seed(HISTORIES)
def test_every_epoch_is_as_from_scratch(seed: int) -> None:
    follow(CASE, seed)
