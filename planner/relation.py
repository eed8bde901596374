"""What the planner knows of tables and views: the name, the columns and the engine plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from engine.kernels.words import NULL
from engine.plan.nodes import Node, project
from engine.schema import Schema


@dataclass(frozen=True)
class Watermark:
    """A table takes no row whose time in `column` is more than `delay` microseconds before the greatest time
    that it has."""

    column: str
    delay: int

    def after(self, newest: np.ndarray) -> np.ndarray:
        """The watermarks int64[n] of tables whose greatest times are `newest` int64[n]: no row before them is
        taken. Where the delay reaches back beyond all time, it is the least time there is."""
        least = NULL + 1
        return np.maximum(newest, least + self.delay) - self.delay


@dataclass(frozen=True)
class Relation:
    """A table (`plan` is a Source) or a view (`plan` is the view's own plan, which queries inline).

    `key` holds the positions of a primary key's columns; `rows` is the number of rows, if known. If rows hold
    during periods of valid time, `period` has the positions of the moments from and until which they do: the
    second does not belong to the period, and NULL means since ever, or for ever.
    """

    name: str
    schema: Schema
    plan: Node
    key: tuple[int, ...] | None = None
    is_view: bool = False
    rows: int | None = None
    watermark: Watermark | None = None
    period: tuple[int, int] | None = None

    @property
    def declared_key(self) -> tuple[int, ...] | None:
        """The key that the table declares: with valid time, several rows may have it, at different times."""
        return None if self.key is None else tuple(i for i in self.key if i not in (self.period or ()))

    @property
    def untimed(self) -> tuple[int, ...]:
        """The positions of the columns that are not the period's."""
        return tuple(i for i in range(len(self.schema)) if i not in (self.period or ()))


def with_period_last(relation: Relation) -> Node:
    """The rows of a relation with a period, whose columns come last."""
    return project(relation.plan, (*relation.untimed, *(relation.period or ())))


Catalog = Mapping[str, Relation]
"""Relations by lower-case name."""
