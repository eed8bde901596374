"""What the planner knows of tables and views: name, columns and the engine plan behind them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.plan.nodes import Node
from engine.schema import Schema


@dataclass(frozen=True)
class Relation:
    """A table (`plan` is a Source) or a view (`plan` is the view's own plan, which queries inline).

    `key` holds the positions of a primary key's columns; `rows` is how many rows there are, where somebody
    has counted.
    """

    name: str
    schema: Schema
    plan: Node
    key: tuple[int, ...] | None = None
    is_view: bool = False
    rows: int | None = None


Catalog = Mapping[str, Relation]
"""Lower-case names to relations."""
