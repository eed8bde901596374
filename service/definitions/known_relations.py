"""What is known at one moment: the definitions of all tables and views, and the constraints between rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from types import MappingProxyType
from typing import TypeVar

from planner.relation import Relation
from planner.suggestions import did_you_mean
from service.changes.constraints import Bonds, bonds_of
from service.definitions.assertions import refusing
from service.definitions.definition import Definition
from service.errors import NotFound

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class KnownRelations:
    """Definitions by their names, their relations as the planner takes them, and the bonds of all tables."""

    all: Mapping[str, Definition]
    relations: Mapping[str, Relation]
    bonds: Bonds

    @cached_property
    def assertions(self) -> tuple[Definition, ...]:
        """The assertions that refuse epochs."""
        return refusing(self.all)

    @classmethod
    def of(cls, definitions: Mapping[str, Definition]) -> KnownRelations:
        relations = MappingProxyType({name: d.relation for name, d in definitions.items()})
        tables = [d for _, d in sorted(definitions.items()) if d.details.rules.constraints]
        bonds = (bonds_of(d.relation, d.details.rules, relations) for d in tables)
        return cls(MappingProxyType(dict(definitions)), relations, Bonds(tuple(chain.from_iterable(bonds))))

    def get(self, name: str, *, view: bool | None = None) -> Definition:
        """The definition called `name`. Raises NotFound without one of the kind that `view` asks for."""
        found = self.all.get(name)
        if found is None or (view is not None and found.is_view != view):
            what = {None: "table or view", True: "view", False: "table"}[view]
            alike = (other for other, it in self.all.items() if view is None or it.is_view == view)
            hint = did_you_mean(name, alike)
            if found is not None:
                hint = f"{name} is a {'view' if found.is_view else 'table'}"
            raise NotFound(f"there is no {what} called {name}", hint)
        return found

    def means_same(self, name: str, other: KnownRelations) -> bool:
        """Whether a relation is also among other definitions: itself, or a view of its query over relations
        that are there too."""
        one, there = self.all.get(name), other.all.get(name)
        if one is None or there is None:
            return False
        return one.id == there.id or (
            one.query == there.query and all(self.means_same(it, other) for it in one.reads)
        )

    def readers(self, name: str) -> list[Definition]:
        """The views that read a relation directly."""
        return [d for d in self.all.values() if d.is_view and name in d.reads]

    def dependants(self, name: str) -> list[Definition]:
        """The views that read a relation, directly or through others, each after what it reads."""
        found: dict[str, Definition] = {}
        waiting = [name]
        while waiting:
            for reader in self.readers(waiting.pop()):
                if reader.name not in found:
                    found[reader.name] = reader
                    waiting.append(reader.name)
        return in_order(found.values())

    @property
    def newest(self) -> int:
        """The greatest number of a relation in the log."""
        return max((max(d.id, d.logged) for d in self.all.values()), default=0)


def in_order(definitions: Iterable[Definition]) -> list[Definition]:
    """Definitions, each after those that it reads, otherwise in the order in which they were made."""
    among = {d.name: d for d in sorted(definitions, key=lambda d: d.id)}
    return reading_order(among, lambda definition: sorted(definition.reads))


def reading_order(among: Mapping[str, T], reads: Callable[[T], Iterable[str]]) -> list[T]:
    """What has these names, each after those of the others that it `reads`, otherwise in the order given."""
    ordered: dict[str, T] = {}

    def visit(name: str) -> None:
        if name not in ordered:
            for read in reads(among[name]):
                if read in among:
                    visit(read)
            ordered[name] = among[name]

    for name in among:
        visit(name)
    return list(ordered.values())
