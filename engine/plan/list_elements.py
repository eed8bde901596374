"""Unnesting: a plan node that makes a row of each element of a row's lists."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from engine.errors import PlanError
from engine.plan.node import Node, Unary, check_columns
from engine.schema import BIGINT, Column, Kind, Schema, Type

MOST_ELEMENTS = 1_000_000
"""A row with a longer list is an error."""


@dataclass(frozen=True)
class Elements:
    """A list of a row: the elements of the array in its one column; or of three columns start, stop and step,
    which are BIGINT, the numbers start, start + step, ... up to stop, and stop itself only if it is met and
    not `exclusive`. Where one is NULL, there is none."""

    columns: tuple[int, ...]
    exclusive: bool = False

    def type(self, input: Schema) -> Type:
        element = input.types[self.columns[0]].element
        return BIGINT if element is None else element


@dataclass(frozen=True)
class Unnest(Unary):
    """Each row once for every place in its lists: with the elements there, NULL of a list that has ended, and
    with `ordinality` the place, from 1. Of a row whose lists are all empty there is none, or with `outer` one
    that has NULL for all of these."""

    lists: tuple[Elements, ...]
    ordinality: bool = False
    outer: bool = False
    __hash__ = Node.__hash__

    def __post_init__(self) -> None:
        if not self.lists:
            raise PlanError("an unnest has no list")
        for each in self.lists:
            check_columns("an unnest's list", each.columns, self.input.schema)
            kinds = [self.input.schema.types[c].kind for c in each.columns]
            if kinds not in ([Kind.ARRAY], [Kind.BIGINT] * 3):
                raise PlanError(f"an unnest's list is of {', '.join(kind.value for kind in kinds)}")

    @cached_property
    def schema(self) -> Schema:  # type: ignore[override]
        columns = list(self.input.schema.columns)
        columns += [Column(f"e{i}", each.type(self.input.schema)) for i, each in enumerate(self.lists)]
        if self.ordinality:
            columns.append(Column("place", BIGINT, self.outer))
        return Schema(tuple(columns))
