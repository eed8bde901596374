"""A view that is intended: planned, but neither computed nor stored yet.

Any thread may plan it, over the definitions of the moment. What it reads may change until it is made, so the
writer's thread asks `is_current` before it goes on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from engine.runtime.building import Building
from engine.schema import Schema
from planner.relation import Relation
from planner.relation_names import schema_of
from planner.rewriting.open_pivots import PivotLists
from planner.statements.breach import Breach
from service.accounts.principals import MayRead
from service.definitions.assertions import asserting, check_built
from service.definitions.definition import Definition
from service.definitions.definitions import Definitions
from service.definitions.self_reading import saying_if_it_reads_itself
from service.names import check_relation_name


@dataclass(frozen=True, eq=False)
class IntendedView:
    """`definition` is to be the view's; it is that of `rebuilt`, a view that is built again, if there is one.
    `read` has the relations that the plan was made over. The view begins with its relations' history, or
    `with_past` false with the newest epoch.
    """

    definition: Definition
    rebuilt: Definition | None
    read: Mapping[str, Relation]
    with_past: bool = True

    def is_current(self, of: Definitions) -> bool:
        """Whether all that the view reads is still as it was planned."""
        if schema_of(self.definition.name) not in of.schemas.all:
            return False
        if self.rebuilt is not None and of.all.get(self.definition.name) is not self.rebuilt:
            return False
        return all(of.relations.get(name) is relation for name, relation in self.read.items())

    def make(self, building: Building, of: Definitions) -> Definition:
        """Store the view and maintain what was built. If the catalog refuses, or the view is an assertion
        that is broken, nothing is made."""
        check_built(self.definition, building)
        definition = self.definition
        with of.store.changing() as changing:
            if self.rebuilt is None:
                definition = replace(definition, created=of.engine.snapshot.upper - 1)
                definition = replace(definition, id=changing.add(definition.record()))
            else:
                changing.change(definition.record())
        if self.rebuilt is not None:
            of.drop_indexes(of.lookups(self.rebuilt))  # they are built again, for what the view is now
        of.engine.adopt(building, replacing=self.rebuilt is not None)
        of.clock.note_reader()
        return of.put(definition)


def intend(
    of: Definitions,
    name: str,
    sql: str,
    dialect: str,
    readable: MayRead = None,
    breach: Breach | None = None,
    lists: PivotLists = (),
) -> IntendedView:
    """Plan a view over what its author may read, if that is not all; with a `breach`, an assertion. `lists`
    are the values that it leaves to the data. Raises a PlannerError, NameInUse or Invalid."""
    check_relation_name(name)
    of.schemas.require(schema_of(name))
    of.must_be_new(name)
    relations = readable_relations(of, readable)
    definition = of.view(0, name, sql, dialect, 0, relations=relations, lists=lists)
    if breach is not None:
        definition = asserting(definition, breach)
    return IntendedView(definition, None, {name: relations[name] for name in definition.reads})


def readable_relations(of: Definitions, readable: MayRead) -> Mapping[str, Relation]:
    relations = of.known.relations
    if readable is None:
        return relations
    return {name: relation for name, relation in relations.items() if readable(name)}


def as_it_would_be(
    of: Definitions,
    name: str,
    sql: str,
    dialect: str,
    readable: MayRead = None,
    lists: PivotLists = (),
) -> Definition:
    """A view under a query, in the place of the view of its name if there is one; for estimates. Raises a
    PlannerError."""
    others = {other: it for other, it in readable_relations(of, readable).items() if other != name}
    with saying_if_it_reads_itself(name):
        return of.view(0, name, sql, dialect, 0, relations=others, lists=lists)


def same_view(
    of: Definitions, name: str, sql: str, dialect: str, readable: MayRead = None
) -> Definition | None:
    """The view of this name, if it runs and the query is its own and means what it meant when it was made.

    `SELECT *` means another query once a relation has more columns. Raises a PlannerError.
    """
    there = of.all.get(name)
    if there is None or (there.sql, there.dialect) != (sql, dialect) or not _runs(of, there):
        return None
    planned = as_it_would_be(of, name, sql, dialect, readable, there.details.lists)
    return there if _meaning(planned) == _meaning(there) else None


def _runs(of: Definitions, view: Definition) -> bool:
    return view.failure is None and of.engine.snapshot.failure(view.name) is None


def _meaning(view: Definition) -> tuple[Schema, dict[str, tuple[str, list[tuple[str, str]]]]]:
    """The columns of a view, and what it sees. Row counts choose a plan, but do not change its meaning."""
    sees = view.details.sees.items()
    return view.schema, {name: (seen.relation, list(seen.columns.items())) for name, seen in sees}


def intend_again(of: Definitions, name: str, with_past: bool) -> IntendedView:
    """Intend a view that has failed as it was. Raises NotFound, or a PlannerError for one without a plan."""
    relations, there = (known := of.known).relations, known.get(name, view=True)
    definition = there
    if there.failure is not None:
        texts = (there.sql, there.dialect)
        definition = of.view(there.id, name, *texts, there.created, there.details, relations)
    read = {name: relations[name] for name in there.reads}
    return IntendedView(definition, there, read, with_past)
