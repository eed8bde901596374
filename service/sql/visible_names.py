"""The full names of relations that names of a statement may mean: those that its author sees."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from service.accounts.principals import Principal
from service.pgcatalog.system_tables import RELATIONS


@dataclass(frozen=True, eq=False)
class VisibleNames(Collection[str]):
    """Whether a name is among them costs a look at each of the `catalogs`, however many names these have."""

    catalogs: tuple[Collection[str], ...]
    principal: Principal

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str):
            return False
        is_there = any(name in catalog for catalog in self.catalogs)
        return name in RELATIONS or (is_there and self.principal.sees(name))

    def __iter__(self) -> Iterator[str]:
        names = {name for catalog in self.catalogs for name in catalog if self.principal.sees(name)}
        return iter(names.union(RELATIONS))

    def __reduce__(self) -> tuple[type, tuple[list[str]]]:
        """In another process they are a set."""
        return frozenset, (list(self),)

    def __len__(self) -> int:
        return sum(1 for _ in self)
