"""The ends of a dataflow: inputs of sources, and the histories that are read."""

from __future__ import annotations

from engine.operators.history import History
from engine.operators.linear import InputOperator
from engine.operators.running_dataflow import RunningDataflow
from engine.plan.nodes import Node, Source
from engine.rendering.renderer import Renderer


def reading_order(width: int, key: tuple[int, ...] | None) -> tuple[int, ...]:
    """A source's columns in the order of its history's words: the key's columns first."""
    keys = tuple(range(width)) if key is None else key
    return (*keys, *(column for column in range(width) if column not in keys))


def put_source(dataflow: RunningDataflow, node: Source) -> InputOperator:
    """The input operator of a source, made if it does not exist."""
    input: InputOperator = dataflow.operator(node, InputOperator)  # type: ignore[assignment]
    return input


def history_key(name: str) -> tuple[str, str]:
    """The key of a source's history in its dataflow."""
    return ("history", name)


def put_source_history(dataflow: RunningDataflow, node: Source, key: tuple[int, ...] | None) -> History:
    """Put the history of a source whose input exists already; returns it."""
    order = reading_order(len(node.schema), key)
    history = History(node.name, dataflow.operators[node], order, len(node.schema))
    dataflow.operator(history_key(node.name), lambda: history)
    return history


def put_view(dataflow: RunningDataflow, renderer: Renderer, name: str, plan: Node) -> History:
    """Put the operators of a view, and its history; returns the history."""
    collection = renderer.render(plan)
    history = History(name, collection.operator, collection.columns, collection.width)
    dataflow.operator(("history", name, plan), lambda: history)
    return history
