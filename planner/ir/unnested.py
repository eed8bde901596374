"""Rows of the elements of lists."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from planner.ir.core import Attribute, Relational


@dataclass(frozen=True)
class UnnestedList:
    """The elements of a list as column `attribute`: those of the one argument, an array, or of the series of
    numbers start, stop, step. Arguments are columns of the input, by number."""

    attribute: Attribute
    arguments: tuple[int, ...]
    exclusive: bool = False


@dataclass(frozen=True)
class UnnestLists(Relational):
    """Each row once for every position in its lists, with NULL after a list's end; `place` is the position,
    from 1.

    With `outer`, a row whose lists are all empty stays, with NULLs.
    """

    input: Relational
    lists: tuple[UnnestedList, ...]
    place: Attribute | None = None
    outer: bool = False

    @property
    def inputs(self) -> tuple[Relational, ...]:
        return (self.input,)

    @property
    def arguments(self) -> frozenset[int]:
        return frozenset(argument for each in self.lists for argument in each.arguments)

    @cached_property
    def columns(self) -> tuple[Attribute, ...]:  # type: ignore[override]
        made = tuple(each.attribute for each in self.lists)
        return (*self.input.columns, *made, *((self.place,) if self.place else ()))
