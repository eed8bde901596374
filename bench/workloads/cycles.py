"""W4 and W5: the number of triangles, or four-cycles, through each edge's source, in a random graph with a
hub.

Equally many edges lead to the hub and from it, so the number of paths through it is their square, and few of
these are part of a cycle. A replaced edge of the hub stays an edge of the hub; only its other end is new.
Each workload is measured as the planner makes it, one join of all relations, and as binary joins.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bench.data import SEED, choose, random_words, replace
from bench.workloads.base import Deltas, Phase, View, integers

SCHEMAS = {"edges": integers("src", "dst")}
HUB = 0


@dataclass(frozen=True)
class Size:
    """`spokes` edges to the hub, equally many from it, and `edges` between random nodes."""

    nodes: int
    edges: int
    spokes: int
    phases: tuple[Phase, ...]


class Cycles:
    """Cycles of `length` edges, 3 or more."""

    schemas = SCHEMAS

    def __init__(self, name: str, length: int, size: Size, binary: bool = False) -> None:
        kind = {3: "triangles", 4: "four-cycles"}[length]
        edges = size.edges + 2 * size.spokes
        self.title = f"{name} {kind}, {edges:,} edges{', binary joins' if binary else ''}"
        self.phases = size.phases
        self.views: tuple[View, ...] = (View("cycles", _query(length), binary),)
        self._rng = np.random.default_rng(SEED)
        self._bounds = ((1, size.nodes), (1, size.nodes))
        words = random_words(self._rng, self._bounds, edges)
        words[1, : size.spokes] = HUB
        words[0, size.spokes : 2 * size.spokes] = HUB
        self.tables = {"edges": words}

    def change(self, batch: int, epoch: int) -> Deltas:
        edges = self.tables["edges"]
        positions = choose(self._rng, edges.shape[1], batch)
        new = random_words(self._rng, self._bounds, batch)
        new[edges[:, positions] == HUB] = HUB
        return {"edges": replace(edges, positions, new, epoch)}


def _query(length: int) -> str:
    joins = "".join(f" JOIN edges e{i} ON e{i}.src = e{i - 1}.dst" for i in range(1, length))
    closed = f" AND e{length - 1}.dst = e0.src"
    return f"SELECT e0.src, count(*) AS cycles FROM edges e0{joins}{closed} GROUP BY e0.src"
