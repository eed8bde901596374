"""Queries that the engine maintains for those who follow them: views that no catalog has.

Each is gone when nobody follows it any more, when something that it reads is dropped or altered, and with the
process. Its name in the engine is longer than any relation's, so no client can say it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from itertools import count

from engine.plan.nodes import Node, sources_of
from engine.runtime.engine import Engine
from planner.relation import Relation

_PREFIX = "of a query that clients follow, which is in no catalog and has the number "
_NUMBERS = count(1)


def new_query_name() -> str:
    """A name for one more query."""
    return f"{_PREFIX}{next(_NUMBERS)}"


def is_query_name(name: str) -> bool:
    """Whether it is the name of a query, which no list shows."""
    return name.startswith(_PREFIX)


@dataclass(frozen=True, eq=False)
class MaintainedQuery:
    """`read` has the relations that the plan was made over."""

    plan: Node
    read: Mapping[str, Relation]


@dataclass(eq=False)
class MaintainedQueries:
    """Belongs to the writer's thread."""

    engine: Engine
    all: dict[str, MaintainedQuery] = field(default_factory=dict)

    def drop(self, names: Collection[str]) -> None:
        """Drops queries from the engine. One that is gone already is no error."""
        for name in names:
            if self.all.pop(name, None) is not None and name in self.engine.snapshot.relations:
                self.engine.drop_view(name)

    def drop_readers(self, source: str) -> None:
        """Drops the queries that read a table, so that it can be dropped."""
        self.drop(
            [
                name
                for name, query in self.all.items()
                if any(it.name == source for it in sources_of(query.plan))
            ]
        )

    def drop_outdated(self, relations: Mapping[str, Relation]) -> None:
        """Drops the queries that were planned over relations which are others by now."""
        self.drop(
            [
                name
                for name, query in self.all.items()
                if any(relations.get(read) is not relation for read, relation in query.read.items())
            ]
        )
