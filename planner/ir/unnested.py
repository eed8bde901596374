"""Rows of the elements of lists."""

from __future__ import annotations

from dataclasses import dataclass

from planner.ir.core import Attribute, Relational, Widening
from planner.ir.declared import ColumnNumber, Record


@dataclass(frozen=True)
class UnnestedList(Record):
    """The elements of a list as column `attribute`: those of the one argument, an array, or of the series of
    numbers start, stop, step. Arguments are columns of the input, by number."""

    attribute: Attribute
    arguments: tuple[ColumnNumber, ...]
    exclusive: bool = False


@dataclass(frozen=True)
class UnnestLists(Widening):
    """Each row once for every position in its lists, with NULL after a list's end; `place` is the position,
    from 1.

    With `outer`, a row whose lists are all empty stays, with NULLs.
    """

    input: Relational
    lists: tuple[UnnestedList, ...]
    place: Attribute | None = None
    outer: bool = False
