"""Operators that order rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from engine.errors import PlanError
from engine.plan.nodes import Ordering
from planner.ir.algebra import JoinKind, as_nullable
from planner.ir.core import Attribute, Relational, Widening
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


@dataclass(frozen=True)
class Nearest(Relational):
    """Each left row with the first right row in `order` from its `place` on, or behind it if the join
    `is_strict`, of those whose `right_keys` equal its `left_keys`, NULL to NULL.

    `order` is over columns of the right side, as in a Top; the first of them is the place of a right row. A
    left row without a match is padded by a left join, and dropped by an inner join.
    """

    kind: JoinKind
    left: Relational
    right: Relational
    left_keys: tuple[ColumnNumber, ...]
    right_keys: tuple[ColumnNumber, ...]
    place: ColumnNumber
    order: tuple[Ordering, ...]
    is_strict: bool

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kind not in (JoinKind.INNER, JoinKind.LEFT):
            raise PlanError(f"there is no nearest row for a join that is {self.kind.value}")

    @cached_property
    def columns(self) -> tuple[Attribute, ...]:  # type: ignore[override]
        right = self.right.columns
        return self.left.columns + (right if self.kind is JoinKind.INNER else as_nullable(right))
