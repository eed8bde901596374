"""Group queries: a plan node that answers a DuckDB query for each group.

It is for functions that need the whole group: medians, lists, some window frames. The groups that a step
touches are read in full, so a change costs their size.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from engine.plan.node import Unary, check_columns
from engine.schema import Column, Schema

GROUPS = "groups"
"""The name of the table that a query reads."""


@dataclass(frozen=True, eq=False)
class GroupQuery(Unary):
    """The key columns, then the columns `results` of the rows that `query` returns for a group.

    `query` is a SELECT in DuckDB's SQL over the table `groups(g, c0, c1, ...)`: g, a BIGINT, identifies the
    group, and c0, c1, ... are the input's columns without the keys, in order. It returns g and then the
    results, any number of rows a group; each value is cast to its column's type. A group's answer must depend
    on its own rows only. A row with count n comes n times. The order of rows is a function of the bag, but
    otherwise arbitrary: a query that depends on order must have an ORDER BY that leaves no ties.

    An empty group has no answer. If the query fails for a group, this is an error of the group, and it has no
    answer either.
    """

    keys: tuple[int, ...]
    query: str
    results: Schema

    def __post_init__(self) -> None:
        check_columns("a group query's key", self.keys, self.input.schema)

    @cached_property
    def schema(self) -> Schema:  # type: ignore[override]
        keys = tuple(self.input.schema.columns[k] for k in self.keys)
        return Schema(keys + self.results.columns)

    @cached_property
    def columns(self) -> Schema:
        """The columns of `groups` after g."""
        others = [column for c, column in enumerate(self.input.schema.columns) if c not in self.keys]
        return Schema(tuple(Column(f"c{i}", c.type, c.nullable) for i, c in enumerate(others)))
