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
from planner.statements.breach import Breach
from service.accounts.principals import MayRead
from service.definitions.assertions import asserting, check_built, must_stay
from service.definitions.definition import Definition
from service.definitions.definitions import Definitions
from service.names import check_relation_name


@dataclass(frozen=True, eq=False)
class IntendedView:
    """`definition` is to be the view's, in place of `replaced` if there is one. If other views read that, the
    view has to be `rebuilt` as it was. `read` has the relations that the plan was made over. The view begins
    with its relations' history, or `with_past` false with the newest epoch.
    """

    definition: Definition
    replaced: Definition | None
    read: Mapping[str, Relation]
    rebuilt: bool = False
    with_past: bool = True

    def is_current(self, of: Definitions) -> bool:
        """Whether all that the view reads, and what it replaces, is still as it was planned."""
        if schema_of(self.definition.name) not in of.schemas.all:
            return False
        if self.replaced is not None:
            there = of.all.get(self.definition.name)
            if there is not self.replaced or (of.known.readers(there.name) and not self.rebuilt):
                return False
        return all(of.relations.get(name) is relation for name, relation in self.read.items())

    def make(self, building: Building, of: Definitions) -> Definition:
        """Store the view and maintain what was built. If the catalog refuses, the view is an assertion that
        is broken, or a branch holds the view that it replaces, nothing is made."""
        if self.replaced is not None and not self.rebuilt:
            of.check_held(self.replaced)
        check_built(self.definition, building)
        created = of.engine.snapshot.upper - 1
        definition = self.definition if self.rebuilt else replace(self.definition, created=created)
        with of.catalog.changing() as changing:
            if self.replaced is None:
                definition = replace(definition, id=changing.add(definition.record()))
            else:
                changing.change(definition.record())
        if self.replaced is not None:
            of.drop_indexes(of.lookups(self.replaced))  # they are built again, for what the view is now
        of.engine.adopt(building, replacing=self.replaced is not None)
        of.clock.note_reader()
        return of.put(definition)


def intend(
    of: Definitions,
    name: str,
    sql: str,
    dialect: str,
    or_replace: bool,
    readable: MayRead = None,
    breach: Breach | None = None,
) -> IntendedView:
    """Plan a view over what its author may read, if that is not all; with a `breach`, an assertion. Raises a
    PlannerError, NameInUse or Invalid."""
    check_relation_name(name)
    of.schemas.require(schema_of(name))
    relations, there = (known := of.known).relations, known.all.get(name)
    if readable is not None:
        relations = {other: relation for other, relation in relations.items() if readable(other)}
    replaced = there if or_replace and there is not None and there.is_view else None
    if replaced is None:
        of.must_be_new(name)
        definition = of.view(0, name, sql, dialect, 0, relations=relations)
        if breach is not None:
            definition = asserting(definition, breach)
    else:
        must_stay(replaced)
        others = {other: relation for other, relation in relations.items() if other != name}
        definition = of.view(replaced.id, name, sql, dialect, 0, relations=others)
        details = definition.details.following(replaced.details, definition.schema.names)
        definition = replace(definition, details=details)
    return IntendedView(definition, replaced, {name: relations[name] for name in definition.reads})


def same_view(
    of: Definitions, name: str, sql: str, dialect: str, readable: MayRead = None
) -> Definition | None:
    """The view of this name, if it runs and the query is its own and means what it meant when it was made.

    `SELECT *` means another query once a relation has more columns. Raises a PlannerError.
    """
    there = of.all.get(name)
    if there is None or (there.sql, there.dialect) != (sql, dialect) or not _runs(of, there):
        return None
    planned = intend(of, name, sql, dialect, True, readable).definition
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
    return IntendedView(definition, there, read, rebuilt=True, with_past=with_past)
