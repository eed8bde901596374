"""Unnesting: a plan node that makes a row of each element of a row's lists."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from engine.errors import PlanError
from engine.plan.node import Unary, check_columns
from engine.schema import BIGINT, Column, Kind, Schema, Type

MOST_ELEMENTS = 1_000_000
"""A row with a longer list is an error."""


@dataclass(frozen=True)
class Elements:
    """A list in a row: an array, or a series of numbers.

    With one column, the elements of the array in it. With three BIGINT columns start, stop and step, the
    numbers start, start + step, ... up to stop, including stop if it is reached and not `exclusive`. If one
    of the columns is NULL, the list is empty.
    """

    columns: tuple[int, ...]
    exclusive: bool = False

    def type(self, input: Schema) -> Type:
        """The type of the elements."""
        element = input.types[self.columns[0]].element
        return BIGINT if element is None else element


@dataclass(frozen=True, eq=False)
class Unnest(Unary):
    """Each row once for each position in its lists, with the elements at that position.

    A list that has ended gives NULL; with `ordinality` the position is added, from 1. A row whose lists are
    all empty has no result or, with `outer`, one with NULL for all of these columns.
    """

    lists: tuple[Elements, ...]
    ordinality: bool = False
    outer: bool = False
    KEEPS_GROWTH: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not self.lists:
            raise PlanError("an unnest has no list")
        for each in self.lists:
            check_columns("an unnest's list", each.columns, self.input.schema)
            kinds = [self.input.schema.types[c].kind for c in each.columns]
            if kinds not in ([Kind.ARRAY], [Kind.BIGINT] * 3):
                given = ", ".join(kind.value for kind in kinds)
                raise PlanError(f"an unnest's list is {given}, not an array or three BIGINT")

    @cached_property
    def schema(self) -> Schema:  # type: ignore[override]
        columns = list(self.input.schema.columns)
        columns += [Column(f"e{i}", each.type(self.input.schema)) for i, each in enumerate(self.lists)]
        if self.ordinality:
            columns.append(Column("place", BIGINT, self.outer))
        return Schema(tuple(columns))
