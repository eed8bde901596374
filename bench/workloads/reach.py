"""W3: the nodes of a random graph that can be reached from each of a few roots.

The roots are the nodes from 0 on. In full size each of them reaches the graph's giant component (four of five
random nodes do), so the view is as large as possible.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bench.data import SEED, choose, random_words, replace
from bench.workloads.base import Deltas, Phase, View, integers

SCHEMAS = {"roots": integers("node"), "edges": integers("src", "dst")}
VIEWS: tuple[View, ...] = (
    View(
        "reach",
        "WITH RECURSIVE reach(root, node) AS ("
        "SELECT node, node FROM roots"
        " UNION SELECT r.root, e.dst FROM reach r JOIN edges e ON e.src = r.node"
        ") SELECT root, node FROM reach",
    ),
)
ROOTS = 10


@dataclass(frozen=True)
class Size:
    nodes: int
    edges: int
    phases: tuple[Phase, ...]


class Reach:
    schemas = SCHEMAS
    views = VIEWS

    def __init__(self, size: Size) -> None:
        self.title = f"W3 reach, {size.edges:,} edges"
        self.phases = size.phases
        self._rng = np.random.default_rng(SEED)
        self._bounds = ((0, size.nodes), (0, size.nodes))
        edges = random_words(self._rng, self._bounds, size.edges)
        self.tables = {"roots": np.arange(ROOTS)[np.newaxis], "edges": edges}

    def change(self, batch: int, epoch: int) -> Deltas:
        edges = self.tables["edges"]
        positions = choose(self._rng, edges.shape[1], batch)
        return {"edges": replace(edges, positions, random_words(self._rng, self._bounds, batch), epoch)}
