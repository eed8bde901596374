"""Named types: created, dropped, and stored in the catalog's database.

Nothing depends on them: a statement that names one stores its definition instead
(`planner.parsing.type_names`). `all` is immutable. The writer's thread replaces it; any thread may read it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import orjson
import sqlalchemy as sa

from engine.errors import NameInUse
from engine.schema import Type, enumeration
from planner.relation_names import schema_of
from planner.suggestions import did_you_mean
from service.catalog.catalog import Catalog
from service.catalog.database import metadata
from service.catalog.records import Definer
from service.definitions.named_schemas import NamedSchemas
from service.errors import NotFound
from service.names import check_relation_name

types = sa.Table(
    "types",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("labels", sa.Text, nullable=False),
)


class NamedTypes:
    def __init__(self, catalog: Catalog, schemas: NamedSchemas) -> None:
        self._catalog = catalog
        self._schemas = schemas
        with catalog.connections.reading() as connection:
            rows = connection.execute(sa.select(types)).all()
        self.all: Mapping[str, Type] = MappingProxyType(
            {row.name: enumeration(*orjson.loads(row.labels)) for row in rows}
        )
        """Every named type. Replaced as a whole."""

    def create(self, name: str, type: Type, exists_ok: bool = False) -> None:
        """Names a type of labels. Raises NameInUse."""
        check_relation_name(name)
        if name in self.all:
            if exists_ok:
                return
            raise NameInUse(f"there is a type called {name} already")
        self._schemas.require(schema_of(name))
        labels = orjson.dumps(type.labels).decode()
        with self._catalog.changing() as changing:
            changing.has_changed = True
            changing.connection.execute(sa.insert(types).values(name=name, labels=labels))
        self.all = MappingProxyType({**self.all, name: type})

    def drop(self, name: str, missing_ok: bool = False) -> None:
        """Drops the name. Columns of the type keep its labels. Raises NotFound."""
        if name not in self.all:
            if missing_ok:
                return
            raise NotFound(f"there is no type called {name}", did_you_mean(name, self.all))
        with self._catalog.changing() as changing:
            self.remove(changing, [name])
        self.forget([name])

    def of(self, schema: str) -> list[str]:
        """The names of the types of a schema."""
        return [name for name in self.all if schema_of(name) == schema]

    def remove(self, changing: Definer, names: Sequence[str]) -> None:
        """Removes types from the catalog; `forget` them when the transaction has committed."""
        changing.has_changed = True
        changing.connection.execute(sa.delete(types).where(types.c.name.in_(names)))

    def forget(self, names: Sequence[str]) -> None:
        self.all = MappingProxyType({name: type for name, type in self.all.items() if name not in names})
