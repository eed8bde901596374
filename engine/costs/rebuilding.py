"""Rebuilding: a node, or a binding or entry of a loop, over other nodes than its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any

from engine.plan.node import Node


def rebuilt(part: Any, change: Callable[[Node], Node]) -> Any:
    """The part with `change` of each node that it names directly; itself if none changes."""
    changes = {}
    for each in fields(part):
        value = getattr(part, each.name)
        made = _changed(value, change)
        if made is not value:
            changes[each.name] = made
    return replace(part, **changes) if changes else part


def _changed(value: Any, change: Callable[[Node], Node]) -> Any:
    if isinstance(value, Node):
        made = change(value)
        return value if made == value else made
    if isinstance(value, tuple) and any(map(_has_nodes, value)):
        parts = tuple(_changed(each, change) for each in value)
        return value if parts == value else parts
    return rebuilt(value, change) if _has_nodes(value) else value


def _has_nodes(value: object) -> bool:
    """Whether a part of a node's description is a node or has some: a binding, or an entry."""
    if isinstance(value, Node):
        return True
    return is_dataclass(value) and any(isinstance(getattr(value, f.name), Node) for f in fields(value))
