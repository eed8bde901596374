"""What has a name in the catalog's database besides tables and views: what schemas, types, functions and
sequences have in common.

`all` is immutable. The writer's thread replaces it; any thread may read it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Generic, TypeVar

import sqlalchemy as sa

from planner.relation_names import schema_of
from planner.suggestions import did_you_mean
from service.catalog.catalog import Catalog
from service.catalog.records import Definer
from service.errors import NotFound

T = TypeVar("T")


class NamedThings(Generic[T]):
    """Things of one kind, by their full names, which are stored in `table`."""

    def __init__(self, catalog: Catalog, kind: str, table: sa.Table, first: Mapping[str, T]) -> None:
        self.catalog = catalog
        self.kind = kind
        self._table = table
        self.all: Mapping[str, T] = MappingProxyType(first)
        """Replaced as a whole."""

    def rows(self) -> Sequence[sa.Row]:
        """What the catalog has of them, in the order of the primary key."""
        with self.catalog.connections.reading() as connection:
            return connection.execute(sa.select(self._table).order_by(*self._table.primary_key)).all()

    def get(self, name: str) -> T:
        """Raises NotFound."""
        if name not in self.all:
            raise NotFound(f"there is no {self.kind} called {name}", did_you_mean(name, self.all))
        return self.all[name]

    def put(self, things: Mapping[str, T]) -> None:
        """Lets these things be known, in the places of others of their names."""
        self.all = MappingProxyType({**self.all, **things})

    def of(self, schema: str) -> list[str]:
        """The names of those in a schema."""
        return [name for name in self.all if schema_of(name) == schema]

    def drop(self, name: str, missing_ok: bool = False) -> None:
        """Drops a thing. Raises NotFound."""
        if missing_ok and name not in self.all:
            return
        self.get(name)
        with self.catalog.changing() as changing:
            self.remove(changing, [name])
        self.forget([name])

    def move(self, changing: Definer, renamed: Mapping[str, str]) -> None:
        """Gives things other names in the catalog; `put` and `forget` when the transaction has committed."""
        changing.has_changed = changing.has_changed or bool(renamed)
        for old, new in renamed.items():
            here = self._table.c.name == old
            changing.connection.execute(sa.update(self._table).where(here).values(name=new))

    def remove(self, changing: Definer, names: Sequence[str]) -> None:
        """Removes things from the catalog; `forget` them when the transaction has committed."""
        changing.has_changed = True
        changing.connection.execute(sa.delete(self._table).where(self._table.c.name.in_(names)))

    def forget(self, names: Sequence[str]) -> None:
        self.all = MappingProxyType({name: thing for name, thing in self.all.items() if name not in names})
