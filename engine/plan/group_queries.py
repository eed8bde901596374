"""Group queries: a plan node whose groups are each answered by a query of DuckDB's.

It is for functions of a group that nothing can be kept of but the group itself: medians, lists,
frames of windows. The groups that a step touches are read whole, so a change costs their size.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from engine.plan.node import Node, Unary, check_columns
from engine.schema import Column, Schema

GROUPS = "groups"
"""The table that a query reads."""


@dataclass(frozen=True)
class GroupQuery(Unary):
    """The key columns, then the columns `results` of the rows that `query` answers for a group.

    `query` is a SELECT in DuckDB's SQL over the table `groups(g, c0, c1, ...)`: g, a BIGINT, tells the groups
    apart, and c0, c1, ... are the input's columns but the keys, in order. It gives g and then the
    results, any number of rows a group; a value is cast to its column's type. A group's answer must
    follow from its own rows. They come as often as they count, in an order that is a function of
    the bag but nobody's wish: what depends on order says ORDER BY, down to the last tie.

    A group without rows has no answer. Where the query fails for a group, that is an error of the
    group, and it has no answer either.
    """

    keys: tuple[int, ...]
    query: str
    results: Schema
    __hash__ = Node.__hash__

    def __post_init__(self) -> None:
        check_columns("a group query's key", self.keys, self.input.schema)

    @cached_property
    def schema(self) -> Schema:  # type: ignore[override]
        keys = tuple(self.input.schema.columns[k] for k in self.keys)
        return Schema(keys + self.results.columns)

    @cached_property
    def columns(self) -> Schema:
        """What the query reads of a group, named as it is there."""
        others = [column for c, column in enumerate(self.input.schema.columns) if c not in self.keys]
        return Schema(tuple(Column(f"c{i}", c.type, c.nullable) for i, c in enumerate(others)))
