"""Random edges and nodes: few nodes for the edges, so that there are cycles, loops and parallel edges."""

from __future__ import annotations

import random

from tests.examples.programs.history import Row


def _node(rng: random.Random, size: int) -> int:
    return rng.randrange(max(2, size * 3 // 5))


def node(rng: random.Random, size: int) -> list[Row]:
    """A root."""
    return [(_node(rng, size),)]


def edge(rng: random.Random, size: int) -> list[Row]:
    """An edge, or now and then a whole ring or a chain."""
    if rng.random() < 0.08:
        ring = [_node(rng, size) for _ in range(rng.randint(2, 6))]
        ends = ring[1:] + ring[:1] if rng.random() < 0.5 else ring[1:]
        return list(zip(ring, ends, strict=False))
    return [(_node(rng, size), _node(rng, size))]


def weighted_edge(rng: random.Random, size: int) -> list[Row]:
    """Edges with a length from 0 to 9."""
    return [(*ends, rng.randrange(10)) for ends in edge(rng, size)]
