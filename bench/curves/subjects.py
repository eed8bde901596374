"""Dataflows that several curves measure: one table of random edges, and a query over it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bench.curves.base import advance, feed
from bench.data import SEED, choose, insertion, random_words, replace
from engine.api import Collection, Dataflow
from engine.operators.rebuild import Rebuild
from engine.runtime.engine import Options

Query = Callable[[Dataflow, Collection], Collection]


def count(flow: Dataflow, edges: Collection) -> Collection:
    """The degree of every node."""
    return edges.count("source")


def histogram(flow: Dataflow, edges: Collection) -> Collection:
    """How many nodes have each degree."""
    return edges.count("source", "degree").count("degree")


def least(flow: Dataflow, edges: Collection) -> Collection:
    """Every node's least neighbour."""
    return edges.min("source", "target")


def distinct(flow: Dataflow, edges: Collection) -> Collection:
    """The edges, each once."""
    return edges.distinct()


def join(flow: Dataflow, edges: Collection) -> Collection:
    """The paths of two edges."""
    return edges.join(edges, on=("target", "source"), select=lambda a, b: (a.source, b.target))


def reach(flow: Dataflow, edges: Collection, roots: int = 10) -> Collection:
    """The nodes reachable from the first few; some of ten lead into most of a random graph."""
    first = flow.collection([(node,) for node in range(roots)], node=int)
    return first.iterate(
        lambda found: found.concat(
            found.join(edges, on=("node", "source"), select=lambda at, edge: (edge.target,))
        ).distinct()
    )


class Subject:
    """A query over `rows` random edges between `nodes` nodes, loaded; `replace` replaces random edges."""

    def __init__(self, query: Query, nodes: int, rows: int, rebuild: Rebuild = Rebuild.AUTO) -> None:
        self.flow = Dataflow(options=Options(rebuild=rebuild))
        self.edges = self.flow.input("edges", source=int, target=int)
        self.output = self.flow.output(query(self.flow, self.edges))
        self._rng = np.random.default_rng(SEED)
        self._bounds = ((0, nodes), (0, nodes))
        self._words = random_words(self._rng, self._bounds, rows)
        feed(self.edges, insertion(self._words, 0))
        self.flow.advance()
        self._epoch = 1

    def replace(self, count: int) -> int:
        """Replace `count` rows by random ones in one epoch; returns the nanoseconds."""
        positions = choose(self._rng, self._words.shape[1], count)
        new = random_words(self._rng, self._bounds, count)
        feed(self.edges, replace(self._words, positions, new, self._epoch))
        self._epoch += 1
        return advance(self.flow)

    def forget(self) -> None:
        """Give up all history."""
        self.flow.forget(self._epoch - 1)
