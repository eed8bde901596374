"""Graphs: collections of edges (source, target), and what is often made of them."""

from __future__ import annotations

from engine.api import Collection


def nodes(edges: Collection) -> Collection:
    """The ends of all edges, as (node), once each."""
    sources = edges.map(lambda edge: {"node": edge.source})
    return sources.concat(edges.map(lambda edge: {"node": edge.target})).distinct()


def turned(edges: Collection) -> Collection:
    """The edges the other way round."""
    return edges.map(lambda edge: {"source": edge.target, "target": edge.source})


def both_ways(edges: Collection) -> Collection:
    """The edges, and the edges the other way round."""
    return edges.concat(turned(edges))
