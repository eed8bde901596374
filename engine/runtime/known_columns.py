"""Known columns: which words of an operator's rows are which columns of the plan.

Rendering leaves columns where they are, so an operator may have more words than the node that it stands for
has columns. Words that no node names are not known.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.operators.operator import Operator
from engine.operators.running_dataflow import RunningDataflow
from engine.plan.nodes import Node
from engine.rendering.renderer import Renderer
from engine.rendering.scopes import RenderScope
from engine.runtime.kept import every_operator
from engine.schema import Column


@dataclass(frozen=True)
class KnownColumns:
    """Of an operator: the number of loops around it, and the columns whose places in its rows are known."""

    depth: int
    columns: tuple[Column, ...] = ()
    words: tuple[int, ...] = ()


def known_columns(renderer: Renderer, dataflow: RunningDataflow, plan: Node) -> dict[Operator, KnownColumns]:
    """What is known of the columns of each operator."""
    found: dict[Operator, KnownColumns] = {}
    for path, operator in every_operator(dataflow.operators.items()):
        found[operator] = _of_key(path[-1], len(path) - 1, plan)
    for scope in renderer.scopes:
        _add_rendered(scope, found)
    return found


def _of_key(key: object, depth: int, plan: Node) -> KnownColumns:
    """What a key says of an operator's columns: those of arrangements, and of a view's history."""
    match key:
        case ("arrange", Node() as node, tuple() as order):
            columns = tuple(node.schema.columns[column] for column in order)
        case ("history", *_):
            columns = plan.schema.columns
        case _:
            return KnownColumns(depth)
    return KnownColumns(depth, columns, tuple(range(len(columns))))


def _add_rendered(scope: RenderScope, found: dict[Operator, KnownColumns]) -> None:
    """Add the columns of the nodes that operators stand for; of several, those of the widest."""
    for node, rendered in scope.collections.items():
        known = found.get(rendered.operator)
        if known is not None and len(known.columns) < len(rendered.columns):
            found[rendered.operator] = KnownColumns(known.depth, node.schema.columns, rendered.columns)
