"""A copy of a query with new numbers for all columns, so that it can stand beside the original."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from engine.plan.expressions import ColumnRef
from planner.ir import Attribute, Expression, Relational, SharedRef, Subquery
from planner.ir.column_numbers import Numbers
from planner.ir.declared import Holds, N, parts, with_parts
from planner.ir.scalars import rewrite
from planner.limits import check_time, count_relation


def renumbered(operator: Relational, numbers: Numbers) -> tuple[Relational, dict[int, int]]:
    """The copy, and its columns' new numbers by the old ones.

    Variables of recursions keep their numbers: the copies are separate scopes.
    """
    copier = _Copier(numbers)
    copy = copier.operator(operator)
    numbers.provenance.copied({new: old for old, new in copier.names.items()})
    return copy, copier.names


class _Copier:
    def __init__(self, numbers: Numbers) -> None:
        self.numbers = numbers
        self.names: dict[int, int] = {}

    def operator(self, old: Relational) -> Relational:
        check_time()
        if not old.inputs and not isinstance(old, SharedRef):
            count_relation()
        return self._copied(old)

    def expression(self, old: Expression) -> Expression:
        return rewrite(old, self._part)

    def _part(self, part: Expression) -> Expression | None:
        if isinstance(part, ColumnRef):
            return ColumnRef(self._id(part.index), part.type)
        return self._copied(part) if isinstance(part, Subquery) else None

    def _copied(self, node: N) -> N:
        """What a node reads has its input's new numbers, even if the node makes a column of the same
        number."""
        copiers: dict[Holds, Callable] = {
            Holds.INPUT: self.operator,
            Holds.EXPRESSION: self.expression,
            Holds.READ: self._id,
            Holds.MADE: self._new,
        }
        return with_parts(
            node, {held: [copy(part) for part in parts(node, held)] for held, copy in copiers.items()}
        )

    def _id(self, id: int) -> int:
        return self.names.get(id, id)

    def _new(self, attribute: Attribute) -> Attribute:
        self.names[attribute.id] = self.numbers.number()
        return replace(attribute, id=self.names[attribute.id])
