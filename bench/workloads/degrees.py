"""W1: the out-degree of every node of a random graph, and how many nodes have each degree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bench.data import SEED, choose, random_words, replace
from bench.workloads.base import Deltas, Phase, View, integers

SCHEMAS = {"edges": integers("src", "dst")}
VIEWS: tuple[View, ...] = (
    View("degrees", "SELECT src, count(*) AS degree FROM edges GROUP BY src"),
    View("histogram", "SELECT degree, count(*) AS nodes FROM degrees GROUP BY degree"),
)


@dataclass(frozen=True)
class Size:
    nodes: int
    edges: int
    phases: tuple[Phase, ...]


class Degrees:
    schemas = SCHEMAS
    views = VIEWS

    def __init__(self, size: Size) -> None:
        self.title = f"W1 degrees, {size.edges:,} edges"
        self.phases = size.phases
        self._rng = np.random.default_rng(SEED)
        self._bounds = ((0, size.nodes), (0, size.nodes))
        self.tables = {"edges": random_words(self._rng, self._bounds, size.edges)}

    def change(self, batch: int, epoch: int) -> Deltas:
        edges = self.tables["edges"]
        positions = choose(self._rng, edges.shape[1], batch)
        return {"edges": replace(edges, positions, random_words(self._rng, self._bounds, batch), epoch)}
