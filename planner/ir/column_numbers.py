"""The numbers of columns: one sequence per statement, from binding to lowering."""

from __future__ import annotations

from collections.abc import Iterable

from engine.schema import Type
from planner.ir import Attribute
from planner.ir.provenance import Provenance
from planner.limits import check_numbers


class Numbers:
    def __init__(self) -> None:
        self._last = 0
        self.provenance = Provenance()

    @classmethod
    def after(cls, last: int) -> Numbers:
        """Numbers that go on after one that is taken."""
        numbers = cls()
        numbers._last = last
        return numbers

    def number(self) -> int:
        self._last += 1
        check_numbers(self._last)
        self.provenance.column(self._last)
        return self._last

    def attribute(self, name: str, type: Type, nullable: bool) -> Attribute:
        return Attribute(self.number(), name, type, nullable)

    def fresh(self, columns: Iterable[Attribute]) -> tuple[Attribute, ...]:
        """The same columns under new numbers."""
        return tuple(self.attribute(c.name, c.type, c.nullable) for c in columns)
