"""What can be read at one moment: the newest published epoch, with the definitions that belong to it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from engine.state.snapshot import Snapshot
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
        if name in self.building and name not in self.known.all and view is not False:
            hint = "it can be read once its state is ready; DELETE cancels it"
            raise Conflict(f"view {name} is being built", hint, code="view_building")
        return self.known.get(name, view=view)

    @property
    def newest(self) -> int:
        """The newest epoch."""
        return self.snapshot.upper - 1
