"""A query that somebody wants to follow: planned as a view is, to be maintained without being stored."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace

from engine.runtime.building import Building
from service.accounts.principals import MayRead
from service.definitions.definition import Definition
from service.definitions.definitions import Definitions
from service.definitions.intended_view import IntendedView
from service.definitions.maintained_queries import MaintainedQuery, new_query_name


@dataclass(frozen=True, eq=False)
class IntendedQuery(IntendedView):
    @property
    def meaning(self) -> Hashable:
        """Equal for queries that have the same rows under the same names as long as both are current."""
        relation = self.definition.relation
        return relation.plan, relation.schema, frozenset(self.read)

    def make(self, building: Building, of: Definitions) -> Definition:
        """Maintain what was built."""
        created = of.engine.snapshot.upper - 1
        of.engine.adopt(building)
        of.clock.note_reader()
        of.queries.all[building.name] = MaintainedQuery(building.plan, self.read)
        return replace(self.definition, created=created)


def intend_query(of: Definitions, sql: str, dialect: str, readable: MayRead = None) -> IntendedQuery:
    """Plan a query over what its author may read, if that is not all. Raises a PlannerError."""
    relations = of.known.relations
    if readable is not None:
        relations = {name: relation for name, relation in relations.items() if readable(name)}
    definition = of.view(0, new_query_name(), sql, dialect, 0, relations=relations)
    return IntendedQuery(definition, None, {name: relations[name] for name in definition.reads})
