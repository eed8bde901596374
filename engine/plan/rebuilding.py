"""Rebuilding: a node, an expression or another frozen part of a plan, with other parts than its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

from engine.plan.loops import Entry, LoopBinding
from engine.plan.node import Node


def rebuilt(part: Any, change: Callable[[Any], Any]) -> Any:
    """The part with `change` of each of its fields, and of each value in a tuple; itself if none changes."""
    changes = {}
    for each in fields(part):
        value = getattr(part, each.name)
        made = _changed(value, change)
        if made is not value:
            changes[each.name] = made
    return replace(part, **changes) if changes else part


def _changed(value: Any, change: Callable[[Any], Any]) -> Any:
    if not isinstance(value, tuple):
        return change(value)
    made = [_changed(each, change) for each in value]
    if all(a is b for a, b in zip(made, value, strict=True)):
        return value
    return type(value)(*made) if hasattr(value, "_fields") else tuple(made)


def over(node: Node, change: Callable[[Node], Node]) -> Node:
    """The node over `change` of each node that it reads."""

    def changed(part: Any) -> Any:
        if isinstance(part, LoopBinding | Entry):
            return rebuilt(part, changed)
        return change(part) if isinstance(part, Node) else part

    found: Node = rebuilt(node, changed)
    return found
