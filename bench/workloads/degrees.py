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


_QUIET = {"quiet": integers("a", "b")}


def _idle_view(number: int) -> View:
    sql = f"SELECT a, sum(b + {number}) AS total FROM quiet GROUP BY a"
    return View(f"idle{number}", sql, idle=True)


@dataclass(frozen=True)
class Size:
    nodes: int
    edges: int
    phases: tuple[Phase, ...]
    note: str = ""
    """What the title says of it besides."""
    idle: int = 0
    """Views over a table that does not change."""


class Degrees:
    def __init__(self, size: Size) -> None:
        self.title = f"W1 degrees, {size.edges:,} edges{size.note}"
        self.schemas = SCHEMAS | (_QUIET if size.idle else {})
        self.views = (*VIEWS, *map(_idle_view, range(size.idle)))
        self.phases = size.phases
        self._rng = np.random.default_rng(SEED)
        self._bounds = ((0, size.nodes), (0, size.nodes))
        self.tables = {"edges": random_words(self._rng, self._bounds, size.edges)}
        if size.idle:
            self.tables["quiet"] = random_words(self._rng, ((0, 10), (0, 10)), 100)

    def change(self, batch: int, epoch: int) -> Deltas:
        edges = self.tables["edges"]
        positions = choose(self._rng, edges.shape[1], batch)
        return {"edges": replace(edges, positions, random_words(self._rng, self._bounds, batch), epoch)}
