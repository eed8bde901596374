"""What a view was before it was replaced: the plans of its former queries, over what they read then.

The engine keeps the history of a view that it replaces. Only who computes such a view again, because its
state was not saved, needs these plans.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from engine.plan.nodes import Node
from engine.runtime.succession import Past
from engine.schema import Schema, keeps_words
from engine.state.snapshot import RelationSnapshot
from planner.errors import PlannerError
from planner.relation import Relation
from service.catalog.details import FormerQuery
from service.definitions.definition import Definition

Planning = Callable[[str, FormerQuery, Mapping[str, Relation]], Relation]
"""Plans a former query of a view, by its name, over relations."""


@dataclass(frozen=True)
class FormerPlan:
    """`places` are as in `Past`."""

    plan: Node
    until: int
    places: tuple[int, ...]

    def past(self, relation: RelationSnapshot) -> Past:
        """What the view was, if `relation` is what the plan computes."""
        return Past(relation, self.until, self.places)


def former_plans(all: Mapping[str, Definition], view: Definition, plan: Planning) -> list[FormerPlan]:
    """The former plans of a view, in order. Those before one that cannot be planned any more are left out."""
    found: list[FormerPlan] = []
    for query in reversed(view.details.former):
        try:
            relation = _relation_at(all, view, query.until, plan)
        except _NotTold:
            break
        places = places_in(relation.schema, view.schema)
        if places is None:
            break
        found.append(FormerPlan(relation.plan, query.until, places))
    return found[::-1]


class _NotTold(Exception):
    """What a relation was before an epoch cannot be told."""


def _relation_at(all: Mapping[str, Definition], of: Definition, until: int, plan: Planning) -> Relation:
    """A relation as it was before an epoch. Raises _NotTold."""
    query = next((query for query in of.details.former if query.until >= until), None)
    if query is None:
        if of.is_view and of.planned is None:
            raise _NotTold
        return of.relation
    if not query.sql:
        raise _NotTold
    try:
        among = {
            seen.relation: _relation_at(all, all[seen.relation], until, plan) for seen in query.sees.values()
        }
        return plan(of.name, query, among)
    except (PlannerError, KeyError):
        raise _NotTold from None


def places_in(old: Schema, new: Schema) -> tuple[int, ...] | None:
    """The place in `old` of each column of `new`, by its name, or -1 for one that it does not have. None if a
    column has another type, so that its old words mean nothing."""
    places = []
    for column in new.columns:
        place = old.names.index(column.name) if column.name in old.names else -1
        if place >= 0 and not keeps_words(old.types[place], column.type):
            return None
        places.append(place)
    return tuple(places)


def with_past(
    new: Definition, old: Definition, until: int, kept: Sequence[FormerQuery], told: bool
) -> Definition:
    """A view that takes the place of another at epoch `until`, with the other's history if that is `told`:
    what of its former queries is `kept`, and then its own."""
    own = FormerQuery(until)
    if told:
        own = FormerQuery(until, old.sql, old.dialect, old.details.sees, old.details.named, old.details.lists)
    return replace(new, details=replace(new.details, former=(*(kept if told else ()), own)))


def with_nulls(schema: Schema, names: Collection[str]) -> Schema:
    """The schema in which these columns are nullable."""
    return Schema(tuple(replace(c, nullable=c.nullable or c.name in names) for c in schema.columns))


def once_null(old: Schema, new: Schema) -> tuple[str, ...]:
    """The columns that a view which takes the place of another never has NULL in, but had, or lacked."""
    nullable = {column.name: column.nullable for column in old.columns}
    return tuple(c.name for c in new.columns if not c.nullable and nullable.get(c.name, True))
