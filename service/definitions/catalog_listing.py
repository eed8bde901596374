"""The catalog as a list: every table and view with its state, and what has changed since another look.

A look costs a glance at each relation; the state of a view is found out anew only if the view has moved.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from engine.state.snapshot import RelationSnapshot
from service.definitions.definition import Definition
from service.definitions.readable import Readable

Happened = Literal["made", "altered", "dropped", "state"]
Intended = Mapping[str, Definition]
"""The views that are being built, by name."""


@dataclass(frozen=True)
class CatalogEntry:
    """A table or a view; `reads` are the relations that a view names."""

    name: str
    kind: Literal["table", "view"]
    state: str
    reason: str | None
    reads: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class _Look:
    definition: Definition
    relation: RelationSnapshot | None
    entry: CatalogEntry

    @property
    def is_building(self) -> bool:
        """Whether it was a view that was being built, whose definition is not final."""
        return self.entry.state == "building"


class CatalogLook:
    """The catalog as it was at one moment. One thread at a time compares looks."""

    def __init__(self, looks: Mapping[str, _Look] | None = None) -> None:
        self._looks = looks or {}

    @property
    def entries(self) -> list[CatalogEntry]:
        """All relations, by name."""
        return [self._looks[name].entry for name in sorted(self._looks)]

    def next(self, readable: Readable, building: Intended) -> CatalogLook:
        """The catalog now. Entries of relations that have not moved are taken over."""
        known = {**building, **readable.known.all}
        return CatalogLook({name: self._look(definition, readable) for name, definition in known.items()})

    def _look(self, definition: Definition, readable: Readable) -> _Look:
        relation = readable.snapshot.relations.get(definition.name)
        old = self._looks.get(definition.name)
        is_building = definition.name in readable.building
        is_still = old is not None and old.definition is definition and old.relation is relation
        if old is not None and is_still and not is_building and not old.is_building:
            return old
        return _Look(definition, relation, _entry(definition, readable))

    def since(self, before: CatalogLook) -> Iterator[tuple[Happened, CatalogEntry]]:
        """What has happened since another look, by name; a dropped relation as it was."""
        for name in sorted(self._looks.keys() | before._looks.keys()):
            old, new = before._looks.get(name), self._looks.get(name)
            if new is None:
                assert old is not None
                yield "dropped", old.entry
            elif old is None:
                yield "made", new.entry
            elif old.definition is not new.definition and not old.is_building:
                yield "altered", new.entry
            elif old.entry != new.entry:
                yield "state", new.entry


def _entry(definition: Definition, readable: Readable) -> CatalogEntry:
    if not definition.is_view:
        return CatalogEntry(definition.name, "table", "ready", None, ())
    state, reason = readable.state_of(definition)
    return CatalogEntry(definition.name, "view", state, reason, tuple(sorted(definition.reads)))
