"""What can be read at one moment: the newest published epoch, with the definitions that belong to it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from engine.state.snapshot import Snapshot
from planner.statements.indexes import SecondaryIndex
from service.changes.constraints import index_side
from service.definitions.definition import Definition
from service.definitions.known_relations import KnownRelations
from service.errors import Conflict


@dataclass(frozen=True, eq=False)
class Readable:
    """The writer replaces it when a change is whole, so nobody sees the middle of an ALTER TABLE."""

    snapshot: Snapshot
    known: KnownRelations
    building: Collection[str] = ()
    """The names of the views that are being built."""

    def definition(self, name: str, *, view: bool | None = None) -> Definition:
        """The table or view called `name`. Raises NotFound without one of the kind that `view` asks for, and
        Conflict for a view that is being built."""
        there = self.known.all.get(name)
        is_missing = there is None or there.failure is not None
        if is_missing and name in self.building and view is not False:
            hint = "it can be read once its state is ready; DELETE cancels it"
            raise Conflict(f"view {name} is being built", hint, code="view_building")
        return self.known.get(name, view=view)

    def has_index(self, definition: Definition, index: SecondaryIndex) -> bool:
        """Whether reads can use an index of the table or view."""
        name = index_side(definition.relation, index.columns, index.included).index
        there = self.snapshot.relations.get(name)
        return there is not None and there.failure is None

    def state_of(self, view: Definition) -> tuple[str, str | None]:
        """Whether a view is ready, building, failed, or has errors; and the reason if it is not ready."""
        relation = self.snapshot.relations.get(view.name)
        reason = view.failure or (relation.failure if relation is not None else None)
        if relation is None and reason is None:
            return "building", None
        if reason is not None:
            return "failed" if self.has_failed(view) else "building", reason
        errors = self.snapshot.errors(view.name, most=1)
        return ("errors", errors[0][0]) if errors else ("ready", None)

    def has_failed(self, view: Definition) -> bool:
        """Whether a view is no longer maintained, and is not being built again."""
        if view.failure is not None:
            return view.name not in self.building
        relation = self.snapshot.relations.get(view.name)
        return relation is not None and relation.failure is not None and not relation.aside

    @property
    def newest(self) -> int:
        """The newest epoch."""
        return self.snapshot.upper - 1
