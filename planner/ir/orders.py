"""Operators that order rows."""

from __future__ import annotations

from dataclasses import dataclass

from engine.plan.nodes import Ordering
from planner.ir.core import Relational, Widening
from planner.ir.declared import ColumnNumber


@dataclass(frozen=True)
class Top(Widening):
    """The rows with position offset < p ≤ offset + limit in each group of equal `keys`; without a limit, all
    with p > offset.

    `order` is over columns of the input, by number. Rows that are equal in all of `order` must be equal in
    every column that an operator above needs.
    """

    input: Relational
    keys: tuple[ColumnNumber, ...]
    order: tuple[Ordering, ...]
    limit: int | None
    offset: int = 0

    @property
    def has_one(self) -> bool:
        """Whether each group keeps at most one row."""
        return self.limit is not None and self.limit <= 1
