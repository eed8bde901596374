"""Programs by priority against the oracles of those without, and what the priorities are for."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from engine.api import Collection, Dataflow
from examples.programs.connected_components import connected_components
from examples.programs.prioritised import (
    components_by_priority,
    detours,
    grid,
    paths_by_priority,
    ring,
)
from examples.programs.shortest_paths import shortest_paths
from tests.examples.programs.follow import HISTORIES, Case, follow
from tests.examples.programs.test_connected_components import CASE as COMPONENTS
from tests.examples.programs.test_shortest_paths import CASE as PATHS
from tests.seeds import SEED, each_seed

CASES = {
    "components": Case(components_by_priority, COMPONENTS.inputs, COMPONENTS.oracle),
    "paths": Case(paths_by_priority, PATHS.inputs, PATHS.oracle),
}


@pytest.mark.parametrize("name", CASES)
@each_seed(HISTORIES)
def test_every_epoch_is_as_from_scratch(name: str, seed: int) -> None:
    follow(CASES[name], seed)


def held(program: Callable[..., Collection], edges: list, roots: list) -> int:
    """The differences that a program holds of a graph."""
    flow = Dataflow()
    columns = ("source", "target", "length")[: len(edges[0])]
    inputs = [flow.input("edges", **dict.fromkeys(columns, int))]
    inputs[0].update_all((edge, 1) for edge in edges)
    if roots:
        inputs.append(flow.input("roots", node=int))
        inputs[1].update_all((root, 1) for root in roots)
    program(*inputs).output()
    flow.advance()
    return flow.differences()


@pytest.mark.parametrize("graph", [ring, grid])
def test_components_hold_less_than_half_by_priority(graph: Callable[[random.Random], list]) -> None:
    edges = graph(random.Random(SEED))
    assert 2 * held(components_by_priority, edges, []) < held(connected_components, edges, [])


def test_paths_with_detours_hold_less_than_half_by_priority() -> None:
    edges = detours()
    assert 2 * held(paths_by_priority, edges, [(0,)]) < held(shortest_paths, edges, [(0,)])
