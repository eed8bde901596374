"""Priorities: the same answers from fewer differences, where rows enter a loop at rounds of their own.

A label that spreads at once is replaced at most nodes when a smaller one arrives, and every
replacement is a difference that is held, and gone through again when the input changes. If the small
ones begin, they have been everywhere before the large ones come in, which then change nothing
(US patent 9,165,035). The fixed point is the same: it is that of a round after all have entered.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Iterable, Iterator

from engine.api import Collection, Dataflow, Scope, Value, sql
from examples.programs.connected_components import connected_components, heard, labelled
from examples.programs.graphs import both_ways, nodes
from examples.programs.shortest_paths import relaxed, shortest_paths, started

SPACING = 256
"""Rounds from one priority to the next: about as many as a label, or a distance, is on its way."""
SIDE = 32
"""Nodes along one side of the grids."""
CHANGES = 4

Row = tuple[int, ...]


def bits(number: Value) -> Value:
    """How many binary digits a number has: a class for each magnitude, so there are few."""
    return sql("length(bin({0}))", number, type=int)


def components_by_priority(edges: Collection) -> Collection:
    """What `connected_components` gives; labels of few digits are told first."""
    loop = Scope(edges.flow)
    own = loop.enter_at(labelled(nodes(edges)), lambda it: SPACING * (bits(it.label) - 1))
    labels = loop.variable(node=int, label=int)
    labels.set(heard(own, labels, both_ways(edges)))
    return labels.leave()


def paths_by_priority(edges: Collection, roots: Collection) -> Collection:
    """What `shortest_paths` gives; short edges come first, so that cheap ways are known before dear ones."""
    loop = Scope(edges.flow)
    entered = loop.enter_at(edges, lambda edge: SPACING * (bits(edge.length) - 1))
    distances = loop.variable(node=int, distance=int)
    distances.set(relaxed(started(roots), distances, entered))
    return distances.leave()


def measure(program: Callable[..., Collection], edges: list[Row], roots: list[Row]) -> Iterator[str]:
    """A program over a graph: the differences held, and the times for the graph and for a change of it."""
    flow = Dataflow()
    columns = ("source", "target", "length")[: len(edges[0])]
    graph = flow.input("edges", **dict.fromkeys(columns, int))
    starts = flow.input("roots", node=int)
    output = (program(graph, starts) if roots else program(graph)).output()
    graph.update_all((edge, 1) for edge in edges)
    starts.update_all((root, 1) for root in roots)
    began = time.perf_counter()
    flow.advance()
    yield f"{flow.differences():11,}"
    yield f"{1000 * (time.perf_counter() - began):8.0f} ms"
    rng = random.Random(1)
    spans = []
    for edge in rng.sample(edges, CHANGES):
        for diff in (-1, 1):
            graph.update(edge, diff)
            began = time.perf_counter()
            flow.advance()
            spans.append(time.perf_counter() - began)
    yield f"{1000 * statistics.median(spans):8.2f} ms"
    if not output.rows() == output.at(0):
        raise ValueError("the graph is as it was, and its answer is not")


def ring(rng: random.Random) -> list[Row]:
    """Nodes in a circle, numbered at random."""
    numbers = rng.sample(range(SIDE * SIDE), SIDE * SIDE)
    return list(zip(numbers, numbers[1:] + numbers[:1], strict=True))


def grid(rng: random.Random) -> list[Row]:
    """SIDE by SIDE nodes, numbered at random."""
    numbers = rng.sample(range(SIDE * SIDE), SIDE * SIDE)
    return [(numbers[a], numbers[b]) for a, b in neighbours()]


def detours() -> list[Row]:
    """A grid with one long road: row after row, there and back, in steps of 1; any other edge is 200 long."""
    ends_of_rows = (SIDE - 1, 0)
    return both_directions(
        (a, b, 1 if b == a + 1 or a % SIDE == ends_of_rows[a // SIDE % 2] else 200) for a, b in neighbours()
    )


def roads(rng: random.Random) -> list[Row]:
    """A grid whose edges are 1 to 99 long."""
    return both_directions((a, b, rng.randint(1, 99)) for a, b in neighbours())


def neighbours() -> list[tuple[int, int]]:
    """The edges of a grid of SIDE by SIDE nodes, numbered row by row."""
    across = [(at, at + 1) for at in range(SIDE * SIDE) if (at + 1) % SIDE]
    return across + [(at, at + SIDE) for at in range(SIDE * (SIDE - 1))]


def both_directions(edges: Iterable[Row]) -> list[Row]:
    return [edge for a, b, length in edges for edge in ((a, b, length), (b, a, length))]


def main() -> None:
    rng = random.Random(2)
    components = {"at once": connected_components, "by priority": components_by_priority}
    roots: list[Row] = [(0,)]
    paths = {"at once": shortest_paths, "by priority": paths_by_priority}
    print(f"{'':44}differences   the graph   a change")
    for title, programs, edges, starts in (
        ("components of a ring", components, ring(rng), []),
        ("components of a grid", components, grid(rng), []),
        ("paths with long cheap detours", paths, detours(), roots),
        ("paths of random lengths", paths, roads(rng), roots),
    ):
        for name, program in programs.items():
            print(f"{title:31}{name:13}", *measure(program, edges, starts))


if __name__ == "__main__":
    main()
