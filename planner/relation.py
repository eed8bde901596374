"""What the planner knows of tables and views: the name, the columns and the engine plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.plan.nodes import Node
from engine.schema import Schema


@dataclass(frozen=True)
class Watermark:
    """A table takes no row whose time in `column` is more than `delay` microseconds before the greatest time
    that it has."""

    column: str
    delay: int


@dataclass(frozen=True)
class Relation:
    """A table (`plan` is a Source) or a view (`plan` is the view's own plan, which queries inline).

    `key` holds the positions of a primary key's columns; `rows` is the number of rows, if known.
    """

    name: str
    schema: Schema
    plan: Node
    key: tuple[int, ...] | None = None
    is_view: bool = False
    rows: int | None = None
    watermark: Watermark | None = None


Catalog = Mapping[str, Relation]
"""Relations by lower-case name."""
