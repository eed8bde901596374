"""A query that somebody wants to follow: planned as a view is, to be maintained without being stored."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace

from engine.runtime.building import Building
from planner.planning import plan_pivot_lists
from planner.relation import Relation
from service.accounts.principals import MayRead
from service.catalog.details import Details, Seen
from service.definitions.definition import Definition
from service.definitions.definitions import Definitions
from service.definitions.intended_view import IntendedView, readable_relations
from service.definitions.maintained_queries import MaintainedQuery, new_query_name
from service.definitions.seeing import relations_of, seen_now, sized


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


@dataclass(frozen=True, eq=False)
class IntendedLists(IntendedQuery):
    """The query of the values that a view leaves to the data, for so many `keys` of its PIVOTs."""

    keys: int = 0


def intend_lists(
    of: Definitions,
    name: str,
    sql: str,
    dialect: str,
    readable: MayRead = None,
    sees: Mapping[str, Seen] | None = None,
) -> IntendedLists | None:
    """Plan the query of the values that a view leaves to the data, as a query called `name`: over what its
    author may read, or as a view `sees` its relations. None if it leaves none. Raises a PlannerError."""
    relations = readable_relations(of, readable)
    scope = sized(relations, of.engine.rows) if sees is None else relations_of(sees, relations)
    planned_lists = plan_pivot_lists(sql, scope, dialect, of.limits)
    if planned_lists is None:
        return None
    planned, keys = planned_lists
    relation = Relation(name, planned.schema, planned.plan, None, True)
    if sees is None:
        sees = seen_now(planned.reads, scope)
    definition = Definition(0, relation, 0, sql, dialect, planned, None, Details(sees=sees))
    return IntendedLists(definition, None, {read: relations[read] for read in definition.reads}, keys=keys)


def intend_query(of: Definitions, sql: str, dialect: str, readable: MayRead = None) -> IntendedQuery:
    """Plan a query over what its author may read, if that is not all. Raises a PlannerError."""
    relations = readable_relations(of, readable)
    definition = of.view(0, new_query_name(), sql, dialect, 0, relations=relations)
    return IntendedQuery(definition, None, {name: relations[name] for name in definition.reads})
